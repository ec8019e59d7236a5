/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "format/perfdata/header/header_encode.h"
#include "format/perfdata/perfdata_test.h"
#include "model/model_test_records.h"
#include "recording/ordered.h"
#include "recording/stacks_at.h"
#include "tests/support/fail_alloc.h"

enum { COUNT = 8 };

/* Samples as they lie in the file: of one time on several CPUs, in two rounds. `pid` tells them apart. */
static const struct {
    uint64_t time;
    uint32_t cpu, pid;
} SAMPLES[COUNT] = {{20, 2, 1}, {10, 1, 2}, {20, 0, 3}, {20, 1, 4},
                    {20, 0, 5}, {15, 3, 6}, {30, 1, 7}, {30, 0, 8}};
static const uint32_t IN_ORDER[COUNT] = {2, 6, 3, 5, 4, 1, 8, 7};

static struct writer make_file(bool rounds) {
    struct perfdata_events events;
    struct perfdata_attr attr = {.size = 112,
                                 .known_size = 112,
                                 .flags = PERFDATA_ATTR_SAMPLE_ID_ALL,
                                 .sample_type = PERFDATA_SAMPLE_IDENTIFIER | PERFDATA_SAMPLE_IP |
                                                PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_TIME |
                                                PERFDATA_SAMPLE_CPU | PERFDATA_SAMPLE_CALLCHAIN};
    uint64_t words[] = {PERFDATA_CONTEXT_USER, 0x1008, 0x2008}, bits[4];
    struct writer data = writer_make(false), file = writer_make(false), tail = writer_make(false);
    perfdata_events_init(&events, false);
    assert_int_equal(perfdata_events_add(&events, &attr, &(struct perfdata_u64s){0}), 0);
    assert_true(perfdata_events_add_id(&events, 0, 1));
    const struct perfdata_plan *plan = &events.list.items[0].plan;
    struct perfdata_record fork = rec_fork(7, 7, 5, 5);
    fork.id = (struct perfdata_sample_id){
        .have = PERFDATA_SAMPLE_TIME | PERFDATA_SAMPLE_IDENTIFIER, .time = 40, .id = 1};
    perfdata_record_encode(&fork, plan, &data);
    for (size_t i = 0; i < COUNT; i++) {
        struct perfdata_sample s = {.have = attr.sample_type,
                                    .identifier = 1,
                                    .ip = words[1],
                                    .pid = SAMPLES[i].pid,
                                    .tid = SAMPLES[i].pid,
                                    .time = SAMPLES[i].time,
                                    .cpu = SAMPLES[i].cpu,
                                    .callchain = {(const uint8_t *)words, 3, false}};
        test_put_sample(&data, plan, PERFDATA_MISC_USER, &s);
        if (rounds && (i == 5 || i == 6))
            perfdata_record_encode(&(struct perfdata_record){.type = PERFDATA_RECORD_FINISHED_ROUND}, plan,
                                   &data);
    }
    perfdata_file_head_encode(&events, &file);
    perfdata_file_tail_encode(NULL, 0, file.size + data.size, &tail, bits);
    perfdata_file_head_finish(&file, data.size, bits);
    writer_bytes_put(&file, writer_bytes(&data));
    writer_bytes_put(&file, writer_bytes(&tail));
    assert_true(writer_ok(&file));
    writer_fini(&data);
    writer_fini(&tail);
    perfdata_events_fini(&events);
    return file;
}

struct seen {
    struct recording *r;
    uint32_t pids[COUNT + 1];
    uint64_t locs[COUNT + 1];
    size_t count, stop_at;
};

static bool want(void *ctx, const struct stream_record *r) {
    (void)ctx;
    return r->raw.type == PERFDATA_RECORD_SAMPLE;
}

static bool take(void *ctx, const struct stream_record *r, struct err *err) {
    struct seen *x = ctx;
    struct perfdata_sample s = {0};
    assert_true(perfdata_sample_decode(&x->r->events->list.items[r->event].plan, r->raw.body, ~0ull, &s));
    assert_true(x->count < COUNT);
    assert_int_equal(recording_cpu(x->r, r), s.cpu);
    x->pids[x->count] = s.pid;
    x->locs[x->count++] = r->loc;
    return x->count != x->stop_at || err_set(err, ERR_USAGE, "take", "enough");
}

static bool open_it(struct recording *r, const struct writer *file, struct err *err) {
    return recording_open(r, stream_open_memory(writer_bytes(file), &(struct stream_options){0}, err), NULL,
                          err);
}

static void check(bool rounds) {
    struct writer file = make_file(rounds);
    struct recording r;
    struct err err = ERR_INIT;
    struct model *m = model_new(&(struct model_options){0}, &err);
    assert_true(open_it(&r, &file, &err));
    struct seen seen = {.r = &r};
    assert_true(recording_read_ordered(
        &(struct recording_ordered){.r = &r, .m = m, .want = want, .take = take, .ctx = &seen}, &err));
    assert_int_equal(seen.count, COUNT);
    assert_memory_equal(seen.pids, IN_ORDER, sizeof IN_ORDER);
    /* Side-band was taken on the way. */
    uint32_t child = model_process_at(m, 7, MODEL_WHEN_END);
    assert_int_not_equal(child, MODEL_NONE);
    assert_int_equal(model_process(m, child)->ppid, 5);
    model_free(m);
    recording_close(&r);
    writer_fini(&file);
}

static void test_order(void **state) {
    (void)state;
    check(false);
    check(true);
}

static void test_stopped(void **state) {
    (void)state;
    struct writer file = make_file(true);
    struct recording r;
    struct err err = ERR_INIT;
    assert_true(open_it(&r, &file, &err));
    struct seen seen = {.r = &r, .stop_at = 3};
    assert_false(recording_read_ordered(
        &(struct recording_ordered){.r = &r, .want = want, .take = take, .ctx = &seen}, &err));
    assert_string_equal(err.message, "enough");
    assert_int_equal(seen.count, 3);
    recording_close(&r);
    writer_fini(&file);
}

/* Stacks are found again by where their sample lies. */
static void test_stacks(void **state) {
    (void)state;
    struct writer file = make_file(true);
    struct recording r;
    struct err err = ERR_INIT;
    struct recording_names naming = {0};
    struct recording_stacks stacks;
    struct model *m = model_new(&(struct model_options){.need = MODEL_NEED_MAPS | MODEL_NEED_COMMS}, &err);
    assert_true(open_it(&r, &file, &err) && recording_first_pass(&r, m, NULL, NULL, NULL, &err));
    assert_true(recording_names_open(&naming, &r, m, &(struct symbol_options){0}, &err));
    struct seen seen = {.r = &r};
    const struct recording_ordered o = {
        .r = &r, .m = m, .first_done = true, .again = true, .want = want, .take = take, .ctx = &seen};
    assert_true(recording_read_ordered(&o, &err));
    recording_stacks_init(&stacks, &r, m, &naming);
    assert_true(recording_stacks_read(&stacks, seen.locs[4]));
    assert_int_equal(stacks.samples.frames.count, 2);
    assert_int_equal(stacks.samples.frames.items[0].address, 0x1008);
    assert_int_equal(stacks.samples.frames.items[1].address, 0x2008);
    assert_int_equal(stacks.samples.pid, IN_ORDER[4]);
    recording_stacks_fini(&stacks);
    recording_names_close(&naming);
    model_free(m);
    recording_close(&r);
    writer_fini(&file);
}

static void run_short(const struct writer *file) {
    struct recording r;
    struct err err = ERR_INIT;
    struct model *m = model_new(&(struct model_options){0}, &err);
    struct seen seen = {.r = &r};
    bool ok =
        open_it(&r, file, &err) && m &&
        recording_read_ordered(
            &(struct recording_ordered){.r = &r, .m = m, .want = want, .take = take, .ctx = &seen}, &err);
    assert_true(ok || err.code == ERR_MEMORY);
    assert_true(!ok || memcmp(seen.pids, IN_ORDER, sizeof IN_ORDER) == 0);
    model_free(m);
    recording_close(&r);
}

static void test_short_of_memory(void **state) {
    (void)state;
    struct writer file = make_file(true);
    FAIL_EACH_ALLOC(run_short(&file));
    writer_fini(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_stacks),
        cmocka_unit_test(test_short_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
