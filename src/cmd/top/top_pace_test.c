/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cmd/top/top_pace.h"

static const uint64_t MS = 1000000;

static uint64_t next(uint64_t most, uint64_t stacks, uint64_t skipped, uint64_t since_ms, uint64_t took_us) {
    return top_pace_next(most, &(struct top_pace){stacks, skipped, since_ms * MS, took_us * MS / 1000});
}

static void test_single(void **state) {
    (void)state;
    assert_int_equal(next(4096, 4000, 0, 2000, 199000), 4096); /* it fits */
    assert_int_equal(next(4096, 4000, 0, 2000, 400000), 2000); /* 200 ms at most */
    assert_int_equal(next(4096, 4000, 0, 100, 200000), 2000);  /* half of the time */
    assert_int_equal(next(4096, 4000, 0, 0, 20000), 2000);     /* 10 ms at least */
    assert_int_equal(next(4096, 4000, 0, 2000, 90000000), 64); /* never nothing */
    assert_int_equal(next(4096, 10, 0, 2000, 900000), 4096);   /* tables were read: not the stacks' doing */
    assert_int_equal(next(1000, 3000, 2000, 2000, 100000), 2000); /* there is time for more */
    assert_int_equal(next(1000, 3000, 2000, 2000, 0), 8000);      /* step by step */
    assert_int_equal(next(1000, 3000, 2000, 2000, 200000), 1000);
    assert_int_equal(next(1000, 3000, 2900, 2000, 300000), 66);
    assert_int_equal(next(100, 9000, 0, 2000, 400000), 100); /* not more because it was slow */
}

/* Whatever a stack costs, the time that it takes settles below the limit, near it. */
static void test_settles(void **state) {
    (void)state;
    static const uint64_t cost_ns[] = {100, 5000, 80000, 1000000};
    enum { STACKS = 100000, FIXED_NS = 5000000, TURNS = 30 };
    for (size_t i = 0; i < sizeof cost_ns / sizeof *cost_ns; i++) {
        uint64_t most = TOP_PACE_FIRST, took = 0, unwound = 0;
        for (unsigned turn = 0; turn < TURNS; turn++) {
            unwound = most < STACKS ? most : STACKS;
            took = FIXED_NS + unwound * cost_ns[i];
            most = top_pace_next(most, &(struct top_pace){STACKS, STACKS - unwound, 2000 * MS, took});
        }
        assert_true(took <= 201 * MS);
        assert_true(unwound == STACKS || took > 120 * MS);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_single),
        cmocka_unit_test(test_settles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
