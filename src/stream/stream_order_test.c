/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stream/stream_order.h"

#include <stdlib.h>

/* A small fixed generator (xorshift64): the same input in every run. */
static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static int compare_items(const void *a, const void *b) {
    const struct order_item *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return x->loc < y->loc ? -1 : x->loc > y->loc;
}

/* Pushes n items made by `make`, finishes, and compares what comes out with the C library's sort. */
static void check_sorted(size_t n, uint64_t (*make)(size_t i, uint64_t *state)) {
    struct order_queue q;
    order_queue_init(&q);
    struct order_item *want = calloc(n ? n : 1, sizeof *want), got;
    uint64_t state = 88172645463325252u;
    for (size_t i = 0; i < n; i++) {
        want[i] = (struct order_item){make(i, &state), i};
        assert_true(order_queue_push(&q, want[i].time_ns, want[i].loc));
    }
    assert_false(order_queue_pop(&q, &got)); /* nothing before a round ends */
    assert_true(order_queue_finish(&q));
    qsort(want, n, sizeof *want, compare_items);
    for (size_t i = 0; i < n; i++) {
        assert_true(order_queue_pop(&q, &got));
        assert_int_equal(got.time_ns, want[i].time_ns);
        assert_int_equal(got.loc, want[i].loc);
    }
    assert_false(order_queue_pop(&q, &got));
    assert_int_equal(q.unordered, 0);
    free(want);
    order_queue_fini(&q);
}

static uint64_t ascending(size_t i, uint64_t *state) {
    return (void)state, i;
}
static uint64_t descending(size_t i, uint64_t *state) {
    return (void)state, 1000000 - i;
}
static uint64_t equal(size_t i, uint64_t *state) {
    return (void)i, (void)state, 7;
}
static uint64_t random_time(size_t i, uint64_t *state) {
    return (void)i, next_random(state);
}
static uint64_t few_values(size_t i, uint64_t *state) {
    return (void)i, next_random(state) % 5;
}
/* Four per-CPU runs of 500, each in order, one after the other. */
static uint64_t cpu_runs(size_t i, uint64_t *state) {
    return (void)state, (i % 500) * 10 + i / 500;
}
static uint64_t organ_pipe(size_t i, uint64_t *state) {
    return (void)state, i < 5000 ? i : 10000 - i;
}

static void test_sorts_like_qsort(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, 2, 24, 25, 100, 2000, 10000};
    uint64_t (*const makers[])(size_t, uint64_t *) = {ascending,  descending, equal,     random_time,
                                                      few_values, cpu_runs,   organ_pipe};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t m = 0; m < sizeof makers / sizeof *makers; m++)
            check_sorted(sizes[s], makers[m]);
}

/* A round delivers up to the latest time of the round before: events of its own round may still be overtaken.
 */
static void test_rounds(void **state) {
    (void)state;
    struct order_queue q;
    struct order_item got;
    order_queue_init(&q);
    order_queue_push(&q, 30, 1);
    order_queue_push(&q, 10, 2);
    assert_true(order_queue_round(&q));
    assert_false(order_queue_pop(&q, &got));
    order_queue_push(&q, 20, 3); /* late, but not after anything delivered */
    order_queue_push(&q, 50, 4);
    assert_true(order_queue_round(&q));
    static const uint64_t first[] = {10, 20, 30};
    for (int i = 0; i < 3; i++) {
        assert_true(order_queue_pop(&q, &got));
        assert_int_equal(got.time_ns, first[i]);
    }
    assert_false(order_queue_pop(&q, &got));
    order_queue_push(&q, 15, 5); /* broken promise: counted, and delivered next */
    assert_int_equal(q.unordered, 1);
    assert_true(order_queue_finish(&q));
    assert_true(order_queue_pop(&q, &got));
    assert_int_equal(got.time_ns, 15);
    assert_true(order_queue_pop(&q, &got));
    assert_int_equal(got.time_ns, 50);
    order_queue_fini(&q);
}

/* Long recordings with rounds do not grow: what was delivered makes room. */
static void test_bounded(void **state) {
    (void)state;
    struct order_queue q;
    struct order_item got;
    order_queue_init(&q);
    uint64_t n = 0, last = 0, popped = 0;
    for (int round = 0; round < 2000; round++) {
        for (int i = 0; i < 1000; i++, n++)
            assert_true(order_queue_push(&q, n + 500 - (n % 500) * 2, n));
        assert_true(order_queue_round(&q));
        for (; order_queue_pop(&q, &got); popped++) {
            assert_true(got.time_ns >= last);
            last = got.time_ns;
        }
    }
    assert_true(popped > n - 4000);
    assert_true(q.cap < 16384);
    assert_int_equal(q.unordered, 0);
    order_queue_fini(&q);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sorts_like_qsort),
        cmocka_unit_test(test_rounds),
        cmocka_unit_test(test_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
