/* SPDX-License-Identifier: Apache-2.0 */
/* Days of a live profile as fast as can be, through all but the rings: what is held stays bounded, also while
 * the screen is frozen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cmd/top/top_epoch.h"
#include "format/perfdata/header/header_encode.h"
#include "format/perfdata/perfdata_test.h"
#include "model/model_test_records.h"

enum { PROCESSES = 500 };
static const uint64_t SECOND = 1000000000;

struct days {
    struct top top;
    struct top_options options;
    struct command_env env;
    struct perfdata_events events;
    const struct perfdata_plan *plan;
    struct writer w;
    uint64_t time_ns;
    unsigned screens;
    uint32_t made; /* processes so far */
};

static bool show(void *ctx, struct top *t, struct err *err) {
    struct days *d = ctx;
    (void)t;
    (void)err;
    d->screens++;
    return true;
}

static void give(struct days *d) {
    struct err err = ERR_INIT;
    struct bytes b = writer_bytes(&d->w);
    assert_true(writer_ok(&d->w));
    assert_true(recording_live_put(d->top.live, &b, 1, &err));
    writer_clear(&d->w);
}

static void put(struct days *d, struct perfdata_record rec) {
    rec.id =
        (struct perfdata_sample_id){.have = PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_TIME, .time = ++d->time_ns};
    perfdata_record_encode(&rec, d->plan, &d->w);
}

static void sample(struct days *d, uint32_t pid) {
    test_put_sample(&d->w, d->plan, PERFDATA_MISC_USER,
                    &(struct perfdata_sample){.have = d->plan->sample_type,
                                              .ip = 0x1010,
                                              .pid = pid,
                                              .tid = pid,
                                              .time = ++d->time_ns,
                                              .period = 1});
}

/* A screen, after the turn in which it becomes due. */
static void screen(struct days *d) {
    struct err err = ERR_INIT;
    struct record_progress now = {0};
    unsigned before = d->screens;
    give(d);
    top_show_soon(&d->top);
    for (unsigned i = 0; i < 2; i++) {
        struct record_turn next = {.wait_ms = 100};
        assert_true(top_turn(&d->top, &now, &next, &err));
    }
    assert_int_equal(d->screens, before + 1);
}

static void start(struct days *d, const struct top_face *face, const struct perfconfig *config) {
    struct err err = ERR_INIT;
    struct record_progress now = {0};
    struct record_turn next = {.wait_ms = 100};
    const struct perfdata_attr attr = {.size = 112,
                                       .known_size = 112,
                                       .flags = PERFDATA_ATTR_SAMPLE_ID_ALL,
                                       .sample_type = PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_TID |
                                                      PERFDATA_SAMPLE_TIME | PERFDATA_SAMPLE_PERIOD};
    const struct perfdata_header head = {.swap = false};
    uint32_t left;
    *d = (struct days){.w = writer_make(false), .env = {.config = config}};
    top_options_init(&d->options, config);
    d->options.view.sort = "comm,dso";
    d->options.view.quiet = true;
    d->top = (struct top){.env = &d->env, .o = &d->options, .face = face, .face_ctx = d};
    perfdata_events_init(&d->events, false);
    assert_int_equal(perfdata_events_add(&d->events, &attr, &(struct perfdata_u64s){0}), 0);
    d->plan = &d->events.list.items[0].plan;
    assert_true(top_open(&d->top, &err));
    perfdata_pipe_head_encode(&head, &d->events, &d->w, &left);
    give(d);
    assert_true(top_turn(&d->top, &now, &next, &err));
    put(d, rec_comm(1, 1, "init"));
    put(d, rec_map(1, 0x1000, 0x1000, "/init"));
    sample(d, 1);
    screen(d);
}

static void end(struct days *d) {
    top_close(&d->top);
    top_options_fini(&d->options);
    writer_fini(&d->w);
    perfdata_events_fini(&d->events);
}

/* Short programs, each a file of its own, and one that stays. */
static void go_on(struct days *d) {
    char name[32];
    for (uint32_t i = 0; i < PROCESSES; i++) {
        uint32_t pid = 2 + d->made % 30000;
        snprintf(name, sizeof name, "/short%u", d->made++);
        d->time_ns += SECOND / 16;
        put(d, rec_fork(pid, pid, 1, 1));
        put(d, rec_exec(pid, "short"));
        put(d, rec_map(pid, 0x1000, 0x1000, name));
        sample(d, pid);
        put(d, rec_exit(pid, pid, 1));
    }
    sample(d, 1);
    screen(d);
}

static size_t held_bytes(const struct days *d) {
    size_t sum = 0;
    for (size_t i = 0; i < sizeof d->top.lives / sizeof *d->top.lives; i++) {
        const struct recording_live *l = &d->top.lives[i];
        sum += l->model ? model_memory_bytes(l->model) + stream_feed_held(l->feed) + l->lasting.size : 0;
    }
    return sum;
}

/* How many samples the rows of a command have. */
static uint64_t samples_of(const struct days *d, const char *comm) {
    const struct profile *p = report_session_parts(top_shown(&d->top)).profile;
    const struct profile_event *e = profile_event(p, 0);
    const struct profile_columns *columns = profile_columns_of(p);
    uint64_t n = 0;
    struct out text;
    assert_true(out_init(&text, NULL, NULL));
    for (uint32_t i = 0; i < e->entry_count; i++) {
        struct profile_entry entry = profile_entry_at(p, e, i);
        for (size_t c = 0; c < columns->out.count; c++) {
            text.len = 0;
            if (profile_column_is_key(&columns->out.items[c])) {
                profile_text(p, e, &entry, &columns->out.items[c], &text);
                n += strcmp(out_text(&text), comm) ? 0 : entry.self->samples;
            }
        }
    }
    out_fini(&text);
    return n;
}

static void run_days(bool frozen) {
    enum { SCREENS = 100 };
    const struct top_face face = {.fd = -1, .show = show};
    struct err err = ERR_INIT;
    const struct perfconfig config = PERFCONFIG_INIT;
    struct days d;
    size_t early = 0, most = 0;
    start(&d, &face, &config);
    go_on(&d);
    uint64_t generation = d.top.generation, shorts = samples_of(&d, "short"), inits = samples_of(&d, "init");
    const struct profile *profile = report_session_parts(top_shown(&d.top)).profile;
    assert_int_equal(shorts, PROCESSES);
    assert_true(inits > 0);
    d.top.frozen = frozen;
    for (unsigned i = 0; i < SCREENS; i++) {
        go_on(&d);
        size_t bytes = held_bytes(&d);
        most = bytes > most ? bytes : most;
        early = i == SCREENS / 4 ? most : early;
    }
    assert_true(d.top.epochs >= 3);
    assert_true(most <= early + early / 2);
    assert_int_equal(d.top.held.session != NULL, frozen);
    if (frozen) { /* all is as it was */
        assert_int_equal(d.top.generation, generation);
        assert_ptr_equal(report_session_parts(top_shown(&d.top)).profile, profile);
        assert_int_equal(samples_of(&d, "short"), shorts);
        assert_int_equal(samples_of(&d, "init"), inits);
        /* Another choice of what is shown is of that, too. */
        assert_true(top_again(&d.top, &(struct report_again){.verbose = true, .group_sort_index = -1}, &err));
        assert_int_equal(samples_of(&d, "short"), shorts);
        d.top.frozen = false;
        go_on(&d);
        assert_null(d.top.held.session);
        assert_null(d.top.held.images);
        assert_true(d.top.generation > generation);
        assert_true(samples_of(&d, "short") > PROCESSES); /* the older ones, faded, and those that came */
        assert_true(samples_of(&d, "init") > 0);
    }
    end(&d);
}

static void test_days(void **state) {
    (void)state;
    run_days(false);
}

static void test_days_frozen(void **state) {
    (void)state;
    run_days(true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_days),
        cmocka_unit_test(test_days_frozen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
