/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/maptree.h"

enum { ID_BITS = 29 };

static uint32_t child(const struct maptree *t, uint32_t word) {
    uint32_t id = word & ((1u << ID_BITS) - 1);
    assert_true(id < t->nodes.count);
    return id;
}

/* The height of a version; on the way: order of the starts, balance, and the height that each node claims. */
static unsigned check(const struct maptree *t, uint32_t n, uint64_t from, uint64_t to) {
    if (!n)
        return 0;
    const struct maptree_node *node = &t->nodes.items[n];
    assert_in_range(node->start, from, to);
    uint32_t left = child(t, node->left), right = child(t, node->right);
    unsigned hl = left ? check(t, left, from, node->start - 1) : 0;
    unsigned hr = right ? check(t, right, node->start + 1, to) : 0;
    assert_in_range(hl + 1 - hr, 0, 2);
    unsigned height = 1 + (hl > hr ? hl : hr);
    assert_int_equal(node->left >> ID_BITS | node->right >> ID_BITS << 3, height);
    return height;
}

static struct model_mapping range(uint64_t start, uint64_t last) {
    return (struct model_mapping){.start = start, .last = last};
}

static void add(struct mapping_table *maps, const struct model_mapping *list, size_t count) {
    for (size_t i = 0; i < count; i++)
        assert_int_not_equal(mapping_add(maps, &list[i], false), MODEL_NONE);
}

static uint32_t put(struct maptree *t, const struct mapping_table *maps, uint32_t root, uint32_t mapping) {
    maptree_begin(t);
    root = maptree_map(t, maps, root, mapping);
    assert_false(t->failed);
    check(t, root, 0, UINT64_MAX);
    return root;
}

static void test_versions_stay(void **state) {
    (void)state;
    const struct model_mapping list[] = {range(0x1000, 0x6fff), range(0x3000, 0x3fff), range(0, UINT64_MAX)};
    struct mapping_table table = {{0}}, *maps = &table;
    add(maps, list, 3);
    struct maptree t = {0};
    uint32_t a = put(&t, maps, 0, 0), b = put(&t, maps, a, 1), c = put(&t, maps, b, 2);
    assert_int_equal(maptree_find(&t, maps, 0, 0x3000), MODEL_NONE);
    assert_int_equal(maptree_find(&t, maps, a, 0xfff), MODEL_NONE);
    assert_int_equal(maptree_find(&t, maps, a, 0x3000), 0);
    assert_int_equal(maptree_find(&t, maps, a, 0x7000), MODEL_NONE);
    assert_int_equal(maptree_find(&t, maps, b, 0x2fff), 0);
    assert_int_equal(maptree_find(&t, maps, b, 0x3000), 1);
    assert_int_equal(maptree_find(&t, maps, b, 0x4000), 0);
    assert_int_equal(maptree_find(&t, maps, b, 0x7000), MODEL_NONE);
    assert_int_equal(maptree_find(&t, maps, c, 0), 2);
    assert_int_equal(maptree_find(&t, maps, c, UINT64_MAX), 2);
    maptree_fini(&t);
    mapping_table_fini(maps);
}

/* A piece in front reaches beyond the new mapping only where nothing starts right after it. */
static void test_what_stays_behind(void **state) {
    (void)state;
    const struct model_mapping list[] = {range(10, 99), range(50, 59), range(40, 49), range(60, 60),
                                         range(5, 200)};
    struct mapping_table table = {{0}}, *maps = &table;
    add(maps, list, 5);
    struct maptree t = {0};
    uint32_t root = 0;
    for (uint32_t i = 0; i < 4; i++)
        root = put(&t, maps, root, i);
    static const struct model_piece want[] = {
        {10, 39, 0}, {40, 49, 2}, {50, 59, 1}, {60, 60, 3}, {61, 99, 0}};
    struct model_pieces pieces = {0};
    assert_true(maptree_pieces(&t, maps, root, &pieces));
    assert_int_equal(pieces.list.count, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(pieces.list.items[i].start, want[i].start);
        assert_int_equal(pieces.list.items[i].last, want[i].last);
        assert_int_equal(pieces.list.items[i].mapping, want[i].mapping);
    }
    vec_clear(&pieces.list);
    assert_true(maptree_pieces(&t, maps, put(&t, maps, root, 4), &pieces));
    assert_int_equal(pieces.list.count, 1);
    vec_fini(&pieces.list);
    maptree_fini(&t);
    mapping_table_fini(maps);
}

/* Ascending, descending and mixed orders keep the tree low, and a version costs a path, not a copy. */
static void test_balance_and_sharing(void **state) {
    (void)state;
    enum { N = 4096 };
    for (int order = 0; order < 3; order++) {
        struct mapping_table table = {{0}}, *maps = &table;
        struct maptree t = {0};
        uint32_t root = 0;
        for (uint32_t i = 0; i < N; i++) {
            uint64_t at = order == 0 ? i : order == 1 ? N - i : i * 2477 % N;
            add(maps, &(struct model_mapping){.start = at * 16, .last = at * 16 + 8}, 1);
            size_t before = t.nodes.count;
            maptree_begin(&t);
            root = maptree_map(&t, maps, root, i);
            assert_in_range(t.nodes.count - before, 1, 40);
        }
        assert_in_range(check(&t, root, 0, UINT64_MAX), 12, 17); /* AVL: at most 1.44 log2(n) */
        maptree_fini(&t);
        mapping_table_fini(maps);
    }
}

/* Within one version nodes are changed in place; the one it started from is not touched. */
static void test_one_version_of_many_changes(void **state) {
    (void)state;
    enum { N = 64 };
    struct mapping_table table = {{0}}, *maps = &table;
    for (uint32_t i = 0; i < 2 * N; i++)
        add(maps, &(struct model_mapping){.start = i % N * 16, .last = i % N * 16 + 15}, 1);
    struct maptree t = {0};
    uint32_t first = 0, second;
    maptree_begin(&t);
    for (uint32_t i = 0; i < N; i++)
        first = maptree_map(&t, maps, first, i);
    assert_in_range(t.nodes.count, N, N + 1);
    second = first;
    maptree_begin(&t);
    for (uint32_t i = N; i < 2 * N; i++)
        second = maptree_map(&t, maps, second, i);
    check(&t, first, 0, UINT64_MAX);
    check(&t, second, 0, UINT64_MAX);
    for (uint64_t a = 0; a < N * 16; a += 5) {
        assert_int_equal(maptree_find(&t, maps, first, a), a / 16);
        assert_int_equal(maptree_find(&t, maps, second, a), N + a / 16);
    }
    maptree_fini(&t);
    mapping_table_fini(maps);
}

static void test_copy_keeps_sharing(void **state) {
    (void)state;
    enum { N = 100 };
    struct mapping_table table = {{0}}, *maps = &table;
    struct maptree t = {0}, to = {0};
    uint32_t roots[N], root = 0;
    for (uint32_t i = 0; i < N; i++) {
        add(maps, &(struct model_mapping){.start = i * 37 % N * 16, .last = i * 37 % N * 16 + 20}, 1);
        roots[i] = root = put(&t, maps, root, i);
    }
    uint32_t *copied = calloc(t.nodes.count, sizeof *copied);
    assert_non_null(copied);
    uint32_t last = maptree_copy(&t, roots[N - 1], &to, copied);
    size_t alone = to.nodes.count;
    assert_true(alone <= N + 1 + N); /* only what the last version holds */
    uint32_t same = maptree_copy(&t, roots[N - 1], &to, copied);
    assert_int_equal(same, last);
    assert_int_equal(to.nodes.count, alone);
    uint32_t before = maptree_copy(&t, roots[N - 2], &to, copied);
    assert_true(to.nodes.count < alone + 20);
    check(&to, last, 0, UINT64_MAX);
    for (uint64_t a = 0; a < N * 17; a++) {
        assert_int_equal(maptree_find(&to, maps, last, a), maptree_find(&t, maps, roots[N - 1], a));
        assert_int_equal(maptree_find(&to, maps, before, a), maptree_find(&t, maps, roots[N - 2], a));
    }
    assert_int_equal(maptree_copy(&t, 0, &to, copied), 0);
    free(copied);
    maptree_fini(&t);
    mapping_table_fini(maps);
    maptree_fini(&to);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_versions_stay),       cmocka_unit_test(test_what_stays_behind),
        cmocka_unit_test(test_balance_and_sharing), cmocka_unit_test(test_one_version_of_many_changes),
        cmocka_unit_test(test_copy_keeps_sharing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
