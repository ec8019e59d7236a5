/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "states/sched/timehist.h"
#include "tests/support/fail_alloc.h"

struct lines {
    VEC(struct timehist_line) list;
};

static bool take(void *ctx, const struct states *s, const struct timehist_line *line) {
    (void)s;
    struct lines *l = ctx;
    struct timehist_line *to = vec_push(&l->list);
    if (to)
        *to = *line;
    return to;
}

static const struct filter_ranges no_ranges;
static const struct time_ranges all_times;

struct session {
    struct states states;
    struct timehist timehist;
    struct lines lines;
};

static void start(struct session *x) {
    *x = (struct session){.timehist = {.choice = {&no_ranges, &no_ranges, &no_ranges, &all_times},
                                       .line = take,
                                       .ctx = &x->lines}};
    states_init(&x->states, timehist_interval, &x->timehist);
    x->states.tap = timehist_event;
}

static void stop(struct session *x) {
    states_fini(&x->states);
    timehist_fini(&x->timehist);
    vec_fini(&x->lines.list);
}

static bool apply(struct session *x, enum states_event_kind kind, uint64_t time, uint32_t tid,
                  uint32_t other) {
    const struct states_event e = {
        .kind = kind, .time_ns = time, .tid = tid, .other = other, .from = 2, .state = STATES_SLEEPING};
    return states_apply(&x->states, &e);
}

/* Thread 1 runs, begins another program, sleeps, is woken and moved, waits, runs. */
static bool play(struct session *x) {
    return apply(x, STATES_IN, 10, 1, 0) && apply(x, STATES_EXEC, 15, 1, 1) &&
           apply(x, STATES_OUT, 30, 1, 0) && apply(x, STATES_IN, 30, 2, 0) &&
           apply(x, STATES_WAKE, 40, 1, 0) && apply(x, STATES_WAKE, 41, 1, 0) &&
           apply(x, STATES_MIGRATE, 42, 1, 0) && apply(x, STATES_OUT, 45, 2, 0) &&
           apply(x, STATES_IN, 45, 1, 0) && apply(x, STATES_OUT, 49, 1, 0) && states_finish(&x->states) &&
           timehist_finish(&x->timehist, &x->states);
}

static void check_line(const struct timehist_line *l, enum timehist_kind kind, uint64_t time, uint64_t wait,
                       uint64_t delay, uint64_t run) {
    assert_int_equal(l->kind, kind);
    assert_int_equal(l->time_ns, time);
    assert_int_equal(l->wait_ns, wait);
    assert_int_equal(l->delay_ns, delay);
    assert_int_equal(l->run_ns, run);
}

static void test_lines(void **state) {
    (void)state;
    struct session x;
    start(&x);
    assert_true(play(&x));
    const struct timehist_line *l = x.lines.list.items;
    assert_int_equal(x.lines.list.count, 5); /* the second wake says nothing new */
    check_line(&l[0], TIMEHIST_SWITCH, 30, 0, 0, 20);
    assert_int_equal(l[0].other, states_find(&x.states, 2, 0));
    check_line(&l[1], TIMEHIST_WAKE, 40, 0, 0, 0);
    assert_int_equal(l[1].thread, states_find(&x.states, 2, 0));
    check_line(&l[2], TIMEHIST_MIGRATE, 42, 0, 0, 0);
    assert_int_equal(l[2].from_cpu, 2);
    check_line(&l[3], TIMEHIST_SWITCH, 45, 0, 0, 15);
    check_line(&l[4], TIMEHIST_SWITCH, 49, 15, 5, 4);
    assert_int_equal(l[4].other, STATES_NONE);
    const struct timehist_thread *t = &x.timehist.threads.items[states_find(&x.states, 1, 0)];
    assert_int_equal(t->count, 2);
    assert_int_equal(t->total_ns, 24);
    assert_int_equal(t->min_ns, 4);
    assert_int_equal(t->max_ns, 20);
    assert_int_equal(t->migrations, 1);
    /* Runs of 20 and 4: mean 12, variance 128, of the mean 64. */
    assert_true(fabs(timehist_deviation(t) - 100.0 * 8 / 12) < 1e-9);
    stop(&x);
}

static void test_out_of_memory(void **state) {
    (void)state;
    FAIL_EACH_ALLOC({
        struct session x;
        start(&x);
        play(&x);
        stop(&x);
    });
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines), cmocka_unit_test(test_out_of_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
