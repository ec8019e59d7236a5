/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "waits/futex.h"

enum { WAIT = 0, LOCK_PI = 6, WAIT_BITSET = 9, PRIVATE = 128 };

/* Words at -12, -8, -4, 0, 4, ... of the futex. */
typedef uint32_t words[9];
_Static_assert(sizeof(words) == WAITS_FUTEX_BEFORE + WAITS_FUTEX_AFTER, "all that is looked at");

static struct waits_futex_claim claim(uint32_t op, uint32_t value, bool limited, const words w) {
    return waits_futex_claim(
        &(struct waits_futex){.op = op, .value = value, .limited = limited, .around = (const uint8_t *)w});
}

static void mutexes(void **state) {
    (void)state;
    words w = {0, 0, 0, 2, 0, 77, 1, 0};
    struct waits_futex_claim c = claim(WAIT | PRIVATE, 2, false, w);
    assert_int_equal(c.kind, WAITS_FUTEX_MUTEX);
    assert_int_equal(c.tid, 77);
    assert_true(c.own);
    assert_int_equal(claim(WAIT_BITSET | PRIVATE, 2, true, w).kind, WAITS_FUTEX_MUTEX);
    /* Combinations that glibc does not use. */
    assert_int_equal(claim(WAIT_BITSET | PRIVATE, 2, false, w).kind, WAITS_FUTEX_UNKNOWN);
    assert_int_equal(claim(WAIT | PRIVATE, 1, false, w).kind, WAITS_FUTEX_UNKNOWN);
    /* The word has changed, nobody uses it, no such kind. */
    assert_int_equal(claim(WAIT | PRIVATE, 2, false, (words){0, 0, 0, 1, 0, 77, 1, 0}).kind,
                     WAITS_FUTEX_UNKNOWN);
    assert_int_equal(claim(WAIT | PRIVATE, 2, false, (words){0, 0, 0, 2, 0, 77, 0, 0}).kind,
                     WAITS_FUTEX_UNKNOWN);
    assert_int_equal(claim(WAIT | PRIVATE, 2, false, (words){0, 0, 0, 2, 0, 77, 1, 4096}).kind,
                     WAITS_FUTEX_UNKNOWN);
}

static void inheriting(void **state) {
    (void)state;
    struct waits_futex_claim c = claim(LOCK_PI | PRIVATE, 0, false, (words){0, 0, 0, 0x80000000u | 4711});
    assert_int_equal(c.kind, WAITS_FUTEX_PI);
    assert_int_equal(c.tid, 4711);
}

static void rwlocks(void **state) {
    (void)state;
    /* readers, writers, turn (the word), writers' word, 2 of padding, writer */
    words turn = {0, 3, 0, 3, 0, 0, 0, 99};
    struct waits_futex_claim c = claim(WAIT_BITSET | PRIVATE, 3, false, turn);
    assert_int_equal(c.kind, WAITS_FUTEX_RWLOCK);
    assert_int_equal(c.tid, 99);
    assert_int_equal(c.at, -8);
    words second = {3, 0, 1, 3, 0, 0, 98};
    c = claim(WAIT_BITSET | PRIVATE, 3, false, second);
    assert_int_equal(c.kind, WAITS_FUTEX_RWLOCK);
    assert_int_equal(c.tid, 98);
    assert_int_equal(c.at, -12);
    /* Readers have it. */
    assert_int_equal(claim(WAIT_BITSET | PRIVATE, 2, false, (words){0, 10, 0, 2, 0, 0, 0, 99}).kind,
                     WAITS_FUTEX_UNKNOWN);
    assert_int_equal(claim(WAIT_BITSET | PRIVATE, 3, false, (words){0, 2, 0, 3, 0, 0, 0, 99}).kind,
                     WAITS_FUTEX_UNKNOWN);
}

static void joins(void **state) {
    (void)state;
    words w = {0, 0, 0, 1234};
    assert_int_equal(claim(WAIT_BITSET, 1234, false, w).kind, WAITS_FUTEX_JOIN);
    assert_int_equal(claim(WAIT_BITSET, 1234, false, w).tid, 1234);
    /* The kernel wakes no private waiters when a thread ends; the word has changed. */
    assert_int_equal(claim(WAIT_BITSET | PRIVATE, 1234, false, w).kind, WAITS_FUTEX_UNKNOWN);
    assert_int_equal(claim(WAIT_BITSET, 1235, false, w).kind, WAITS_FUTEX_UNKNOWN);
}

static void operations(void **state) {
    enum { WAKE = 1, REQUEUE = 3, UNLOCK_PI = 7, WAIT_REQUEUE_PI = 11, LOCK_PI2 = 13, REALTIME = 256 };
    static const uint32_t waiting[] = {WAIT, LOCK_PI, WAIT_BITSET, WAIT_REQUEUE_PI, LOCK_PI2},
                          others[] = {WAKE, REQUEUE, UNLOCK_PI};
    (void)state;
    for (size_t i = 0; i < sizeof waiting / sizeof *waiting; i++) {
        assert_true(waits_futex_waits(waiting[i]) && waits_futex_waits(waiting[i] | PRIVATE | REALTIME));
        assert_true(waits_futex_relative(waiting[i] | PRIVATE | REALTIME) == (waiting[i] == WAIT));
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(waits_futex_waits(others[i]) || waits_futex_waits(others[i] | PRIVATE));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mutexes), cmocka_unit_test(inheriting), cmocka_unit_test(rwlocks),
        cmocka_unit_test(joins),   cmocka_unit_test(operations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
