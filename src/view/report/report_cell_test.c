/* SPDX-License-Identifier: Apache-2.0 */
#include "view/report/report_cell.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static const char *percent_text(struct out *o, double percent, unsigned width, bool color) {
    o->len = 0;
    report_print_percent(percent, width, color, o);
    return out_text(o);
}

/* Whatever shortcut is taken, the digits are those of printf. */
static void percent_is_printfs(void **state) {
    (void)state;
    struct out o;
    char want[64];
    uint64_t seed = 1;
    assert_true(out_init(&o, NULL, NULL));
    for (int i = 0; i < 200000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        uint64_t whole = (seed >> 33) % 20000 + 1, part = (seed >> 20) % (whole + 1);
        double percent = report_percent(part, whole);
        snprintf(want, sizeof want, "%7.2f%%", percent);
        assert_string_equal(percent_text(&o, percent, 8, false), want);
        snprintf(want, sizeof want, "%.2f%%", percent);
        assert_string_equal(percent_text(&o, percent, 0, false), want);
    }
    out_fini(&o);
}

static void percent_has_limits_of_colors(void **state) {
    (void)state;
    struct out o;
    assert_true(out_init(&o, NULL, NULL));
    assert_string_equal(percent_text(&o, 100, 8, false), " 100.00%");
    assert_string_equal(percent_text(&o, 5, 8, true), "\033[31m   5.00%\033[m");
    assert_string_equal(percent_text(&o, 4.999, 0, true), "\033[32m5.00%\033[m");
    assert_string_equal(percent_text(&o, 0.5, 0, true), "\033[32m0.50%\033[m");
    assert_string_equal(percent_text(&o, 0.499, 0, true), "0.50%");
    assert_true(report_percent(1, 0) == 0);
    out_fini(&o);
}

static void units_are_thousands(void **state) {
    (void)state;
    static const struct {
        uint64_t n;
        const char *want;
    } rows[] = {{0, "0 "}, {195, "195 "}, {1000, "1000 "}, {1001, "1K"}, {12999, "12K"}, {1264318, "1M"}};
    struct out o;
    assert_true(out_init(&o, NULL, NULL));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        o.len = 0;
        report_print_unit(rows[i].n, &o);
        assert_string_equal(out_text(&o), rows[i].want);
    }
    out_fini(&o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(percent_is_printfs),
        cmocka_unit_test(percent_has_limits_of_colors),
        cmocka_unit_test(units_are_thousands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
