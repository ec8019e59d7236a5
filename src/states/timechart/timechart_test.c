/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "states/timechart/timechart.h"
#include "tests/support/fail_alloc.h"

static struct states_interval during(uint32_t thread, uint64_t since, uint64_t until,
                                     enum states_state state) {
    return (struct states_interval){
        .thread = thread, .since_ns = since, .until_ns = until, .state = state, .next = STATES_SLEEPING};
}

static void test_columns(void **state) {
    struct timechart t;
    (void)state;
    timechart_init(&t, 100, 200, 10);
    assert_true(timechart_choose(&t, 5));
    struct states_interval run = during(5, 105, 121, STATES_RUNNING),
                           wait = during(5, 121, 130, STATES_PREEMPTED);
    struct states_interval block = during(5, 150, 999, STATES_BLOCKED),
                           other = during(6, 100, 200, STATES_RUNNING);
    struct states_interval before = during(5, 0, 101, STATES_RUNNING),
                           sleep = during(5, 130, 140, STATES_SLEEPING);
    assert_true(timechart_add(&t, &run) && timechart_add(&t, &wait) && timechart_add(&t, &block) &&
                timechart_add(&t, &other) && timechart_add(&t, &before) && timechart_add(&t, &sleep));
    const struct timechart_cell *c = t.threads.items[0].cells;
    assert_int_equal(c[0].run_ns, 6);
    assert_int_equal(c[1].run_ns, 10);
    assert_int_equal(c[2].run_ns, 1);
    assert_int_equal(c[2].wait_ns, 9);
    assert_int_equal(c[3].run_ns + c[3].wait_ns + c[3].block_ns, 0);
    assert_int_equal(c[5].block_ns, 10);
    assert_int_equal(c[9].block_ns, 10);
    timechart_fini(&t);
}

static void test_power(void **state) {
    struct timechart t;
    (void)state;
    timechart_init(&t, 0, 100, 10);
    assert_true(timechart_idle(&t, 5, 3, 1));
    assert_true(timechart_idle(&t, 15, 3, TIMECHART_AWAKE));
    assert_true(timechart_idle(&t, 20, 3, 77)); /* deeper than any, until the end */
    assert_true(timechart_speed(&t, 50, 1, 2000000));
    assert_true(timechart_speed(&t, 75, 1, 1000000));
    assert_true(timechart_busy(&t, 0, 30, 3));
    timechart_finish(&t);
    assert_int_equal(t.cpus.items[0].row.what, 1);
    const struct timechart_power *p = t.cpus.items[1].power, *q = t.cpus.items[0].power;
    assert_int_equal(p[0].idle_ns[1], 5);
    assert_int_equal(p[1].idle_ns[1], 5);
    assert_int_equal(p[9].idle_ns[TIMECHART_IDLE_STATES - 1], 10);
    assert_int_equal(q[4].known_ns, 0);
    assert_int_equal(q[7].known_ns, 10);
    assert_true(q[7].speed == 5 * 2e6 + 5 * 1e6);
    assert_int_equal(t.max_khz, 2000000);
    assert_int_equal(t.cpus.items[1].row.cells[2].run_ns, 10);
    timechart_fini(&t);
}

/* However columns and intervals lie, no ns is lost, and none is added. */
static void test_random(void **state) {
    (void)state;
    srand(27);
    for (int round = 0; round < 300; round++) {
        struct timechart t;
        uint64_t begin = (uint64_t)(rand() % 1000), span = (uint64_t)(rand() % 5000), sum = 0, seen = 0;
        timechart_init(&t, begin, begin + span, (uint32_t)(rand() % 64));
        assert_true(timechart_choose(&t, 0));
        for (int i = 0; i < 40; i++) {
            uint64_t a = (uint64_t)(rand() % 7000), b = a + (uint64_t)(rand() % 900);
            struct states_interval x = during(0, a, b, STATES_RUNNING);
            assert_true(timechart_add(&t, &x));
            a = a < t.begin_ns ? t.begin_ns : a;
            b = b > t.end_ns ? t.end_ns : b;
            sum += b > a ? b - a : 0;
        }
        for (uint32_t c = 0; c < t.columns; c++)
            seen += t.threads.items[0].cells[c].run_ns;
        assert_true(seen == sum);
        timechart_fini(&t);
    }
}

static void test_bounds(void **state) {
    struct timechart t;
    (void)state;
    timechart_init(&t, 7, 7, 1000);
    assert_int_equal(t.columns, 1);
    timechart_fini(&t);
    timechart_init(&t, 0, UINT64_MAX, UINT32_MAX);
    assert_int_equal(t.columns, TIMECHART_COLUMNS_MAX);
    assert_true(timechart_choose(&t, 0));
    struct states_interval all = during(0, 0, UINT64_MAX, STATES_RUNNING);
    assert_true(timechart_add(&t, &all));
    timechart_fini(&t);
    timechart_init(&t, 0, 10, 1);
    for (uint32_t cpu = 0; cpu < TIMECHART_CPUS_MAX + 5; cpu++)
        assert_true(timechart_busy(&t, 0, 1, cpu));
    assert_int_equal(t.cpus.count, TIMECHART_CPUS_MAX);
    assert_true(t.cut);
    timechart_fini(&t);
}

static void a_little_of_all(void) {
    struct timechart t;
    struct timechart_totals totals = {0};
    struct states_interval x = during(1, 10, 20, STATES_RUNNING);
    timechart_init(&t, 0, 100, 10);
    bool ok = timechart_choose(&t, 1) && timechart_add(&t, &x) && timechart_busy(&t, 10, 20, 0) &&
              timechart_idle(&t, 5, 0, 1) && timechart_speed(&t, 5, 1, 100) &&
              timechart_totals_add(&totals, &x);
    if (ok)
        timechart_finish(&t);
    timechart_totals_fini(&totals);
    timechart_fini(&t);
}

static void test_memory(void **state) {
    (void)state;
    FAIL_EACH_ALLOC(a_little_of_all());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns), cmocka_unit_test(test_power),  cmocka_unit_test(test_random),
        cmocka_unit_test(test_bounds),  cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
