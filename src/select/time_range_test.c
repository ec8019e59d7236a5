/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "select/time_range.h"

/* A recording with 101 samples, one each microsecond from second 1 on. */
enum { SAMPLES = 101, STEP_NS = 1000 };
static const uint64_t FIRST_NS = 1000000000;

/* Which of the samples a text selects, as "0-9 20-29"; "invalid" when it is refused. */
static const char *selected(const char *text, char out[256]) {
    struct time_ranges r = {0};
    struct err err = ERR_INIT;
    out[0] = 0;
    if (!time_ranges_parse(text, FIRST_NS, FIRST_NS + (SAMPLES - 1) * STEP_NS, &r, &err)) {
        assert_int_equal(err.code, ERR_USAGE);
        strcpy(out, "invalid");
    } else {
        for (int i = 0, start = -1; i <= SAMPLES; i++) {
            bool in = i < SAMPLES && time_ranges_contain(&r, FIRST_NS + (uint64_t)i * STEP_NS);
            if (in && start < 0)
                start = i;
            if (!in && start >= 0) {
                snprintf(out + strlen(out), 256 - strlen(out), "%s%d-%d", *out ? " " : "", start, i - 1);
                start = -1;
            }
        }
    }
    time_ranges_fini(&r);
    return out;
}

/* The right-hand sides are what perf 7.2 printed for such a recording. */
static const struct {
    const char *text, *want;
} rows[] = {
    {"10%/1", "0-9"},
    {"10%/2", "10-19"},
    {"10%/10", "90-100"},
    {"10%/1,10%/3", "0-9 20-29"},
    {"10%/2,10%/3", "10-29"},
    {"10%/3,10%/1", "0-9 20-29"},
    {"20%/1,10%/4", "0-19 30-39"},
    {"0%-100%", "0-100"},
    {"0%-10%,10%-20%", "0-19"},
    {"5%-15%,30%-40%", "5-14 30-39"},
    {"20%-30%,0%-10%", "0-9 20-29"},
    {"0%-10%,5%-20%", "0-19"},
    {"5%", "0-4"},
    {"7.5%", "0-7"},
    {"33%/2", "33-65"},
    {"33.33%/3", "67-99"},
    {"0.5%/1", "0-0"},
    {"0.5%/2", ""},
    {"99.5%-100%", "100-100"},
    {"0%-0%", "0-0"},
    {"10%-5%", ""},
    {"100%/1", "0-100"},
    {"3%/33", "96-98"},
    {"10%/1,", "0-9"},
    {"1.00001,1.00002", "10-20"},
    {" 1.00001,1.00002", "10-20"},
    {"1.00001,", "10-100"},
    {",1.00002", "0-20"},
    {"1.,", "0-100"},
    {".5,", "0-100"},
    {",", "0-100"},
    {"5000,", ""},
    {"1.0000001,1.0000105", "1-10"},
    {"1,1.000005 1.00009,", "0-5 90-100"},
    {"1,1.00001 1.00002,1.00003 1.00005,", "0-10 20-30 50-100"},
    {",1.00001 1.00002,1.00003", "0-10 20-30"},
    {"10%/11", "invalid"},
    {"10%/0", "invalid"},
    {"110%/1", "invalid"},
    {"3%/34", "invalid"},
    {"50%/3", "invalid"},
    {"200%", "invalid"},
    {"10%-110%", "invalid"},
    {"10%-", "invalid"},
    {"-10%", "invalid"},
    {"5%/x", "invalid"},
    {"5%-x%", "invalid"},
    {"1x", "invalid"},
    {"1.00001", "invalid"},
    {"1,2,3", "invalid"},
    {"x,y", "invalid"},
    {"", "invalid"},
    {"1.00002,1.00001", "invalid"},
    {"1.0000123456789,", "invalid"},
    {"1,1.00001 1.00001,1.00002", "invalid"},
    {"1,1.000005 1.000004,1.00001", "invalid"},
    {"99999999999999999999,", "invalid"},
    {"99999999999,", "invalid"},
};

static void test_selection(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char got[256];
        if (strcmp(selected(rows[i].text, got), rows[i].want))
            fail_msg("'%s' selects '%s', not '%s'", rows[i].text, got, rows[i].want);
    }
}

static void test_nothing_given(void **state) {
    (void)state;
    struct time_ranges none = {0};
    assert_true(time_ranges_contain(&none, 0));
    assert_true(time_ranges_contain(&none, UINT64_MAX));
    assert_true(time_ranges_relative("5%"));
    assert_false(time_ranges_relative("1,2"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_selection),
        cmocka_unit_test(test_nothing_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
