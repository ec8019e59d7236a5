/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a tree of a table's rows, with one level for each key; the rows are its leaves.
 *
 *   rows                     levels
 *   cc1  libc    malloc 5    cc1 12
 *   cc1  libc    free   3      libc 8
 *   cc1  kernel  read   4        malloc 5
 *
 * In the list of entries siblings are adjacent: [cc1 make] [libc kernel] [kernel] [malloc free] ...
 */
#include <stdlib.h>

#include "profile/profile_internal.h"

struct level {
    uint32_t parent, row; /* row: any one below it: down to this level its keys are the level's */
    uint32_t depth;
    uint32_t first, next; /* of its children; of its parent's, after it. PROFILE_NONE: none */
    bool has_graph;       /* of a leaf: as its row */
};

struct tree {
    struct profile *p;
    struct profile_table *t;
    const struct profile_column *keys[PROFILE_COLUMNS_MAX];
    uint32_t key_count;
    uint32_t end_of[PROFILE_COLUMNS_MAX]; /* by level: where its keys end and the next one's begin */
    uint32_t depth_count;
    VEC(struct level) levels;
    VEC(uint32_t) siblings; /* scratch */
    struct hash_map by_key; /* by hash of parent and words; a collision tries hash + 1 */
};

enum { WORDS_MAX = PROFILE_COLUMNS_MAX * PROFILE_KEY_WORDS };

static uint32_t first_key(const struct tree *tree, uint32_t depth) {
    return depth ? tree->end_of[depth - 1] : 0;
}

/* Fills in the words of all keys of a level; returns how many. */
static unsigned level_words(const struct tree *tree, uint32_t depth, uint32_t row, uint64_t *words) {
    unsigned n = 0;
    for (uint32_t k = first_key(tree, depth); k < tree->end_of[depth]; k++)
        n += profile_key_words(tree->p, tree->keys[k], &tree->t->rows.items[row], words + n);
    return n;
}

static bool same_key(const struct tree *tree, const struct level *l, uint32_t parent, uint32_t row,
                     uint32_t depth) {
    uint64_t a[WORDS_MAX], b[WORDS_MAX];
    if (l->parent != parent || l->depth != depth)
        return false;
    unsigned n = level_words(tree, depth, l->row, a);
    return level_words(tree, depth, row, b) == n && !memcmp(a, b, n * sizeof *a);
}

static uint32_t level_of(struct tree *tree, uint32_t parent, uint32_t row, uint32_t depth) {
    uint64_t words[WORDS_MAX];
    unsigned n = level_words(tree, depth, row, words);
    for (uint64_t h = hash_bytes(words, n * sizeof *words) ^ hash_u64((uint64_t)parent << 8 | depth);; h++) {
        uint32_t id = hash_map_get(&tree->by_key, h);
        if (id != HASH_ABSENT) {
            if (same_key(tree, &tree->levels.items[id], parent, row, depth))
                return id;
            continue;
        }
        id = (uint32_t)tree->levels.count;
        struct level *l = vec_push(&tree->levels);
        if (!l || !hash_map_set(&tree->by_key, h, id))
            return PROFILE_NONE;
        *l = (struct level){.parent = parent, .row = row, .depth = depth, .first = PROFILE_NONE};
        for (uint32_t m = 0; m < tree->t->members; m++)
            if (!vec_push(&tree->t->level_sums))
                return PROFILE_NONE;
        return id;
    }
}

static bool make_levels(struct tree *tree) {
    struct profile_table *t = tree->t;
    for (uint32_t i = 0; i < t->order.count; i++) {
        struct profile_entry e = profile_entry_at(tree->p, &t->event, i);
        uint32_t parent = PROFILE_NONE;
        for (uint32_t depth = 0; depth < tree->depth_count; depth++) {
            parent = level_of(tree, parent, e.key, depth);
            if (parent == PROFILE_NONE)
                return false;
            tree->levels.items[parent].has_graph = depth + 1 == tree->depth_count && e.has_graph;
            for (uint32_t m = 0; m < t->members; m++)
                profile_sums_add(&t->level_sums.items[(size_t)parent * t->members + m], &e.self[m]);
        }
    }
    return true;
}

/* Compares two levels by one sum, larger first. */
static int by_sum(const struct tree *tree, uint32_t i, uint32_t j, const struct profile_column *c) {
    const struct profile_table *t = tree->t;
    uint32_t first = profile_sorting_member(tree->p, t);
    uint32_t end = tree->p->plan.o->group_sort_index < (int)t->members ? t->members : 1;
    for (uint32_t m = 0; m < end; m++) {
        uint32_t member = m ? m : first;
        uint64_t u = profile_measure(&t->level_sums.items[(size_t)i * t->members + member], NULL, NULL, c),
                 v = profile_measure(&t->level_sums.items[(size_t)j * t->members + member], NULL, NULL, c);
        if (u != v)
            return u > v ? -1 : 1;
    }
    return 0;
}

/* Compares siblings by the sums that sort, larger first; equal ones by their keys. */
static int by_place_in_tree(const void *a, const void *b, void *ctx) {
    const struct tree *tree = ctx;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const struct level *x = &tree->levels.items[i], *y = &tree->levels.items[j];
    const struct profile_columns *c = tree->p->plan.o->columns;
    bool asked = false;
    int order = 0;
    for (size_t k = 0; !order && k < c->order.count; k++) {
        enum profile_column_id id = c->order.items[k].key->id;
        bool share = id == PROFILE_LATENCY || id == PROFILE_OVERHEAD;
        order = share ? by_sum(tree, i, j, &c->order.items[k]) : 0;
        asked |= share;
    }
    const struct profile_column overhead = {.key = profile_key_known(PROFILE_OVERHEAD)};
    order = asked ? order : by_sum(tree, i, j, &overhead);
    if (order)
        return order;
    const struct profile_table *t = tree->t;
    for (uint32_t k = first_key(tree, x->depth); !order && k < tree->end_of[x->depth]; k++)
        order = profile_key_compare(tree->p, tree->keys[k], &t->rows.items[x->row], &t->rows.items[y->row]);
    return order;
}

/* Appends siblings, sorted, from `first` on. *count: how many. False: out of memory. */
static bool append(struct tree *tree, uint32_t first, uint32_t *count) {
    struct profile_table *t = tree->t;
    vec_clear(&tree->siblings);
    for (uint32_t id = first; id != PROFILE_NONE; id = tree->levels.items[id].next) {
        uint32_t *sibling = vec_push(&tree->siblings);
        if (!sibling)
            return false;
        *sibling = id;
    }
    *count = (uint32_t)tree->siblings.count;
    if (*count)
        qsort_r(tree->siblings.items, *count, sizeof *tree->siblings.items, by_place_in_tree, tree);
    for (uint32_t i = 0; i < *count; i++) {
        uint32_t id = tree->siblings.items[i];
        const struct level *l = &tree->levels.items[id];
        struct profile_entry *e = vec_push(&t->levels);
        if (!e)
            return false;
        *e = (struct profile_entry){.self = &t->level_sums.items[(size_t)id * t->members],
                                    .key = l->row,
                                    .depth = l->depth,
                                    .has_graph = l->has_graph,
                                    .first = l->first}; /* until its own children are placed */
    }
    return true;
}

static bool lay_out(struct tree *tree) {
    struct profile_table *t = tree->t;
    uint32_t roots = PROFILE_NONE;
    for (size_t i = tree->levels.count; i-- > 0;) {
        struct level *l = &tree->levels.items[i];
        uint32_t *list = l->parent == PROFILE_NONE ? &roots : &tree->levels.items[l->parent].first;
        l->next = *list;
        *list = (uint32_t)i;
    }
    bool ok = append(tree, roots, &t->root_count);
    for (uint32_t i = 0; ok && i < t->levels.count; i++) {
        uint32_t first = (uint32_t)t->levels.count, count;
        ok = append(tree, t->levels.items[i].first, &count);
        t->levels.items[i].first = first;
        t->levels.items[i].count = count;
    }
    return ok;
}

bool profile_hierarchy(struct profile *p, struct profile_table *t) {
    struct tree tree = {.p = p, .t = t};
    const struct profile_columns *c = p->plan.o->columns;
    for (size_t i = 0; i < c->out.count; i++)
        if (profile_column_is_key(&c->out.items[i]) &&
            !profile_column_is_elsewhere(&c->out.items[i], &t->event)) {
            tree.keys[tree.key_count++] = &c->out.items[i];
            tree.depth_count += !c->out.items[i].joined || !tree.depth_count;
            tree.end_of[tree.depth_count - 1] = tree.key_count;
        }
    bool ok = make_levels(&tree) && lay_out(&tree);
    vec_fini(&tree.levels);
    vec_fini(&tree.siblings);
    hash_map_fini(&tree.by_key);
    return ok;
}
