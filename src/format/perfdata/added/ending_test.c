/* SPDX-License-Identifier: Apache-2.0 */
#include "format/perfdata/added/ending.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "format/perfdata/added/evidence.h"

static void test_round_trip(void **state) {
    (void)state;
    const struct perfdata_ending in = {PERFDATA_ENDING_OPEN, 1 << 20, 1000000000};
    for (int swap = 0; swap < 2; swap++) {
        struct writer w = writer_make(swap);
        struct perfdata_ending out;
        perfdata_ending_encode(&in, &w);
        assert_true(perfdata_ending_decode(writer_bytes(&w), swap, &out));
        assert_int_equal(out.how, in.how);
        assert_int_equal(out.missing_bytes, in.missing_bytes);
        assert_int_equal(out.missing_ns, in.missing_ns);
        for (size_t cut = 0; cut < w.size; cut++) {
            assert_false(perfdata_ending_decode((struct bytes){w.data, cut}, swap, &out));
            assert_int_equal(out.how, PERFDATA_ENDING_UNKNOWN);
            assert_int_equal(out.missing_bytes, 0);
        }
        writer_fini(&w);
    }
}

/* In a box between others: they stay, and the checksum is right again. */
static void test_replace(void **state) {
    (void)state;
    struct writer one = writer_make(false), box = writer_make(false);
    const struct perfdata_ending whole = {.how = PERFDATA_ENDING_WHOLE};
    struct perfdata_ending out;
    struct perfdata_part p;
    perfdata_ending_encode(&(struct perfdata_ending){PERFDATA_ENDING_OPEN, 5, 6}, &one);
    const struct perfdata_part parts[] = {
        {PERFDATA_PART_SECTIONS, {(const uint8_t *)"lines", 5}},
        {PERFDATA_PART_ENDING, writer_bytes(&one)},
    };
    perfdata_box_encode(parts, 2, &box);
    assert_int_equal(perfdata_ending_replace(&whole, box.data, box.size), 8);
    assert_int_equal(perfdata_box_size(writer_bytes(&box), false), box.size);
    assert_true(perfdata_box_part(writer_bytes(&box), false, 0, &p));
    assert_true(bytes_equal(p.content, parts[0].content));
    assert_true(perfdata_box_part(writer_bytes(&box), false, 1, &p));
    assert_true(perfdata_ending_decode(p.content, false, &out));
    assert_int_equal(out.how, PERFDATA_ENDING_WHOLE);
    assert_int_equal(out.missing_bytes, 0);
    writer_clear(&box);
    perfdata_box_encode(parts, 1, &box);
    assert_int_equal(perfdata_ending_replace(&whole, box.data, box.size), box.size);
    writer_fini(&one);
    writer_fini(&box);
}

static void test_errno(void **state) {
    (void)state;
    assert_int_equal(perfdata_ending_of_errno(ENOSPC), PERFDATA_ENDING_FULL);
    assert_int_equal(perfdata_ending_of_errno(EDQUOT), PERFDATA_ENDING_QUOTA);
    assert_int_equal(perfdata_ending_of_errno(EFBIG), PERFDATA_ENDING_LIMIT);
    assert_int_equal(perfdata_ending_of_errno(EIO), PERFDATA_ENDING_ERROR);
    assert_true(perfdata_ending_failed(PERFDATA_ENDING_LIMIT));
    assert_false(perfdata_ending_failed(PERFDATA_ENDING_MAX_SIZE));
    assert_false(perfdata_ending_failed(PERFDATA_ENDING_OPEN));
}

static void test_text(void **state) {
    (void)state;
    static const struct {
        struct perfdata_ending ending;
        const char *text; /* NULL: there is nothing to say */
    } cases[] = {
        {{PERFDATA_ENDING_UNKNOWN, 0, 0}, NULL},
        {{PERFDATA_ENDING_WHOLE, 0, 0}, NULL},
        {{PERFDATA_ENDING_MAX_SIZE, 0, 0}, NULL},
        {{99, 1, 1}, NULL},
        {{PERFDATA_ENDING_OPEN, 1500000, 1000000000},
         "was not finished (the recorder was killed, or still runs): at most 1.5 MB of records, of the last "
         "1.0 "
         "s, are missing"},
        {{PERFDATA_ENDING_OPEN, 9999, 0},
         "was not finished (the recorder was killed, or still runs): at most 9999 bytes of records are "
         "missing"},
        {{PERFDATA_ENDING_OPEN, 0, 0},
         "was not finished (the recorder was killed, or still runs): what came last is missing"},
        {{PERFDATA_ENDING_FULL, 123456, 0},
         "stopped early, because the disk was full: 123 KB of records are missing"},
        {{PERFDATA_ENDING_ERROR, 0, 0}, "stopped early, because it could not be written"},
    };
    char room[PERFDATA_ENDING_TEXT];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = perfdata_ending_text(&cases[i].ending, room);
        if (cases[i].text)
            assert_string_equal(text, cases[i].text);
        else
            assert_null(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_replace),
        cmocka_unit_test(test_errno),
        cmocka_unit_test(test_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
