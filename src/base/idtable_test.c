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

/* Room that was asked for is enough, whatever was there before. */
static void room_is_made_once(void **state) {
    (void)state;
    enum { BEFORE = 100, COUNT = 5000 };
    struct idtable t = {0};
    for (uint32_t i = 0; i < BEFORE; i++)
        assert_true(idtable_add(&t, hash_u64(i), i));
    assert_true(idtable_reserve(&t, COUNT));
    const struct idtable_bucket *buckets = t.buckets;
    for (uint32_t i = BEFORE; i < COUNT; i++)
        assert_true(idtable_add(&t, hash_u64(i), i));
    assert_ptr_equal(t.buckets, buckets);
    assert_true(idtable_reserve(&t, COUNT / 2));
    assert_ptr_equal(t.buckets, buckets);
    assert_int_equal(t.count, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        struct idtable_at at = idtable_first(&t, hash_u64(i));
        assert_int_equal(idtable_next(&t, &at), i);
    }
    idtable_fini(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_what_was_added),
                                       cmocka_unit_test(room_is_made_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
