/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "format/perfdata/header/header_encode.h"
#include "format/perfdata/perfdata_test.h"
#include "recording/tracepoints.h"
#include "tests/support/fail_alloc.h"

/* Fields of every kind; what a dynamic one means begins at 24. */
static const char FORMAT[] = "name: it\nID: 7\nformat:\n"
                             "\tfield:unsigned char common_flags;\toffset:0;\tsize:1;\tsigned:0;\n"
                             "\tfield:int small;\toffset:4;\tsize:4;\tsigned:1;\n"
                             "\tfield:u16 half;\toffset:8;\tsize:2;\tsigned:0;\n"
                             "\tfield:__data_loc char[] far;\toffset:12;\tsize:4;\tsigned:0;\n"
                             "\tfield:__rel_loc char[] near;\toffset:16;\tsize:4;\tsigned:0;\n"
                             "\tfield:char fixed[4];\toffset:20;\tsize:4;\tsigned:0;\n";
static const char OTHER[] = "name: other\nID: 8\nformat:\n\tfield:int x;\toffset:0;\tsize:4;\tsigned:1;\n";

enum { IT, REST, SMALL = 0, HALF, FAR, NEAR, FIXED, MISSING };
static const struct tracepoint_row ROWS[] = {
    {"sys", "it", IT, 1, {"small", "half", "far", "near", "fixed", "missing"}},
    {"sys", "other", IT, 1, {"not_there"}},
    {"sys", NULL, REST, 0, {NULL}}};

static struct bytes text(const char *s) {
    return (struct bytes){(const uint8_t *)s, strlen(s)};
}

/* The raw data of "it". */
static struct writer make_raw(bool big, uint32_t far, uint32_t near) {
    struct writer w = writer_make(big != BYTES_HOST_BIG);
    writer_u32(&w, big ? 0x08000000 : 0x08); /* common_flags: a hard interrupt */
    writer_u32(&w, (uint32_t)-3);
    writer_u16(&w, 0xfffe);
    writer_u16(&w, 0);
    writer_u32(&w, far);
    writer_u32(&w, near);
    writer_bytes_put(&w, text("ab"));
    writer_u16(&w, 0);
    writer_bytes_put(&w, text("far!near"));
    return w;
}

/* A recording of two samples: of it, with these raw data, and of other. */
static struct writer make_file(struct bytes raw) {
    struct perfdata_events events;
    struct perfdata_attr attr = {.type = PERFDATA_TYPE_TRACEPOINT,
                                 .size = 112,
                                 .known_size = 112,
                                 .config = 7,
                                 .sample_type = PERFDATA_SAMPLE_IDENTIFIER | PERFDATA_SAMPLE_TID |
                                                PERFDATA_SAMPLE_TIME | PERFDATA_SAMPLE_CPU |
                                                PERFDATA_SAMPLE_RAW};
    struct writer data = writer_make(false), file = writer_make(false), tail = writer_make(false);
    struct perfdata_sample s = {
        .have = attr.sample_type, .identifier = 1, .pid = 2, .tid = 3, .time = 4, .cpu = 5, .raw = raw};
    uint64_t bits[4];
    perfdata_events_init(&events, false);
    assert_int_equal(perfdata_events_add(&events, &attr, &(struct perfdata_u64s){0}), 0);
    attr.config = 8;
    assert_int_equal(perfdata_events_add(&events, &attr, &(struct perfdata_u64s){0}), 1);
    assert_true(perfdata_events_add_id(&events, 0, 1) && perfdata_events_add_id(&events, 1, 2));
    test_put_sample(&data, &events.list.items[0].plan, 0, &s);
    s.identifier = 2;
    test_put_sample(&data, &events.list.items[1].plan, 0, &s);
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

struct setup {
    struct writer file, blob;
    struct stream *stream;
    struct perfdata_namer names;
    struct tracepoints t;
};

static void set_up(struct setup *u, bool big, struct bytes raw) {
    struct tracing_event list[] = {{.format = text(FORMAT)}, {.format = text(OTHER)}};
    struct tracing_system system = {text("sys"), 0, 2};
    struct tracing_data td = {.version = text("0.6"), .big_endian = big, .long_size = 8, .page_size = 4096};
    struct err err = ERR_INIT;
    td.events.items = list;
    td.events.count = 2;
    td.systems.items = &system;
    td.systems.count = 1;
    memset(u, 0, sizeof *u);
    u->blob = writer_make(false);
    tracing_data_encode(&td, &u->blob);
    assert_true(tracing_data_parse(writer_bytes(&u->blob), &u->names.tracing, NULL));
    u->file = make_file(raw);
    u->stream = stream_open_memory(writer_bytes(&u->file), &(struct stream_options){0}, &err);
    assert_non_null(u->stream);
    tracepoints_init(&u->t, u->stream, &u->names, ROWS, 3, 0);
}

static void tear_down(struct setup *u) {
    tracepoints_fini(&u->t);
    stream_close(u->stream);
    tracing_data_fini(&u->names.tracing);
    writer_fini(&u->file);
    writer_fini(&u->blob);
}

static bool next(struct setup *u, struct tracepoint *out) {
    struct stream_record r;
    struct err err = ERR_INIT;
    assert_int_equal(stream_next(u->stream, &r, &err), STREAM_RECORD);
    assert_true(tracepoints_update(&u->t, &err));
    assert_true(tracepoints_want(&u->t, &r));
    return tracepoints_read(&u->t, &r, out);
}

static void check_values(bool big) {
    struct writer raw = make_raw(big, 4 << 16 | 24, 4 << 16 | 8);
    struct setup u;
    struct tracepoint t;
    set_up(&u, big, writer_bytes(&raw));
    assert_true(next(&u, &t));
    assert_int_equal(t.kind, IT);
    assert_true(t.sample.time == 4 && t.sample.cpu == 5 && t.sample.pid == 2 && t.sample.tid == 3);
    assert_int_equal(tracepoint_int(&t, SMALL, 0), -3);
    assert_int_equal(tracepoint_int(&t, HALF, 0), 0xfffe);
    assert_int_equal(tracepoint_int(&t, MISSING, 42), 42);
    assert_true(bytes_equal(tracepoint_text(&t, FAR), text("far!")));
    assert_true(bytes_equal(tracepoint_text(&t, NEAR), text("near")));
    assert_true(bytes_equal(tracepoint_text(&t, FIXED), text("ab")));
    assert_int_equal(tracepoint_bytes(&t, FIXED).size, 4);
    assert_int_equal(tracepoint_text(&t, MISSING).size, 0);
    assert_true(tracepoint_in_interrupt(&t));
    assert_true(next(&u, &t)); /* a row whose needed field is not there gives way to the next */
    assert_int_equal(t.kind, REST);
    assert_false(tracepoint_in_interrupt(&t));
    assert_true(tracepoints_have(&u.t, IT) && tracepoints_have(&u.t, REST));
    tear_down(&u);
    writer_fini(&raw);
}

static void test_values(void **state) {
    (void)state;
    check_values(false);
    check_values(true);
}

/* Texts that lie outside the record are empty; data without a needed field are a bad record. */
static void test_hostile(void **state) {
    (void)state;
    struct writer raw = make_raw(false, 5 << 16 | 30, 0xffffffff);
    struct setup u;
    struct tracepoint t;
    set_up(&u, false, writer_bytes(&raw));
    assert_true(next(&u, &t));
    assert_int_equal(tracepoint_text(&t, FAR).size, 0);
    assert_int_equal(tracepoint_text(&t, NEAR).size, 0);
    tear_down(&u);
    set_up(&u, false, (struct bytes){raw.data, 7});
    assert_false(next(&u, &t));
    assert_int_equal(stream_losses(u.stream)->bad_records, 1);
    tear_down(&u);
    set_up(&u, false, (struct bytes){raw.data, 12});
    assert_true(next(&u, &t));
    assert_int_equal(tracepoint_int(&t, SMALL, 0), -3);
    assert_int_equal(tracepoint_text(&t, FIXED).size, 0);
    tear_down(&u);
    writer_fini(&raw);
}

static void test_memory(void **state) {
    (void)state;
    struct writer raw = make_raw(false, 0, 0);
    struct setup u;
    struct err err = ERR_INIT;
    struct stream_record r;
    set_up(&u, false, writer_bytes(&raw));
    assert_int_equal(stream_next(u.stream, &r, &err), STREAM_RECORD);
    fail_alloc_after(0);
    assert_false(tracepoints_update(&u.t, &err));
    assert_true(fail_alloc_hit());
    assert_int_equal(err.code, ERR_MEMORY);
    tear_down(&u);
    writer_fini(&raw);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values), cmocka_unit_test(test_hostile),
                                       cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
