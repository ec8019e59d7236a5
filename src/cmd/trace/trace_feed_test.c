/* SPDX-License-Identifier: Apache-2.0 */
/* Days of `trace -F` as fast as can be: what is held stays bounded, and whoever lives keeps its names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cmd/trace/trace_feed.h"
#include "format/perfdata/header/header_encode.h"
#include "format/perfdata/perfdata_test.h"
#include "model/model_test_records.h"

enum { PROCESSES = 300, SOFTWARE = 1, MINOR_FAULTS = 5, MAPPED = 0x10000 };

struct days {
    struct trace trace;
    struct trace_options options;
    struct trace_select select;
    struct trace_feed feed;
    struct command_env env;
    struct out out;
    struct perfdata_events events;
    const struct perfdata_plan *plan;
    struct writer w;
    uint64_t time_ns;
    uint32_t made; /* processes so far */
};

static void give(struct days *d) {
    struct err err = ERR_INIT;
    struct bytes b = writer_bytes(&d->w);
    assert_true(writer_ok(&d->w));
    assert_true(recording_live_put(d->feed.live, &b, 1, &err));
    writer_clear(&d->w);
}

static void put(struct days *d, struct perfdata_record rec) {
    rec.id =
        (struct perfdata_sample_id){.have = PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_TIME, .time = ++d->time_ns};
    perfdata_record_encode(&rec, d->plan, &d->w);
}

static void fault(struct days *d, uint32_t pid) {
    test_put_sample(&d->w, d->plan, PERFDATA_MISC_USER,
                    &(struct perfdata_sample){.have = d->plan->sample_type,
                                              .ip = MAPPED + 0x10,
                                              .addr = MAPPED + 0x20,
                                              .pid = pid,
                                              .tid = pid,
                                              .time = ++d->time_ns});
}

static bool seen(void *ctx, const struct stream_record *r, struct err *err) {
    struct days *d = ctx;
    return !d->feed.begun ||
           (trace_feed_show(&d->feed, err) && (!trace_want(&d->trace, r) || trace_take(&d->trace, r, err)));
}

static bool turn(struct days *d) {
    struct err err = ERR_INIT;
    bool renewed;
    give(d);
    assert_true(trace_feed_begin(&d->feed, "x86_64", &err) && trace_feed_take(&d->feed, false, &err));
    assert_true(trace_feed_turn(&d->feed, &renewed, &err));
    return renewed;
}

static void start(struct days *d, const struct perfconfig *config) {
    struct err err = ERR_INIT;
    const struct perfdata_attr attr = {.size = 112,
                                       .known_size = 112,
                                       .type = SOFTWARE,
                                       .config = MINOR_FAULTS,
                                       .flags = PERFDATA_ATTR_SAMPLE_ID_ALL,
                                       .sample_type = PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_TID |
                                                      PERFDATA_SAMPLE_TIME | PERFDATA_SAMPLE_ADDR};
    const struct perfdata_header head = {.swap = false};
    uint32_t left;
    *d = (struct days){.w = writer_make(false), .env = {.config = config}};
    trace_options_init(&d->options);
    d->options.faults = TRACE_MINOR;
    assert_true(out_init(&d->out, NULL, NULL));
    d->trace = (struct trace){.env = &d->env, .o = &d->options, .select = &d->select, .out = &d->out};
    perfdata_events_init(&d->events, false);
    assert_int_equal(perfdata_events_add(&d->events, &attr, &(struct perfdata_u64s){0}), 0);
    d->plan = &d->events.list.items[0].plan;
    assert_true(trace_feed_init(&d->feed, &d->trace, true, seen, d, &err));
    perfdata_pipe_head_encode(&head, &d->events, &d->w, &left);
    turn(d);
    put(d, rec_comm(1, 1, "init"));
    put(d, rec_map(1, MAPPED, 0x1000, "/init"));
}

static void end(struct days *d) {
    struct err err = ERR_INIT;
    assert_true(trace_finish(&d->trace, &err));
    trace_fini(&d->trace);
    trace_feed_close(&d->feed);
    trace_options_fini(&d->options);
    trace_select_fini(&d->select);
    out_fini(&d->out);
    writer_fini(&d->w);
    perfdata_events_fini(&d->events);
}

static void check_lines(struct days *d, const char *comm, const char *file, unsigned count) {
    char expected[64];
    unsigned n = 0;
    snprintf(expected, sizeof expected, "%s@0x20 (x.)\n", file);
    for (const char *at = out_text(&d->out); (at = strstr(at, expected)); at++)
        n++;
    assert_int_equal(n, count);
    assert_non_null(strstr(out_text(&d->out), comm));
    d->out.len = 0;
}

/* Short programs, each a file of its own, and one that stays. */
static bool go_on(struct days *d) {
    char name[32];
    bool renewed = false;
    for (uint32_t i = 0; i < PROCESSES; i++) {
        uint32_t pid = 2 + d->made % 30000;
        snprintf(name, sizeof name, "/short%u", d->made++);
        put(d, rec_fork(pid, pid, 1, 1));
        put(d, rec_exec(pid, "short"));
        put(d, rec_map(pid, MAPPED, 0x1000, name));
        if (i == 0)
            fault(d, pid);
        put(d, rec_exit(pid, pid, 1));
    }
    fault(d, 1);
    renewed = turn(d);
    turn(d); /* without a round all that came is taken */
    snprintf(name, sizeof name, "/short%u", d->made - PROCESSES);
    assert_non_null(strstr(out_text(&d->out), "init/1 minfault ["));
    assert_non_null(strstr(out_text(&d->out), name));
    return renewed;
}

static size_t held_bytes(const struct days *d) {
    size_t sum = 0;
    for (size_t i = 0; i < sizeof d->feed.lives / sizeof *d->feed.lives; i++) {
        const struct recording_live *l = &d->feed.lives[i];
        sum += l->model ? model_memory_bytes(l->model) + stream_feed_held(l->feed) + l->lasting.size : 0;
    }
    return sum;
}

static void days(void **state) {
    enum { SCREENS = 400 };
    const struct perfconfig config = PERFCONFIG_INIT;
    struct days d;
    size_t early = 0, most = 0;
    (void)state;
    start(&d, &config);
    for (unsigned i = 0; i < SCREENS; i++) {
        go_on(&d);
        check_lines(&d, "short/", "/init", 1);
        size_t bytes = held_bytes(&d);
        most = bytes > most ? bytes : most;
        early = i == SCREENS / 4 ? most : early;
    }
    assert_true(d.feed.epochs >= 3);
    assert_true(most <= early + early / 2);
    end(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(days)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
