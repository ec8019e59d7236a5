/* SPDX-License-Identifier: Apache-2.0 */
#include "record/unwind/unwind_thread.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { RECORDS = 400, RECORD_BYTES = 64 };

struct session {
    struct perfdata_events events;
    struct os_output_fake out;
    struct record_file file;
};

static void session_init(struct session *s) {
    struct perfdata_attr attr = {.size = 64, .known_size = 64};
    perfdata_events_init(&s->events, false);
    perfdata_events_add(&s->events, &attr, NULL);
    os_output_fake_init(&s->out, true);
    const struct record_file_head head = {.events = &s->events};
    assert_true(record_file_start(&s->file, s->out.out, "fake", &head, NULL));
}

static void session_fini(struct session *s) {
    record_file_finish(&s->file, NULL, 0, (struct bytes){0}, NULL);
    os_output_fake_fini(&s->out);
    perfdata_events_fini(&s->events);
}

static bool put(struct record_unwind *u, uint32_t n, bool round, struct err *err) {
    uint8_t room[RECORD_BYTES] = {0};
    const uint32_t header[3] = {PERFDATA_RECORD_SAMPLE, (uint32_t)RECORD_BYTES << (BYTES_HOST_BIG ? 0 : 16),
                                n};
    memcpy(room, header, sizeof header);
    struct bytes one = {room, sizeof room};
    return record_unwind_put(u, &one, 1, n % 2, round, err);
}

/* Everything arrives, in order. */
static void test_order(void **state) {
    (void)state;
    for (uint32_t per_round = 1; per_round < RECORDS * 2; per_round *= 7) {
        struct session s;
        session_init(&s);
        const struct record_outlet outlet = {.file = &s.file};
        struct writer report = writer_make(false);
        uint64_t start = s.file.data_offset;
        struct record_unwind *u = record_unwind_start(&outlet, &s.events, "x86_64", NULL, NULL);
        assert_non_null(u);
        for (uint32_t i = 0; i < RECORDS; i++)
            assert_true(put(u, i, i % per_round == 0, NULL));
        assert_true(record_unwind_put(u, NULL, 0, 0, true, NULL));
        assert_true(record_unwind_file_size(u) <= start + RECORDS * RECORD_BYTES + 4096);
        assert_true(record_unwind_stop(u, &report, NULL));
        assert_int_equal(s.file.data_end - start, RECORDS * RECORD_BYTES);
        for (uint32_t i = 0; i < RECORDS; i++)
            assert_int_equal(bytes_load32(s.out.bytes.items + start + i * RECORD_BYTES + 8, false), i);
        assert_true(report.size != 0);
        writer_fini(&report);
        session_fini(&s);
    }
}

/* A full disk is told at a later call, at the latest at the end, with what is missing; nothing waits for
 * ever.
 */
static void test_full(void **state) {
    (void)state;
    struct session s;
    struct err err = ERR_INIT;
    session_init(&s);
    const struct record_outlet outlet = {.file = &s.file};
    s.out.room = s.file.data_offset + 10 * RECORD_BYTES;
    struct record_unwind *u = record_unwind_start(&outlet, &s.events, "x86_64", NULL, NULL);
    assert_non_null(u);
    bool ok = true;
    for (uint32_t i = 0; i < RECORDS && ok; i++)
        ok = put(u, i, true, &err);
    assert_false(record_unwind_stop(u, NULL, &err));
    assert_int_equal(err.code, ERR_IO);
    assert_true(s.file.ending.missing_bytes != 0);
    session_fini(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order), cmocka_unit_test(test_full)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
