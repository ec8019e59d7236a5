/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of entries, as perf prints them.
 *
 * perf's comparison is no order: of two entries with equal shares, if their first samples came from the same
 * thread, the one with the longer callchain comes first (callers before callees), else the next column
 * decides. What comes out then depends on how the entries are sorted: one after the other, in the order of
 * their keys, into a red-black tree. So that is what is done here where call graphs are shown; everything
 * else is simply sorted.
 */
#include <stdlib.h>

#include "profile/profile_internal.h"

static int by_number(uint64_t a, uint64_t b) {
    return a < b ? -1 : a > b;
}

static uint64_t measure(const struct profile_table *t, enum profile_column_id id, uint32_t row) {
    const struct profile_sums *s = &t->self.items[row];
    switch (id) {
    case PROFILE_OVERHEAD_CHILDREN:
        return t->children.items ? t->children.items[row].period : s->period;
    case PROFILE_OVERHEAD_SYS:
        return s->period_sys;
    case PROFILE_OVERHEAD_US:
        return s->period_us;
    case PROFILE_OVERHEAD_GUEST_SYS:
        return s->period_guest_sys;
    case PROFILE_OVERHEAD_GUEST_US:
        return s->period_guest_us;
    case PROFILE_SAMPLE:
        return s->samples;
    case PROFILE_WEIGHT1:
        return s->samples ? s->weight1 / s->samples : 0;
    case PROFILE_WEIGHT2:
        return s->samples ? s->weight2 / s->samples : 0;
    case PROFILE_WEIGHT3:
        return s->samples ? s->weight3 / s->samples : 0;
    default:
        return s->period;
    }
}

static uint64_t key_rank(const struct profile *p, enum profile_column_id id, uint64_t value) {
    if (id == PROFILE_SYMBOL || id == PROFILE_SYMBOL_IADDR)
        return p->name_ranks.items[value];
    if (id == PROFILE_DSO && value == p->no_dso)
        return UINT32_MAX;
    return id == PROFILE_DSO || profile_key_is_text(id) ? p->text_ranks.items[value] : value;
}

struct sorter {
    const struct profile *p;
    const struct profile_table *t;
    bool depths; /* see above */
};

/* Negative: row x comes first. */
static int compare(const struct sorter *s, uint32_t x, uint32_t y) {
    const struct profile_columns *c = s->p->plan.o->columns;
    uint32_t n = s->p->key_count, key = 0;
    for (size_t i = 0; i < c->order.count; i++) {
        enum profile_column_id id = c->order.items[i].id;
        int order;
        if (profile_column_is_key(id)) {
            uint64_t u = s->t->keys.items[(size_t)x * n + key], v = s->t->keys.items[(size_t)y * n + key];
            order = by_number(key_rank(s->p, id, u), key_rank(s->p, id, v));
            key++;
        } else {
            order = by_number(measure(s->t, id, y), measure(s->t, id, x));
        }
        if (!order && id == PROFILE_OVERHEAD_CHILDREN && s->depths) {
            const struct profile_row *a = &s->t->rows.items[x], *b = &s->t->rows.items[y];
            bool caller = s->p->plan.o->chain_order == PROFILE_CALLER;
            if (a->thread == b->thread)
                order = caller ? by_number(b->depth, a->depth) : by_number(a->depth, b->depth);
        }
        if (order)
            return order;
    }
    return 0;
}

static int by_columns(const void *a, const void *b, void *ctx) {
    return compare(ctx, *(const uint32_t *)a, *(const uint32_t *)b);
}

/* ---- the order of keys, in which entries go into the tree ---- */

static uint64_t key_place(const struct profile *p, enum profile_column_id id, uint64_t value) {
    if (id == PROFILE_SYMBOL || id == PROFILE_SYMBOL_IADDR)
        return p->name_places.items[value];
    return key_rank(p, id, value);
}

static int by_keys(const void *a, const void *b, void *ctx) {
    const struct sorter *s = ctx;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b, n = s->p->key_count;
    for (uint32_t i = 0; i < n; i++) {
        enum profile_column_id id = (enum profile_column_id)s->p->keys[i];
        int order = by_number(key_place(s->p, id, s->t->keys.items[(size_t)x * n + i]),
                              key_place(s->p, id, s->t->keys.items[(size_t)y * n + i]));
        if (order)
            return order;
    }
    return 0;
}

/* ---- a red-black tree (Guibas, Sedgewick 1978, as in every textbook), over rows; 0 is no node ---- */

struct node {
    uint32_t below[2], parent;
    bool red;
};

struct tree {
    struct node *nodes; /* [row + 1] */
    uint32_t root;
};

static void rotate(struct tree *t, uint32_t at, bool right) {
    struct node *n = t->nodes;
    uint32_t up = n[at].below[!right], inner = n[up].below[right], parent = n[at].parent;
    n[at].below[!right] = inner;
    if (inner)
        n[inner].parent = at;
    n[up].below[right] = at;
    n[at].parent = up;
    n[up].parent = parent;
    if (!parent)
        t->root = up;
    else
        n[parent].below[n[parent].below[1] == at] = up;
}

static void balance(struct tree *t, uint32_t at) {
    struct node *n = t->nodes;
    while (n[at].parent && n[n[at].parent].red) {
        uint32_t parent = n[at].parent, grand = n[parent].parent;
        bool side = n[grand].below[1] == parent;
        uint32_t uncle = n[grand].below[!side];
        if (uncle && n[uncle].red) {
            n[parent].red = n[uncle].red = false;
            n[grand].red = true;
            at = grand;
            continue;
        }
        if (n[parent].below[!side] == at) {
            rotate(t, parent, side);
            at = parent;
            parent = n[at].parent;
        }
        n[parent].red = false;
        n[grand].red = true;
        rotate(t, grand, !side);
    }
    n[t->root].red = false;
}

static void insert(struct tree *t, const struct sorter *s, uint32_t row) {
    struct node *n = t->nodes;
    uint32_t at = t->root, parent = 0;
    bool side = false;
    while (at) {
        parent = at;
        side = compare(s, row, at - 1) >= 0;
        at = n[at].below[side];
    }
    n[row + 1] = (struct node){.parent = parent, .red = true};
    if (parent)
        n[parent].below[side] = row + 1;
    else
        t->root = row + 1;
    balance(t, row + 1);
}

static bool tree_sort(const struct sorter *s, uint32_t *order, uint32_t n) {
    struct tree t = {.nodes = calloc((size_t)n + 1, sizeof *t.nodes)};
    if (!t.nodes)
        return false;
    qsort_r(order, n, sizeof *order, by_keys, (void *)s);
    for (uint32_t i = 0; i < n; i++)
        insert(&t, s, order[i]);
    uint32_t at = t.root, count = 0;
    while (at && t.nodes[at].below[0])
        at = t.nodes[at].below[0];
    while (at) {
        order[count++] = at - 1;
        uint32_t next = t.nodes[at].below[1];
        if (next) {
            while (t.nodes[next].below[0])
                next = t.nodes[next].below[0];
        } else {
            uint32_t from = at;
            next = t.nodes[at].parent;
            while (next && t.nodes[next].below[1] == from) {
                from = next;
                next = t.nodes[next].parent;
            }
        }
        at = next;
    }
    free(t.nodes);
    return true;
}

bool profile_sort(struct profile *p, struct profile_table *t) {
    uint32_t n = (uint32_t)t->rows.count;
    uint32_t *order = malloc(((size_t)n + 1) * sizeof *order);
    struct sorter s = {p, t, p->plan.o->children && p->plan.o->chain_mode != PROFILE_CHAIN_NONE};
    bool ok = order && vec_reserve(&t->entries, n);
    if (ok) {
        for (uint32_t i = 0; i < n; i++)
            order[i] = i;
        if (s.depths)
            ok = tree_sort(&s, order, n);
        else
            qsort_r(order, n, sizeof *order, by_columns, &s);
    }
    for (uint32_t i = 0; ok && i < n; i++)
        *vec_push(&t->entries) =
            (struct profile_entry){.self = &t->self.items[order[i]],
                                   .children = p->plan.o->children ? &t->children.items[order[i]] : NULL,
                                   .key = order[i]};
    free(order);
    return ok;
}
