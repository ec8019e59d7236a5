/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/edit_recording.h"

static struct writer copy(const struct writer *from, bool to_pipe, bool want_ok) {
    struct writer out = writer_make(false);
    struct copy_sink sink = edit_recording_sink(&out, to_pipe);
    struct copy_result result;
    struct err err = ERR_INIT;
    struct stream *s =
        stream_open_memory(writer_bytes(from), &(struct stream_options){.keep_compressed = true}, &err);
    assert_non_null(s);
    assert_true(copy_recording(s, &sink, NULL, &result, &err));
    assert_int_equal(stream_all_read(s), want_ok);
    stream_close(s);
    return out;
}

/* A finished file: two events, `n` records that look like COMM and SAMPLE, three features and a trailer. */
static struct writer make_file(bool swap, unsigned n) {
    static const struct perfdata_feature features[] = {
        {.id = PERFDATA_FEATURE_ARCH, .content = {(const uint8_t *)"\4\0\0\0x86", 8}},
        {.id = PERFDATA_FEATURE_BRANCH_STACK},
        {.id = PERFDATA_FEATURE_HOSTNAME, .content = {(const uint8_t *)"\4\0\0\0abc", 8}},
    };
    struct perfdata_events events;
    perfdata_events_init(&events, swap);
    edit_recording_event(&events, 0, 0);
    edit_recording_event(&events, 0, 0);
    struct writer data = writer_make(swap);
    const struct perfdata_plan *plan = &events.list.items[0].plan;
    for (unsigned i = 0; i < n; i++) {
        struct perfdata_record comm = {.type = PERFDATA_RECORD_COMM,
                                       .comm = {.pid = i, .tid = i, .comm = {(const uint8_t *)"program", 8}},
                                       .id = {.have = plan->sample_type, .time = i, .identifier = 1}};
        perfdata_record_encode(&comm, plan, &data);
        writer_u32(&data, PERFDATA_RECORD_SAMPLE);
        writer_u16(&data, 0);
        writer_u16(&data, 24);
        writer_u64(&data, 1 + i % 2);
        writer_u64(&data, 100 + i);
    }
    struct writer file = edit_recording_file(&events, &data, features, 3);
    writer_put(&file, "trailer of somebody else", 24);
    assert_true(writer_ok(&file));
    return file;
}

static void assert_same_bytes(const struct writer *a, const struct writer *b) {
    assert_int_equal(a->size, b->size);
    assert_memory_equal(a->data, b->data, a->size);
}

static void test_file_to_file_is_equal(void **state) {
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        struct writer in = make_file(swap, 40), out = copy(&in, false, true);
        assert_same_bytes(&in, &out);
        writer_fini(&in);
        writer_fini(&out);
    }
}

/* File to pipe to file: the same records, events and features. A pipe copied to a pipe is the same. */
static void test_through_a_pipe(void **state) {
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        struct writer in = make_file(swap, 40), pipe = copy(&in, true, true), again = copy(&pipe, true, true);
        assert_same_bytes(&pipe, &again);
        struct writer out = copy(&pipe, false, true);
        in.size -= 24; /* pipes do not carry the trailer */
        assert_same_bytes(&in, &out);
        in.size += 24;
        writer_fini(&in);
        writer_fini(&pipe);
        writer_fini(&again);
        writer_fini(&out);
    }
}

/* Damaged parts are left out, and the copy is sound: its tables are found at their new place. */
static void test_damage_is_left_out(void **state) {
    (void)state;
    struct writer in = make_file(false, 40);
    struct stream *s = stream_open_memory(writer_bytes(&in), NULL, NULL);
    uint64_t data = stream_header(s)->data.offset;
    stream_close(s);
    memset(in.data + data + 10 * (8 + 8 + 8 + 16 + 24), 0xff, 40);
    struct writer out = copy(&in, false, false), third = copy(&out, false, true);
    assert_true(out.size < in.size);
    assert_same_bytes(&out, &third);
    s = stream_open_memory(writer_bytes(&out), NULL, NULL);
    const struct perfdata_feature *f = perfdata_header_feature(stream_header(s), PERFDATA_FEATURE_HOSTNAME);
    assert_non_null(f);
    assert_false(f->broken);
    assert_memory_equal(f->content.data + 4, "abc", 4);
    assert_memory_equal(out.data + out.size - 24, "trailer of somebody else", 24);
    stream_close(s);
    writer_fini(&in);
    writer_fini(&out);
    writer_fini(&third);
}

/* A recording that was never finished becomes one that has its size. */
static void test_unfinished_is_closed(void **state) {
    (void)state;
    struct writer in = make_file(false, 5);
    struct stream *s = stream_open_memory(writer_bytes(&in), NULL, NULL);
    in.size = stream_header(s)->data.offset + stream_header(s)->data.size;
    stream_close(s);
    writer_patch64(&in, 48, 0);
    struct writer out = copy(&in, false, true);
    s = stream_open_memory(writer_bytes(&out), NULL, NULL);
    assert_false(stream_losses(s)->unfinished);
    assert_int_equal(stream_losses(s)->problems, 0);
    assert_int_equal(stream_header(s)->data.size, in.size - stream_header(s)->data.offset);
    stream_close(s);
    writer_fini(&in);
    writer_fini(&out);
}

/* A pipe without any record becomes a file that counts as finished, and copies of it are the same. */
static void test_nothing_is_finished(void **state) {
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        struct writer in = make_file(swap, 1), none = make_file(swap, 0), pipe = copy(&in, true, true);
        pipe.size -= in.size - none.size;
        struct writer out = copy(&pipe, false, true), again = copy(&out, false, true);
        struct stream *s = stream_open_memory(writer_bytes(&out), NULL, NULL);
        assert_false(stream_losses(s)->unfinished);
        assert_non_null(perfdata_header_feature(stream_header(s), PERFDATA_FEATURE_HOSTNAME));
        assert_same_bytes(&out, &again);
        stream_close(s);
        writer_fini(&in);
        writer_fini(&none);
        writer_fini(&pipe);
        writer_fini(&out);
        writer_fini(&again);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_file_to_file_is_equal), cmocka_unit_test(test_through_a_pipe),
        cmocka_unit_test(test_damage_is_left_out),    cmocka_unit_test(test_unfinished_is_closed),
        cmocka_unit_test(test_nothing_is_finished),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
