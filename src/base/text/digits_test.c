/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>

#include "base/text/digits.h"

/* Values around every power of two and of ten, where digits begin and end. */
static size_t interesting(uint64_t *values) {
    size_t n = 0;
    for (unsigned bit = 0; bit < 64; bit++)
        for (int d = -1; d <= 1; d++)
            values[n++] = (1ull << bit) + (uint64_t)d;
    for (uint64_t p = 1; p; p = p <= UINT64_MAX / 10 ? p * 10 : 0)
        for (int d = -1; d <= 1; d++)
            values[n++] = p + (uint64_t)d;
    values[n++] = UINT64_MAX;
    values[n++] = 0x0123456789abcdef;
    values[n++] = 0xfedcba9876543210;
    return n;
}

static void check(const char *got, const char *end, const char *want) {
    assert_int_equal(end - got, strlen(want));
    assert_memory_equal(got, want, strlen(want));
}

static void test_hex(void **state) {
    (void)state;
    uint64_t values[512];
    size_t n = interesting(values);
    for (size_t i = 0; i < n; i++) {
        char got[32], want[32];
        snprintf(want, sizeof want, "%16" PRIx64, values[i]);
        check(got, digits_hex16(got, values[i]), want);
    }
}

static void test_decimal(void **state) {
    (void)state;
    static const unsigned widths[] = {0, 1, 5, 10, 20, 24};
    uint64_t values[512];
    size_t n = interesting(values);
    for (size_t i = 0; i < n; i++) {
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
            char got[64], want[64];
            snprintf(want, sizeof want, "%*" PRIu64, (int)widths[w], values[i]);
            check(got, digits_dec(got, values[i], widths[w]), want);
        }
    }
}

static void test_fixed(void **state) {
    (void)state;
    for (unsigned v = 0; v < 1000000; v += v < 2000 ? 1 : 997) {
        char got[16], want[16];
        snprintf(want, sizeof want, "%06u", v);
        check(got, digits_six(got, v), want);
    }
    for (unsigned v = 0; v < 100; v++) {
        char got[4], want[4];
        snprintf(want, sizeof want, "%02u", v);
        check(got, digits_two(got, v), want);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hex),
        cmocka_unit_test(test_decimal),
        cmocka_unit_test(test_fixed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
