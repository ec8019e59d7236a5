/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/radix.h"

enum { MOST = 60000 };

/* n keys of which only the bits of `mask` differ. */
static void check(size_t n, uint64_t mask) {
    static struct radix_item items[MOST], room[MOST];
    for (uint32_t i = 0; i < n; i++)
        items[i] = (struct radix_item){hash_u64(i + n) & mask, i};
    radix_sort(items, room, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(items[i].key, hash_u64(items[i].value + n) & mask);
        if (i)
            assert_true(items[i - 1].key < items[i].key ||
                        (items[i - 1].key == items[i].key && items[i - 1].value < items[i].value));
    }
}

static void sorts_and_keeps_the_order_of_equals(void **state) {
    (void)state;
    const size_t sizes[] = {0, 1, 2, 20, 21, 48, 300, 3000, MOST};
    const uint64_t masks[] = {UINT64_MAX,   0, 1, 0xff, 0xff00000000000000u, 0xf0000000000f0007u, 0x3fffff00,
                              0xffffff00ffu};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t k = 0; k < sizeof masks / sizeof *masks; k++)
            check(sizes[i], masks[k]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sorts_and_keeps_the_order_of_equals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
