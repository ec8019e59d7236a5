/* SPDX-License-Identifier: Apache-2.0 */
/* Ticks: what is kept of each sample, with equal periods and with others, in one piece and in two. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profile/collect/builder.h"

static void add(struct profile_ticks *t, uint64_t ns, uint64_t period, uint32_t stack) {
    struct profile_stack sample = {.first_ns = ns, .period = period, .samples = 1};
    assert_true(profile_ticks_add(t, &sample, stack));
}

static void check(const struct profile_ticks *t, size_t i, uint32_t stack, float period) {
    assert_int_equal(t->stacks.items[i], stack);
    assert_true((t->periods.count ? t->periods.items[i] : t->period) == period);
}

static void equal_periods(void **state) {
    struct profile_ticks t = {0};
    (void)state;
    for (uint32_t i = 0; i < 100; i++)
        add(&t, 1000 + i, 7, i);
    assert_int_equal(t.periods.count, 0);
    assert_int_equal(t.spans.count, 1);
    add(&t, 1000 + PROFILE_TICK_NS, 7, 5); /* later */
    add(&t, 500, 7, 6);                    /* another CPU's, earlier */
    assert_int_equal(t.spans.count, 3);
    assert_int_equal(t.spans.items[1].first, 100);
    assert_int_equal(t.spans.items[2].first, 101);
    assert_int_equal(t.spans.items[2].ns, 500);
    assert_true(t.first_ns == 500 && t.last_ns == 1000 + PROFILE_TICK_NS);
    check(&t, 99, 99, 7);
    check(&t, 101, 6, 7);
    profile_ticks_fini(&t);
}

static void other_periods(void **state) {
    struct profile_ticks t = {0};
    (void)state;
    add(&t, 1, 7, 1);
    add(&t, 2, 7, 2);
    add(&t, 3, 9, 3);
    add(&t, 4, 7, 4);
    assert_int_equal(t.periods.count, 4);
    check(&t, 1, 2, 7);
    check(&t, 2, 3, 9);
    check(&t, 3, 4, 7);
    profile_ticks_fini(&t);
}

/* Merges pieces with the periods given, zero: none, and checks all. */
static void check_merged(uint64_t first, uint64_t second, uint64_t odd) {
    const uint32_t now[] = {30, 31, 32, 33};
    struct profile_ticks to = {0}, from = {0};
    for (uint32_t i = 0; first && i < 3; i++)
        add(&to, 100 + i, first, i);
    for (uint32_t i = 0; second && i < 3; i++)
        add(&from, 900000 + i, second, i);
    if (odd)
        add(&from, 900003, odd, 3);
    assert_true(profile_ticks_merge(&to, &from, now));
    size_t had = first ? 3 : 0;
    assert_int_equal(to.stacks.count, had + from.stacks.count);
    assert_int_equal(to.spans.count, (first != 0) + (from.stacks.count > 0));
    assert_true(to.first_ns == (first ? 100 : 900000));
    for (size_t i = 0; i < had; i++)
        check(&to, i, (uint32_t)i, (float)first);
    for (size_t i = 0; i < from.stacks.count; i++)
        check(&to, had + i, now[i], i < 3 ? (float)second : (float)odd);
    if (first && second)
        assert_int_equal(to.spans.items[1].first, 3);
    profile_ticks_fini(&to);
    profile_ticks_fini(&from);
}

static void merged(void **state) {
    (void)state;
    check_merged(7, 7, 0);
    check_merged(7, 9, 0);
    check_merged(7, 7, 8);
    check_merged(0, 7, 0);
    check_merged(0, 7, 8);
    check_merged(7, 0, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_periods),
        cmocka_unit_test(other_periods),
        cmocka_unit_test(merged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
