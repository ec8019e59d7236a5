/* SPDX-License-Identifier: Apache-2.0 */
#include "record/write/write_thread.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "format/perfdata/record.h"

enum { RECORDS = 400, RECORD_BYTES = 64 };

static void begin(struct os_output_fake *out, struct record_file *f) {
    struct perfdata_events events;
    struct perfdata_attr attr = {.size = 64, .known_size = 64};
    perfdata_events_init(&events, false);
    perfdata_events_add(&events, &attr, NULL);
    os_output_fake_init(out, true);
    const struct record_file_head head = {.events = &events};
    assert_true(record_file_start(f, out->out, "fake", &head, NULL));
    perfdata_events_fini(&events);
}

static struct bytes record(uint8_t room[RECORD_BYTES], uint32_t n) {
    const uint32_t header[3] = {PERFDATA_RECORD_SAMPLE, (uint32_t)RECORD_BYTES << (BYTES_HOST_BIG ? 0 : 16),
                                n};
    memset(room, 0, RECORD_BYTES);
    memcpy(room, header, sizeof header);
    return (struct bytes){room, RECORD_BYTES};
}

/* Everything arrives, in order, however many buffers there are; what is reused is not still being written. */
static void test_order(void **state) {
    (void)state;
    for (unsigned buffers = 1; buffers <= RECORD_WRITE_BUFFERS_MAX; buffers++) {
        struct os_output_fake out;
        struct record_file f;
        struct record_write_thread t;
        begin(&out, &f);
        uint64_t start = f.data_offset;
        assert_true(record_write_thread_start(&t, &f, NULL, buffers));
        for (uint32_t i = 0; i < RECORDS; i += 2) {
            uint8_t room[2][RECORD_BYTES];
            struct bytes two[2] = {record(room[0], i), record(room[1], i + 1)};
            assert_true(record_write_thread_put(&t, two, 2, 1, NULL));
        }
        assert_true(record_write_thread_size(&t) <= start + (RECORDS + 2) * RECORD_BYTES);
        assert_true(record_write_thread_stop(&t, NULL));
        assert_int_equal(f.data_end - start, RECORDS * RECORD_BYTES);
        for (uint32_t i = 0; i < RECORDS; i++)
            assert_int_equal(bytes_load32(out.bytes.items + start + i * RECORD_BYTES + 8, false), i);
        assert_true(record_file_finish(&f, NULL, 0, (struct bytes){0}, NULL));
        os_output_fake_fini(&out);
    }
}

/* Only what is to be compressed is. */
static void test_compressed(void **state) {
    (void)state;
    struct os_output_fake out;
    struct record_file f;
    struct record_write_thread t;
    struct record_compress z;
    struct err err = ERR_INIT;
    if (!record_compress_init(&z, 1, &err)) {
        print_message("SKIP: %s\n", err.message);
        skip();
    }
    begin(&out, &f);
    assert_true(record_write_thread_start(&t, &f, &z, 2));
    uint8_t room[2][RECORD_BYTES];
    struct bytes two[2] = {record(room[0], 7), record(room[1], 8)};
    assert_true(record_write_thread_put(&t, two, 2, 1, NULL));
    assert_true(record_write_thread_put(&t, two, 1, 0, NULL));
    assert_true(record_write_thread_stop(&t, NULL));
    const uint8_t *p = out.bytes.items + f.data_offset, *end = out.bytes.items + f.data_end;
    assert_int_equal(bytes_load32(p, false), PERFDATA_RECORD_COMPRESSED);
    p += bytes_load16(p + 6, false);
    assert_int_equal(bytes_load32(p + 8, false), 8);
    assert_int_equal(bytes_load32(p + RECORD_BYTES + 8, false), 7);
    assert_ptr_equal(p + 2 * RECORD_BYTES, end);
    record_file_finish(&f, NULL, 0, (struct bytes){0}, NULL);
    record_compress_fini(&z);
    os_output_fake_fini(&out);
}

/* A full disk is told at a later call, at the latest at the end; nothing waits for ever. */
static void test_full(void **state) {
    (void)state;
    struct os_output_fake out;
    struct record_file f;
    struct record_write_thread t;
    struct err err = ERR_INIT;
    begin(&out, &f);
    out.room = f.data_offset + 10 * RECORD_BYTES;
    assert_true(record_write_thread_start(&t, &f, NULL, 1));
    bool ok = true;
    for (uint32_t i = 0; i < RECORDS && ok; i++) {
        uint8_t room[RECORD_BYTES];
        struct bytes one = record(room, i);
        ok = record_write_thread_put(&t, &one, 1, 1, &err);
    }
    assert_false(record_write_thread_stop(&t, &err));
    assert_int_equal(err.code, ERR_IO);
    record_file_finish(&f, NULL, 0, (struct bytes){0}, NULL);
    os_output_fake_fini(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order), cmocka_unit_test(test_compressed),
                                       cmocka_unit_test(test_full)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
