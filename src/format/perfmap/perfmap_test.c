/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "format/perfmap/perfmap.h"

static bool is(const struct perfmap_symbol *s, uint64_t start, uint64_t size, const char *name) {
    return s->start == start && s->size == size && s->name.size == strlen(name) &&
           memcmp(s->name.data, name, s->name.size) == 0;
}

static void test_lines(void **state) {
    (void)state;
    static const char TEXT[] = "7f10 20 LazyCompile:~f main.js:1 (a b)\r\n"
                               "0x10\t0x8  plain\n"
                               "10 20\n"
                               "10 20 \n"
                               "xyz 20 f\n"
                               "10 zz f\n"
                               "10\n"
                               "\n"
                               "12345678123456781 1 too_long\n"
                               "fFFFffffffffffff 1 high\n"
                               "0 0 last";
    struct bytes rest = {(const uint8_t *)TEXT, sizeof TEXT - 1};
    struct perfmap_symbol s;
    assert_true(perfmap_next(&rest, &s) && is(&s, 0x7f10, 0x20, "LazyCompile:~f main.js:1 (a b)"));
    assert_true(perfmap_next(&rest, &s) && is(&s, 0x10, 8, "plain"));
    assert_true(perfmap_next(&rest, &s) && is(&s, UINT64_MAX, 1, "high"));
    assert_true(perfmap_next(&rest, &s) && is(&s, 0, 0, "last"));
    assert_false(perfmap_next(&rest, &s));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
