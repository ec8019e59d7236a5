/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/numset.h"

enum { MOST = 300000 };

static bool in[MOST];

/* Against looking at each number. */
static void check(const struct numset *s, uint32_t n, uint32_t x) {
    uint32_t before = x, behind = x + 1;
    while (before > 0 && !in[before - 1])
        before--;
    while (behind < n && !in[behind])
        behind++;
    assert_int_equal(numset_before(s, x), before ? before - 1 : NUMSET_NONE);
    assert_int_equal(numset_behind(s, x), behind < n ? behind : NUMSET_NONE);
    assert_int_equal(numset_has(s, x), in[x]);
}

static void finds_the_next_members(void **state) {
    (void)state;
    const uint32_t sizes[] = {1, 2, 63, 64, 65, 4095, 4096, 4097, MOST};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct numset s;
        uint32_t n = sizes[i];
        memset(in, 0, sizeof in);
        assert_true(numset_init(&s, n));
        check(&s, n, 0);
        check(&s, n, n - 1);
        for (uint32_t k = 0; k < 60; k++) {
            uint32_t x = hash_u64(k + n) % n, y = hash_u64(~(uint64_t)k) % n;
            numset_add(&s, x);
            in[x] = true;
            check(&s, n, x);
            check(&s, n, y);
        }
        numset_fini(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_the_next_members)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
