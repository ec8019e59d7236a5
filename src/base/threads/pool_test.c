/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/threads/pool.h"

enum { JOBS = 1000 };

struct seen {
    atomic_uint times[JOBS];
    atomic_uint highest_thread;
    unsigned by_thread[POOL_THREADS_MAX]; /* not atomic: each thread has its own */
    size_t fails_from;
    bool in_order;
    size_t last;
};

static bool note(void *ctx, size_t job, unsigned thread, struct err *err) {
    struct seen *s = ctx;
    atomic_fetch_add(&s->times[job], 1);
    s->by_thread[thread]++;
    for (unsigned h = atomic_load(&s->highest_thread);
         thread > h && !atomic_compare_exchange_weak(&s->highest_thread, &h, thread);)
        ;
    if (job >= s->fails_from)
        return err_set(err, ERR_BROKEN, "job", "%zu", job);
    return true;
}

static void check_all_once(struct pool *pool, size_t jobs) {
    struct seen s = {.fails_from = JOBS};
    struct err err = ERR_INIT;
    unsigned sum = 0;
    assert_true(pool_run(pool, jobs, note, &s, &err));
    for (size_t i = 0; i < JOBS; i++)
        assert_int_equal(atomic_load(&s.times[i]), i < jobs);
    for (unsigned i = 0; i < POOL_THREADS_MAX; i++)
        sum += s.by_thread[i];
    assert_int_equal(sum, jobs);
    assert_true(atomic_load(&s.highest_thread) < pool_threads(pool));
    assert_int_equal(err.code, ERR_NONE);
}

static void test_each_job_is_done_once(void **state) {
    (void)state;
    const unsigned threads[] = {0, 1, 2, 3, 7, 1000};
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        struct pool *pool = pool_new(threads[t]);
        for (unsigned again = 0; again < 20; again++)
            check_all_once(pool, JOBS - again);
        check_all_once(pool, 0);
        check_all_once(pool, 1);
        pool_free(pool);
    }
}

static void test_threads(void **state) {
    (void)state;
    assert_null(pool_new(1));
    assert_int_equal(pool_threads(NULL), 1);
    struct pool *pool = pool_new(3);
    assert_int_equal(pool_threads(pool), 3);
    pool_free(pool); /* nothing was run */
    pool = pool_new(UINT32_MAX);
    assert_int_equal(pool_threads(pool), POOL_THREADS_MAX);
    pool_free(pool);
}

/* All jobs of a pool of n threads wait for each other: they are done only if n run at once. */
static bool meet(void *ctx, size_t job, unsigned thread, struct err *err) {
    (void)job, (void)thread, (void)err;
    int status = pthread_barrier_wait(ctx);
    return !status || status == PTHREAD_BARRIER_SERIAL_THREAD;
}

static void test_jobs_run_at_once(void **state) {
    (void)state;
    pthread_barrier_t barrier;
    struct pool *pool = pool_new(4);
    assert_int_equal(pthread_barrier_init(&barrier, NULL, 4), 0);
    for (unsigned again = 0; again < 10; again++)
        assert_true(pool_run(pool, 4, meet, &barrier, NULL));
    pthread_barrier_destroy(&barrier);
    pool_free(pool);
}

static bool note_order(void *ctx, size_t job, unsigned thread, struct err *err) {
    struct seen *s = ctx;
    (void)err;
    s->in_order &= !thread && (!job || s->last + 1 == job);
    s->last = job;
    return true;
}

static void test_alone_it_is_in_order(void **state) {
    (void)state;
    struct seen s = {.in_order = true};
    assert_true(pool_run(NULL, JOBS, note_order, &s, NULL));
    assert_true(s.in_order);
    assert_int_equal(s.last, JOBS - 1);
}

static void test_the_first_failure_counts(void **state) {
    (void)state;
    for (unsigned threads = 1; threads < 9; threads++) {
        struct pool *pool = pool_new(threads);
        for (unsigned again = 0; again < 50; again++) {
            struct seen s = {.fails_from = 100};
            struct err err = ERR_INIT;
            assert_false(pool_run(pool, JOBS, note, &s, &err));
            assert_string_equal(err.message, "100");
            assert_int_equal(atomic_load(&s.times[JOBS - 1]), 0);
            assert_false(pool_run(pool, JOBS, note, &s, NULL));
        }
        check_all_once(pool, JOBS);
        pool_free(pool);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_job_is_done_once),    cmocka_unit_test(test_threads),
        cmocka_unit_test(test_jobs_run_at_once),         cmocka_unit_test(test_alone_it_is_in_order),
        cmocka_unit_test(test_the_first_failure_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
