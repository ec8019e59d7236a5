/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/idtable.h"

/* Things are numbers here, and their hash is as bad as is asked for. */
static uint32_t find(const struct idtable *t, const uint32_t *things, uint32_t thing, uint64_t hash) {
    struct idtable_at at = idtable_first(t, hash);
    for (uint32_t id; (id = idtable_next(t, &at)) != IDTABLE_NONE;)
        if (things[id] == thing)
            return id;
    return IDTABLE_NONE;
}

static void finds_what_was_added(void **state) {
    (void)state;
    enum { COUNT = 5000 };
    static uint32_t things[COUNT];
    for (unsigned groups = 1; groups <= COUNT; groups *= 100) {
        struct idtable t = {0};
        for (uint32_t i = 0; i < COUNT / (groups == 1 ? 50 : 1); i++) {
            uint64_t hash = hash_u64(i % groups);
            things[i] = i * 3;
            assert_int_equal(find(&t, things, i * 3, hash), IDTABLE_NONE);
            assert_true(idtable_add(&t, hash, i));
            assert_int_equal(find(&t, things, i * 3, hash), i);
        }
        for (uint32_t i = 0; i < t.count; i++)
            assert_int_equal(find(&t, things, i * 3, hash_u64(i % groups)), i);
        assert_int_equal(find(&t, things, 1, hash_u64(0)), IDTABLE_NONE);
        idtable_fini(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_what_was_added)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
