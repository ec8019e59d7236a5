/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/mapping.h"

static void is_equal(const struct mapping_table *t, uint32_t id, const struct model_mapping *want) {
    struct model_mapping got = mapping_get(t, id);
    assert_int_equal(got.start, want->start);
    assert_int_equal(got.last, want->last);
    assert_int_equal(got.pgoff, want->pgoff);
    assert_int_equal(got.order, want->order);
    assert_int_equal(got.image, want->image);
    assert_int_equal(got.prot, want->prot);
    assert_int_equal(got.flags, want->flags);
    assert_int_equal(got.late, want->late);
    assert_int_equal(mapping_start(t, id), want->start);
    assert_int_equal(mapping_last(t, id), want->last);
    assert_int_equal(mapping_image(t, id), want->image);
}

/* One field after the other differs; all come back, and what is alike is kept once. */
static void test_shapes(void **state) {
    (void)state;
    static const struct model_mapping maps[] = {
        {0x1000, 0x1fff, 0x4000, 8, 3, 5, 2, 0},
        {0x9000, 0x9fff, 0x4000, 16, 3, 5, 2, 0}, /* the same, elsewhere */
        {0x1000, 0x2fff, 0x4000, 24, 3, 5, 2, 0},
        {0x1000, 0x1fff, 0x5000, 32, 3, 5, 2, 0},
        {0x1000, 0x1fff, 0x4000, 40, 2, 5, 2, 0},
        {0x1000, 0x1fff, 0x4000, 48, 3, 1, 2, 0},
        {0x1000, 0x1fff, 0x4000, 56, 3, 5, 1, 0},
        {0x1000, 0x1fff, 0x4000, 64, 3, 5, 2, 1},
        {0, UINT64_MAX, UINT64_MAX, UINT64_MAX, MODEL_NONE, 255, 0x7fffff, 1},
        {UINT64_MAX, UINT64_MAX, 0, 1ull << 34, 3, 0, 0, 0},
        {0x3000, 0x3fff, 0x4000, (1ull << 34) - 8, 3, 5, 2, 0},
        {0x3000, 0x3fff, 0x4000, 77, 3, 5, 2, 0},
        {0x3000, 0x3fff, 0x4000, 0, 3, 5, 2, 0},
    };
    enum { COUNT = sizeof maps / sizeof *maps };
    struct mapping_table t = {{0}};
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < COUNT; i++)
            assert_int_equal(mapping_add(&t, &maps[i], false), i + (uint32_t)round * COUNT);
        if (!round)
            assert_int_equal(t.shapes.items[t.list.items[0].shape].image, 3);
    }
    assert_int_equal(t.list.items[0].shape, t.list.items[1].shape);
    assert_int_not_equal(t.list.items[0].shape, t.list.items[2].shape);
    assert_in_range(t.shapes.count, 9, 2 * COUNT - 4);
    for (uint32_t i = 0; i < 2 * COUNT; i++)
        is_equal(&t, i, &maps[i % COUNT]);
    mapping_trim(&t);
    for (uint32_t i = 0; i < 2 * COUNT; i++)
        is_equal(&t, i, &maps[i % COUNT]);
    mapping_table_fini(&t);
}

/* The end of one that is alone moves, and no other's. */
static void test_ends(void **state) {
    (void)state;
    struct model_mapping map = {0x1000, 0x1fff, 0, 8, 0, 5, 2, 0}, cut = map;
    struct mapping_table t = {{0}};
    assert_int_equal(mapping_add(&t, &map, false), 0);
    assert_int_equal(mapping_add(&t, &map, true), 1);
    assert_int_equal(mapping_add(&t, &map, true), 2);
    assert_int_equal(mapping_add(&t, &map, false), 3);
    cut.last = 0x10ff;
    mapping_end(&t, 1, cut.last);
    assert_int_equal(mapping_add(&t, &map, false), 4);
    for (uint32_t i = 0; i < 5; i++)
        is_equal(&t, i, i == 1 ? &cut : &map);
    mapping_table_fini(&t);
}

/* A library that thousands map costs 16 bytes for each; what has a new length each time, all the same. */
static void test_bytes(void **state) {
    (void)state;
    enum { MANY = 20000 };
    struct mapping_table t = {{0}};
    for (uint64_t i = 0; i < MANY; i++) {
        struct model_mapping library = {i << 12, (i << 12) + 0xfff, 0, i * 8, 1, 5, 2, 0};
        assert_int_not_equal(mapping_add(&t, &library, false), MODEL_NONE);
    }
    mapping_trim(&t);
    assert_true(mapping_bytes(&t) < 17 * MANY);
    for (uint64_t i = 0; i < MANY; i++) {
        struct model_mapping code = {i << 12, (i << 12) + i, 0, i * 8, 0, 5, 2, 0};
        assert_int_not_equal(mapping_add(&t, &code, false), MODEL_NONE);
        is_equal(&t, (uint32_t)(MANY + i), &code);
    }
    mapping_table_fini(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
