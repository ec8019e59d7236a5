/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "states/sched/latency.h"

static void apply(struct states *s, enum states_event_kind kind, uint64_t time, uint32_t cpu, uint32_t tid,
                  const char *comm) {
    const struct states_event e = {.kind = kind,
                                   .time_ns = time,
                                   .cpu = cpu,
                                   .tid = tid,
                                   .other = cpu,
                                   .state = STATES_SLEEPING,
                                   .comm = {(const uint8_t *)comm, strlen(comm)}};
    assert_true(states_apply(s, &e));
}

/* Threads 1 and 3 of "a", and 2 of "b", on two CPUs; 3 waits until the end. */
static void play(struct latency *l, struct states *s) {
    states_init(s, latency_add, l);
    apply(s, STATES_IN, 100, 0, 1, "a");
    apply(s, STATES_IN, 100, 1, 2, "b");
    apply(s, STATES_OUT, 200, 0, 1, "a");
    apply(s, STATES_IN, 200, 0, 0, "idle");
    apply(s, STATES_WAKE, 250, 0, 1, "a");
    apply(s, STATES_OUT, 260, 0, 0, "idle");
    apply(s, STATES_IN, 260, 0, 1, "a");
    apply(s, STATES_OUT, 400, 1, 2, "b");
    apply(s, STATES_WAKE, 410, 1, 2, "b");
    apply(s, STATES_IN, 440, 1, 2, "b");
    apply(s, STATES_WAKE, 450, 1, 3, "a");
    apply(s, STATES_TICK, 500, 1, 0, "");
    assert_true(states_finish(s));
}

static void check_row(const struct latency_row *r, uint64_t run, uint64_t delays, uint64_t delay,
                      uint64_t max_since) {
    assert_int_equal(r->run_ns, run);
    assert_int_equal(r->delays, delays);
    assert_int_equal(r->delay_ns, delay);
    assert_int_equal(r->max_since_ns, max_since);
}

static void ran(struct states *s, uint64_t time, uint32_t tid, uint64_t ns) {
    const struct states_event e = {
        .kind = STATES_RAN, .time_ns = time, .cpu = 0, .tid = tid, .other = STATES_NONE, .ran_ns = ns};
    assert_true(states_apply(s, &e));
}

/* The scheduler's own account counts where there is one, but not for single CPUs: the switch to thread 1 is
 * missing. */
static void test_told_run_time(void **state) {
    (void)state;
    struct latency l = {0}, one_cpu = {0};
    struct filter_ranges cpus = {0};
    struct states s;
    struct latency_order order;
    struct bytes bad;
    assert_true(latency_order_parse("runtime", &order, &bad));
    for (int i = 0; i < 2; i++) {
        struct latency *to = i ? &one_cpu : &l;
        states_init(&s, latency_add, to);
        apply(&s, STATES_IN, 100, 0, 0, "idle");
        apply(&s, STATES_WAKE, 150, 0, 1, "a");
        ran(&s, 190, 1, 35);
        ran(&s, 200, 1, 7);
        apply(&s, STATES_OUT, 200, 0, 1, "a");
        ran(&s, 210, 2, 4000000); /* most of it from before the first event */
        assert_true(states_finish(&s));
        if (i) {
            assert_true(vec_push(&cpus.list) != NULL);
            cpus.list.items[0].first = cpus.list.items[0].last = 0;
            one_cpu.cpus = &cpus;
        }
        assert_true(latency_finish(to, &s, false, &order));
        assert_int_equal(to->rows.count, i ? 0 : 2);
        if (!i) {
            assert_int_equal(to->rows.items[0].run_ns, 110);
            assert_int_equal(to->rows.items[1].run_ns, 42);
        }
        states_fini(&s);
        latency_fini(to);
    }
    vec_fini(&cpus.list);
}

static void test_rows(void **state) {
    (void)state;
    struct latency l = {0};
    struct states s;
    struct latency_order order;
    struct bytes bad;
    assert_true(latency_order_parse("avg,max", &order, &bad));
    play(&l, &s);
    assert_true(latency_finish(&l, &s, false, &order));
    assert_int_equal(l.rows.count, 3); /* not the idle thread */
    check_row(&l.rows.items[0], 360, 1, 30, 410);
    check_row(&l.rows.items[1], 340, 1, 10, 250);
    check_row(&l.rows.items[2], 0, 0, 0, 0);
    assert_int_equal(l.rows.items[2].open, 1);
    latency_fini(&l);
    states_fini(&s);
}

static void test_merged_and_of_one_cpu(void **state) {
    (void)state;
    struct filter_ranges cpus = {0};
    struct latency l = {.cpus = &cpus};
    struct states s;
    struct latency_order order;
    struct bytes bad;
    assert_true(filter_ranges_parse("-C", "0", &cpus, NULL));
    assert_true(latency_order_parse("runtime", &order, &bad));
    play(&l, &s);
    assert_true(latency_finish(&l, &s, true, &order));
    assert_int_equal(l.rows.count, 1);
    check_row(&l.rows.items[0], 340, 1, 10, 250);
    latency_fini(&l);
    states_fini(&s);
    filter_ranges_fini(&cpus);
    l = (struct latency){0};
    play(&l, &s);
    assert_true(latency_finish(&l, &s, true, &order));
    assert_int_equal(l.rows.count, 2);
    check_row(&l.rows.items[0], 360, 1, 30, 410);
    check_row(&l.rows.items[1], 340, 1, 10, 250);
    assert_int_equal(l.rows.items[1].threads, 2);
    latency_fini(&l);
    states_fini(&s);
}

static void test_keys(void **state) {
    (void)state;
    struct latency_order order;
    struct bytes bad;
    assert_true(latency_order_parse("max, runtime,max", &order, &bad));
    assert_int_equal(order.count, 2);
    assert_int_equal(order.keys[0], LATENCY_MAX);
    assert_int_equal(order.keys[1], LATENCY_RUNTIME);
    assert_false(latency_order_parse("max,none", &order, &bad));
    assert_int_equal(bad.size, 4);
    assert_memory_equal(bad.data, "none", 4);
    assert_false(latency_order_parse("", &order, &bad));
}

static void test_nothing(void **state) {
    (void)state;
    struct latency l = {0};
    struct states s;
    states_init(&s, latency_add, &l);
    assert_true(states_finish(&s));
    assert_true(latency_finish(&l, &s, true, &(struct latency_order){{LATENCY_AVG}, 1}));
    latency_fini(&l);
    states_fini(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_told_run_time),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_merged_and_of_one_cpu),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
