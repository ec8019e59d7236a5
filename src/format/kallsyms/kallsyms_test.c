/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "format/kallsyms/kallsyms_names.h"

static bool is(struct bytes b, const char *s) {
    return b.size == strlen(s) && memcmp(b.data, s, b.size) == 0;
}

static void test_lines(void **state) {
    (void)state;
    static const char TEXT[] = "ffffffff81000000 T _text\n"
                               "no line\n"
                               "\n"
                               "12345678123456781 T too_long\n"
                               "12\x13"
                               "4 T control_character\n"
                               "ffffffffc0000000 t init_one\t[ext4]\n"
                               "0 D x";
    struct bytes rest = {(const uint8_t *)TEXT, sizeof TEXT - 1};
    struct kallsyms_symbol s;
    assert_true(kallsyms_next(&rest, &s));
    assert_true(s.address == 0xffffffff81000000 && s.type == 'T' && is(s.name, "_text") && !s.module.size);
    assert_true(kallsyms_next(&rest, &s));
    assert_true(s.type == 't' && is(s.name, "init_one") && is(s.module, "ext4"));
    assert_true(kallsyms_next(&rest, &s));
    assert_true(s.address == 0 && is(s.name, "x"));
    assert_false(kallsyms_next(&rest, &s));
}

static void test_names(void **state) {
    (void)state;
    static const char TEXT[] =
        "ffffffff81000200 t later\nffffffff81000100 T first\nffffffff81000100 T alias\n"
        "ffffffff81000180 D data\n0 T hidden\nffffffffc0000000 t init_one\t[ext4]\n";
    struct kallsyms_names n = {0};
    assert_true(
        kallsyms_names_read(&n, (struct bytes){(const uint8_t *)TEXT, sizeof TEXT - 1}, KALLSYMS_FUNCTIONS));
    assert_int_equal(n.list.count, 4);
    assert_null(kallsyms_names_find(&n, 0xffffffff810000ff));
    assert_true(is(kallsyms_names_find(&n, 0xffffffff81000100)->name, "first"));
    assert_true(is(kallsyms_names_find(&n, 0xffffffff810001ff)->name, "first"));
    assert_true(is(kallsyms_names_find(&n, 0xffffffff81000200)->name, "later"));
    assert_true(is(kallsyms_names_find(&n, UINT64_MAX)->name, "init_one"));
    kallsyms_names_fini(&n);
    struct kallsyms_names variables = {0};
    assert_true(kallsyms_names_read(&variables, (struct bytes){(const uint8_t *)TEXT, sizeof TEXT - 1},
                                    KALLSYMS_VARIABLES));
    assert_int_equal(variables.list.count, 1);
    assert_true(is(kallsyms_names_find(&variables, 0xffffffff81000180)->name, "data"));
    kallsyms_names_fini(&variables);
    struct kallsyms_names none = {0};
    assert_true(kallsyms_names_read(&none, (struct bytes){NULL, 0}, KALLSYMS_FUNCTIONS) &&
                !kallsyms_names_find(&none, 1));
    kallsyms_names_fini(&none);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines), cmocka_unit_test(test_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
