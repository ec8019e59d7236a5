/* SPDX-License-Identifier: Apache-2.0 */
/* The quick way against the plain one: everything compared as perf compares it, in three trees. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "profile/arrange.h"
#include "profile/order_tree.h"

enum { MOST = 700 };

struct item {
    uint64_t first, second, keys, shown, place, made_ns;
    uint32_t thread;
    uint16_t turn, depth;
};

static struct item items[MOST];
static struct arrange_options options;

static int by_number(uint64_t x, uint64_t y) {
    return x < y ? -1 : x > y;
}

static int by_keys(uint32_t x, uint32_t y) {
    const struct item *a = &items[x], *b = &items[y];
    int64_t difference = (int64_t)(a->place - b->place);
    return a->keys != b->keys ? by_number(a->keys, b->keys) : difference < 0 ? -1 : difference > 0;
}

static int by_shares(uint32_t x, uint32_t y) {
    const struct item *a = &items[x], *b = &items[y];
    if (a->first != b->first)
        return by_number(b->first, a->first);
    if (options.depths && a->thread == b->thread && a->depth != b->depth)
        return options.shorter ? by_number(a->depth, b->depth) : by_number(b->depth, a->depth);
    return a->second != b->second ? by_number(b->second, a->second) : by_number(a->shown, b->shown);
}

static void fill(const void *ctx, enum arrange_number which, uint32_t from, uint32_t count,
                 uint64_t *numbers) {
    (void)ctx;
    for (uint32_t i = 0; i < count; i++) {
        const struct item *x = &items[from + i];
        switch (which) {
        case ARRANGE_FIRST:
            numbers[i] = x->first;
            break;
        case ARRANGE_SECOND:
            numbers[i] = x->second;
            break;
        case ARRANGE_KEYS:
            numbers[i] = x->keys;
            break;
        case ARRANGE_SHOWN:
            numbers[i] = x->shown;
            break;
        case ARRANGE_PLACE:
            numbers[i] = x->place;
            break;
        case ARRANGE_MADE:
            numbers[i] = x->made_ns;
            break;
        case ARRANGE_TURN:
            numbers[i] = x->turn;
            break;
        case ARRANGE_CHAIN:
            numbers[i] = (uint64_t)x->thread << 16 | x->depth;
            break;
        }
    }
}

static void through_tree(uint32_t *order, uint32_t n, int (*compare)(uint32_t, uint32_t)) {
    struct order_tree t;
    assert_true(order_tree_init(&t, n));
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = t.root, parent = 0;
        bool side = false;
        while (at) {
            parent = at;
            side = compare(order[i], order[at - 1]) >= 0;
            at = t.nodes[at].below[side];
        }
        order_tree_attach(&t, i + 1, parent, side);
    }
    uint32_t out[MOST], was[MOST];
    order_tree_list(&t, out);
    memcpy(was, order, n * sizeof *order);
    for (uint32_t i = 0; i < n; i++)
        order[i] = was[out[i]];
    order_tree_fini(&t);
}

static void *first_half(void *a) {
    assert_true(arrange_shares(a));
    return NULL;
}

/* On one thread, or (beside) on two. */
static void arrange(bool beside, uint32_t *order) {
    struct arrange *a = arrange_new(&options, order);
    pthread_t thread;
    assert_non_null(a);
    if (beside)
        assert_int_equal(pthread_create(&thread, NULL, first_half, a), 0);
    else
        first_half(a);
    assert_true(arrange_items(a));
    if (beside)
        pthread_join(thread, NULL);
    arrange_free(a);
}

static void check(uint32_t n, uint64_t seed, unsigned shift) {
    uint32_t made[MOST], order[MOST];
    uint64_t random = seed;
    for (uint32_t i = 0; i < n; i++) {
        random = hash_u64(random);
        items[i] =
            (struct item){.first = random % 4,
                          .second = (random >> 8 & 1) << (shift ? 0 : 63), /* fits with others, or not */
                          .keys = random >> 16 & 3,
                          .made_ns = (uint64_t)i << shift, /* they come as they were made */
                          .thread = random >> 24 & 3,
                          .depth = random >> 32 & 7};
        random = hash_u64(random);
        items[i].place = (uint64_t)((int64_t)random >> shift);
        items[i].shown = items[i].keys << 8 | (random & 15);
        made[i] = i;
    }
    through_tree(made, n, by_keys);
    through_tree(made, n, by_keys);
    through_tree(made, n, by_shares);
    options.n = n;
    for (unsigned beside = 0; beside < 2; beside++) {
        arrange(beside, order);
        for (uint32_t i = 0; i < n; i++)
            assert_int_equal(order[i], made[i]);
    }
}

static void ranks_lead_to_the_same_trees(void **state) {
    (void)state;
    const uint32_t sizes[] = {0, 1, 2, 3, 10, 60, MOST};
    for (unsigned depths = 0; depths < 2; depths++)
        for (unsigned shorter = 0; shorter < 2; shorter++)
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
                for (unsigned shift = 0; shift < 60; shift += 12) {
                    options = (struct arrange_options){.fill = fill, .depths = depths, .shorter = shorter};
                    check(sizes[i], 1 + i + shift, shift);
                }
}

/* Behind a red node only black ones, and equally many black ones on every way down. */
static unsigned black_height(const struct order_tree *t, uint32_t at) {
    if (!at)
        return 1;
    const struct order_tree_node *n = &t->nodes[at];
    for (unsigned i = 0; i < 2; i++)
        assert_false(order_tree_is_red(t, at) && order_tree_is_red(t, n->below[i]));
    unsigned height = black_height(t, n->below[0]);
    assert_int_equal(height, black_height(t, n->below[1]));
    return height + !order_tree_is_red(t, at);
}

static void trees_are_balanced_and_in_order(void **state) {
    (void)state;
    struct order_tree t;
    uint32_t order[MOST];
    assert_true(order_tree_init(&t, MOST));
    for (uint32_t i = 0; i < MOST; i++) {
        uint32_t node = 1 + i * 337 % MOST, at = t.root, parent = 0;
        bool side = false;
        while (at) {
            parent = at;
            side = node > at;
            at = t.nodes[at].below[side];
        }
        order_tree_attach(&t, node, parent, side);
        black_height(&t, t.root);
    }
    order_tree_list(&t, order);
    for (uint32_t i = 0; i < MOST; i++)
        assert_int_equal(order[i], i);
    order_tree_fini(&t);
    assert_false(order_tree_init(&t, UINT32_MAX));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_lead_to_the_same_trees),
        cmocka_unit_test(trees_are_balanced_and_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
