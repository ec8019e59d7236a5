/* SPDX-License-Identifier: Apache-2.0 */
#include "format/perfdata/added/unwound.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct bytes text_of(const char *text) {
    return (struct bytes){(const uint8_t *)text, strlen(text)};
}

static void test_round_trip(void **state) {
    (void)state;
    const struct perfdata_unwound in = {100, 80, 15, 5, 2};
    struct perfdata_unwound out;
    struct writer w = writer_make(false);
    perfdata_unwound_encode(&in, &w);
    perfdata_unwound_encode_cut(12, "/lib/a b.so", &w);
    perfdata_unwound_encode_cut(3, "/lib/c.so", &w);
    assert_true(writer_ok(&w));
    struct bytes rest = writer_bytes(&w), image;
    uint64_t stacks;
    assert_true(perfdata_unwound_decode(rest, &out));
    assert_memory_equal(&in, &out, sizeof in);
    assert_true(perfdata_unwound_next_cut(&rest, &stacks, &image));
    assert_int_equal(stacks, 12);
    assert_true(bytes_equal(image, text_of("/lib/a b.so")));
    assert_true(perfdata_unwound_next_cut(&rest, &stacks, &image));
    assert_int_equal(stacks, 3);
    assert_true(bytes_equal(image, text_of("/lib/c.so")));
    assert_false(perfdata_unwound_next_cut(&rest, &stacks, &image));
    writer_fini(&w);
}

static void test_damage(void **state) {
    (void)state;
    static const char *const NONE[] = {"",
                                       "stacks",
                                       "stacks\t",
                                       "stacks\t1\t2\t3\t4",
                                       "stacks\t1",
                                       "stacks\t1x\t2\t3",
                                       "\n\n",
                                       "cut\tx\ty",
                                       "stacks\t99999999999999999999\t1\t1\t1\t1"};
    struct perfdata_unwound out;
    for (size_t i = 0; i < sizeof NONE / sizeof *NONE; i++) {
        struct bytes rest = text_of(NONE[i]), image;
        uint64_t stacks;
        assert_false(perfdata_unwound_decode(rest, &out));
        assert_int_equal(out.stacks, 0);
        assert_false(perfdata_unwound_next_cut(&rest, &stacks, &image));
    }
    assert_false(perfdata_unwound_decode((struct bytes){NULL, 0}, &out));
    /* A newer line, a damaged one, and then a good one. */
    assert_true(perfdata_unwound_decode(text_of("newer\t1\nstacks\tx\nstacks\t9\t8\t0\t1\t0"), &out));
    assert_int_equal(out.whole, 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_round_trip), cmocka_unit_test(test_damage)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
