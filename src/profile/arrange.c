/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/arrange.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/idtable.h"
#include "base/radix.h"
#include "profile/order_tree.h"

enum { AHEAD = 16 };

struct arranger {
    const struct arrange_item *items;
    uint32_t n;
    struct arrange_options o;
    uint32_t *order; /* items */
    uint32_t *ranks; /* of items in the order that most comparisons follow */
    struct radix_item *sorted, *room;
    struct order_tree tree;
};

/* The item that stands i-th; the one that stands a little behind it is asked for. */
static inline const struct arrange_item *standing(const struct arranger *a, uint32_t i) {
    if (i + AHEAD < a->n)
        __builtin_prefetch(&a->items[a->sorted[i + AHEAD].value]);
    return &a->items[a->sorted[i].value];
}

/* Sorts a->sorted by a number of item `x`, keeping the order of equals. */
#define SORT_BY(a, x, number)                                      \
    do {                                                           \
        for (uint32_t sort_at = 0; sort_at < (a)->n; sort_at++) {  \
            const struct arrange_item *x = standing((a), sort_at); \
            (a)->sorted[sort_at].key = (number);                   \
        }                                                          \
        radix_sort((a)->sorted, (a)->room, (a)->n);                \
    } while (0)

/* Addresses are compared by the sign of their difference. That is an order as long as they are within 2^62 of
 * zero; of the others nothing is known. */
static bool is_far(uint64_t place) {
    return (place + (1ull << 62)) >> 63;
}

static void start_from(struct arranger *a, const uint32_t *order) {
    for (uint32_t i = 0; i < a->n; i++)
        a->sorted[i].value = order ? order[i] : i;
}

static void take_order(struct arranger *a) {
    for (uint32_t i = 0; i < a->n; i++)
        a->order[i] = a->sorted[i].value;
}

static void take_ranks(struct arranger *a) {
    for (uint32_t i = 0; i < a->n; i++)
        a->ranks[a->sorted[i].value] = i;
}

/* ---- by keys ---- */

/* Of each rank twice the number of its keys, and one more if its place is far; and its place. */
static void mark(struct arranger *a, uint64_t *places) {
    uint32_t group = 0;
    for (uint32_t i = 0; i < a->n; i++) {
        const struct arrange_item *x = standing(a, i);
        group += i && a->items[a->sorted[i - 1].value].keys != x->keys;
        a->tree.nodes[i + 1].note = group << 1 | is_far(x->place);
        places[i] = x->place;
    }
}

/* Goes the ways down that the next items will take, side by side, so that what lies there is in the cache
 * when they come. */
static void look_ahead(const struct arranger *a, uint32_t from) {
    const struct order_tree_node *nodes = a->tree.nodes;
    uint32_t at[AHEAD], rank[AHEAD], count = a->n - from < AHEAD ? a->n - from : AHEAD, left = count;
    for (uint32_t i = 0; i < count; i++) {
        rank[i] = a->ranks[a->order[from + i]];
        at[i] = a->tree.root;
    }
    while (left) {
        left = 0;
        for (uint32_t i = 0; i < count; i++) {
            at[i] = at[i] ? nodes[at[i]].below[rank[i] >= at[i] - 1] : 0;
            __builtin_prefetch(&nodes[at[i]]);
            left += at[i] != 0;
        }
    }
}

/* Puts the items, in their order, into a tree and takes them out in that of the tree. Places are compared
 * only where the keys are equal and one of them is far. */
static void through_tree(struct arranger *a, const uint64_t *places) {
    const struct order_tree_node *nodes = a->tree.nodes;
    a->tree.root = 0;
    for (uint32_t i = 0; i < a->n; i++) {
        if (i % AHEAD == 0)
            look_ahead(a, i);
        uint32_t rank = a->ranks[a->order[i]], at = a->tree.root, parent = 0;
        uint32_t far = nodes[rank + 1].note & 1, marked = nodes[rank + 1].note | 1;
        bool side = false;
        while (at) {
            parent = at;
            side = rank >= at - 1;
            if (__builtin_expect((nodes[at].note | far) == marked, 0))
                side = (int64_t)(places[rank] - places[at - 1]) >= 0;
            at = nodes[at].below[side];
        }
        order_tree_attach(&a->tree, rank + 1, parent, side);
    }
    order_tree_list(&a->tree, a->order);
    for (uint32_t i = 0; i < a->n; i++)
        a->order[i] = a->sorted[a->order[i]].value;
}

static bool sort_by_keys(struct arranger *a) {
    bool far = false;
    for (uint32_t i = 0; i < a->n && !far; i++)
        far = is_far(a->items[i].place);
    start_from(a, NULL);
    if (far) {
        SORT_BY(a, x, x->turn);
        SORT_BY(a, x, x->made_ns);
        take_order(a);
    }
    SORT_BY(a, x, x->place ^ 1ull << 63);
    SORT_BY(a, x, x->keys);
    if (!far) {
        take_order(a);
        return true;
    }
    uint64_t *places = malloc(((size_t)a->n + 1) * sizeof *places);
    if (!places)
        return false;
    take_ranks(a);
    mark(a, places);
    through_tree(a, places);
    through_tree(a, places);
    free(places);
    return true;
}

/* ---- by shares ---- */

/* Numbers the items' (first share, thread): notes[rank]. Ranks are in the order of shares. False: memory. */
static bool make_notes(const struct arranger *a, uint32_t *notes) {
    struct idtable index = {0};
    uint32_t *first = malloc(((size_t)a->n + 1) * sizeof *first), count = 0, last = 0;
    bool ok = first;
    for (uint32_t i = 0; ok && i < a->n; i++) {
        const struct arrange_item *x = standing(a, i);
        uint32_t id = IDTABLE_NONE;
        if (count && a->items[first[last]].first == x->first && a->items[first[last]].thread == x->thread)
            id = last;
        uint64_t hash = hash_u64(x->first ^ hash_u64(x->thread));
        struct idtable_at at = idtable_first(&index, hash);
        while (id == IDTABLE_NONE || a->items[first[id]].first != x->first ||
               a->items[first[id]].thread != x->thread) {
            id = idtable_next(&index, &at);
            if (id == IDTABLE_NONE)
                break;
        }
        if (id == IDTABLE_NONE) {
            id = count++;
            first[id] = a->sorted[i].value;
            ok = idtable_add(&index, hash, id);
        }
        notes[i] = last = id;
    }
    free(first);
    idtable_fini(&index);
    return ok;
}

/* As through_tree; the depths of callchains decide between those with the same note. */
static bool through_deep_tree(struct arranger *a) {
    struct order_tree_node *nodes = a->tree.nodes;
    uint16_t *depths = malloc(((size_t)a->n + 1) * sizeof *depths);
    uint32_t *notes = malloc(((size_t)a->n + 1) * sizeof *notes);
    bool ok = depths && notes && make_notes(a, notes);
    for (uint32_t i = 0; ok && i < a->n; i++) {
        uint16_t depth = standing(a, i)->depth;
        depths[i] = a->o.shorter ? depth : UINT16_MAX - depth;
    }
    a->tree.root = 0;
    for (uint32_t i = 0; ok && i < a->n; i++) {
        uint32_t rank = a->ranks[a->order[i]], at = a->tree.root, parent = 0, note = notes[rank];
        uint16_t depth = depths[rank];
        bool side = false;
        while (at) {
            parent = at;
            side =
                nodes[at].note == note && depths[at - 1] != depth ? depth > depths[at - 1] : rank >= at - 1;
            at = nodes[at].below[side];
        }
        nodes[rank + 1].note = note;
        order_tree_attach(&a->tree, rank + 1, parent, side);
    }
    if (ok) {
        order_tree_list(&a->tree, a->order);
        for (uint32_t i = 0; i < a->n; i++)
            a->order[i] = a->sorted[a->order[i]].value;
    }
    free(depths);
    free(notes);
    return ok;
}

static bool sort_by_shares(struct arranger *a) {
    start_from(a, a->order);
    SORT_BY(a, x, x->shown);
    SORT_BY(a, x, ~x->second);
    SORT_BY(a, x, ~x->first);
    if (!a->o.depths) {
        take_order(a);
        return true;
    }
    take_ranks(a);
    return through_deep_tree(a);
}

bool profile_arrange(const struct arrange_item *items, uint32_t n, struct arrange_options o,
                     uint32_t *order) {
    struct arranger a = {.items = items,
                         .n = n,
                         .o = o,
                         .order = order,
                         .ranks = malloc(((size_t)n + 1) * sizeof *a.ranks),
                         .sorted = malloc(((size_t)n + 1) * sizeof *a.sorted),
                         .room = malloc(((size_t)n + 1) * sizeof *a.room)};
    bool ok = a.ranks && a.sorted && a.room && order_tree_init(&a.tree, n);
    if (ok) {
        ok = sort_by_keys(&a) && sort_by_shares(&a);
        order_tree_fini(&a.tree);
    }
    free(a.ranks);
    free(a.sorted);
    free(a.room);
    return ok;
}
