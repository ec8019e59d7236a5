/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "format/kallsyms/kallsyms.h"

static bool is(struct bytes b, const char *s) {
    return b.size == strlen(s) && memcmp(b.data, s, b.size) == 0;
}

static void test_lines(void **state) {
    (void)state;
    static const char TEXT[] = "ffffffff81000000 T _text\n"
                               "no line\n"
                               "\n"
                               "12345678123456781 T too_long\n"
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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
