/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trees of callchains that call graphs are made of. Only few rows have graphs, so trees are made, once it
 * is known which, of what their graphs show:
 *
 *   whole trees      of the leaves whose own row has a graph, and of those that pass a row which is `whole`
 *   trees of tails   of the leaves that pass a row with a graph that is not `whole`
 *
 * Callers first, a graph shows of a passing sample only what is behind the row's frame. For a row that never
 * lies in the outer part of a chain in two parts (parts.h), that is in the inner part, the tail, which is the
 * same for many leaves; in a tree of tails all these are one. All other rows are `whole`.
 *
 * Of these, a graph that leaves out what is below a share of everything never shows a frame whose own row has
 * no graph: neighbouring ones are one node of no frame, PROFILE_PRUNED.
 *
 *   leaves                       whole tree                        tree of tails
 *   main read | entry vfs_read   main - read - entry - vfs_read    entry - vfs_read
 *   sh   read | entry vfs_read   sh - read - entry - vfs_read
 */
#include <stdlib.h>

#include "base/prefetch.h"
#include "base/radix.h"
#include "profile/profile_internal.h"

/* A node on the path. */
struct step {
    uint32_t node;
    uint32_t first_leaf, samples;
    uint64_t first_ns, period; /* first_ns: of first_leaf */
};

struct forest {
    struct profile *p;
    uint8_t *wanted;            /* by part: it has frames of rows with graphs, of some kind */
    uint8_t *frames;            /* by frame: it may be one of these */
    struct profile_spot *spots; /* by spot: the last kind that has a row with a graph there, and that */
    uint32_t kind;
    struct profile_table *t;
    bool children, caller;
    bool prunes;
    VEC(struct step) path;         /* [0]: the tree's root */
    uint32_t outer;                /* the outer part that the path has, */
    size_t outer_end;              /* up to here; 0: none yet */
    VEC(uint32_t) whole, tails;    /* leaves of the kind at hand, as far as they are wanted */
    VEC(struct radix_item) sorted; /* scratch */
    VEC(struct radix_item) room;
};

/* ---- which rows ---- */

/* Marks the rows, and notes in which frames and parts they may be. */
static bool mark_rows(struct forest *f) {
    struct profile *p = f->p;
    size_t frames = p->places.count;
    uint8_t *spots = calloc(p->spot_count + 1u, 1);
    f->frames = calloc(frames + 1, 1);
    f->wanted = calloc((size_t)profile_parts_count(&p->b.parts) + 1, 1);
    bool ok = spots && f->frames && f->wanted;
    for (uint32_t i = 0; ok && i < p->shown.count; i++) {
        struct profile_table *t = &p->tables.items[p->shown.items[i]];
        for (uint32_t k = 0; k < t->rows.count; k++) {
            struct profile_row *row = &t->rows.items[k];
            row->graph = profile_has_graph(p, t, k);
            row->whole = row->graph && !f->caller;
            if (row->graph)
                spots[profile_spot_of(p, row->frame)] = 1;
        }
    }
    for (size_t i = 0; ok && i < frames; i++)
        f->frames[i] = spots[profile_spot_of(p, (uint32_t)i)] &&
                       !(p->plan.o->hide_unresolved && !profile_name_of(p, (uint32_t)i));
    for (uint32_t i = 0; ok && i < profile_parts_count(&p->b.parts); i++) {
        uint32_t n;
        const uint32_t *ids = profile_parts_ids(&p->b.parts, i, &n);
        for (uint32_t k = 0; k < n; k++)
            f->wanted[i] |= f->frames[ids[k]];
    }
    free(spots);
    return ok;
}

/* The row with a graph that a frame has among the kind's; NULL: none. */
static struct profile_row *row_at(const struct forest *f, uint32_t frame) {
    if (!f->frames[frame])
        return NULL;
    const struct profile_spot *spot = &f->spots[profile_spot_of(f->p, frame)];
    return spot->kind == f->kind ? &f->t->rows.items[spot->row] : NULL;
}

/* The part that a graph shows of passing samples. */
static uint32_t tail_of(struct profile_chain chain) {
    return chain.inner != PROFILE_EMPTY_PART ? chain.inner : chain.outer;
}

/* Callers first: rows that lie in what stands before a tail. */
static void mark_whole(const struct forest *f, const uint32_t *leaves, uint32_t n) {
    uint32_t last = PROFILE_EMPTY_PART, count;
    for (uint32_t i = 0; i < n; i++) {
        struct profile_chain chain = f->p->b.leaves.items[leaves[i]].key.chain;
        if (chain.inner == PROFILE_EMPTY_PART || chain.outer == last || !f->wanted[chain.outer])
            continue;
        last = chain.outer;
        const uint32_t *ids = profile_parts_ids(&f->p->b.parts, chain.outer, &count);
        for (uint32_t k = 0; k < count; k++) {
            struct profile_row *row = row_at(f, ids[k]);
            if (row)
                row->whole = true;
        }
    }
}

/* ---- which leaves ---- */

enum { HAS_WHOLE = 1, HAS_TAIL = 2 };

static unsigned rows_in(const struct forest *f, uint32_t part) {
    unsigned has = 0;
    uint32_t n;
    const uint32_t *ids = profile_parts_ids(&f->p->b.parts, part, &n);
    for (uint32_t i = 0; f->wanted[part] && i < n; i++) {
        const struct profile_row *row = row_at(f, ids[i]);
        has |= !row ? 0 : row->whole ? HAS_WHOLE : HAS_TAIL;
    }
    return has;
}

/* Of leaves that lie further behind what is looked at first. */
static void ask_ahead(const struct forest *f, const uint32_t *leaves, uint32_t n, uint32_t i) {
    enum { AHEAD = 24, NEAR = 12, NEXT = 6 };
    const struct profile_builder *b = &f->p->b;
    if (i + AHEAD >= n)
        return;
    prefetch(&b->leaves.items[leaves[i + AHEAD]]);
    prefetch(&f->p->leaf_rows.items[leaves[i + AHEAD]]);
    prefetch(&f->t->rows.items[f->p->leaf_rows.items[leaves[i + NEAR]]]);
    struct profile_chain near = b->leaves.items[leaves[i + NEAR]].key.chain;
    prefetch(&f->wanted[near.outer]);
    prefetch(&f->wanted[near.inner]);
    struct profile_chain next = b->leaves.items[leaves[i + NEXT]].key.chain;
    if (f->wanted[tail_of(next)])
        prefetch(&b->parts.at.items[tail_of(next)]);
}

static bool choose_leaves(struct forest *f, const uint32_t *leaves, uint32_t n) {
    vec_clear(&f->whole);
    vec_clear(&f->tails);
    bool ok = vec_reserve(&f->whole, n) && vec_reserve(&f->tails, n);
    for (uint32_t i = 0; ok && i < n; i++) {
        ask_ahead(f, leaves, n, i);
        struct profile_chain chain = f->p->b.leaves.items[leaves[i]].key.chain;
        unsigned tail = f->children ? rows_in(f, tail_of(chain)) : 0,
                 head = f->children && chain.inner != PROFILE_EMPTY_PART ? rows_in(f, chain.outer) : 0;
        if (((tail | head) & HAS_WHOLE) || f->t->rows.items[f->p->leaf_rows.items[leaves[i]]].graph)
            f->whole.items[f->whole.count++] = leaves[i];
        if (tail & HAS_TAIL)
            f->tails.items[f->tails.count++] = leaves[i];
    }
    return ok;
}

/* ---- trees ---- */

/* Of leaves that lie further behind what is gone along: each step needs what the one before asked for. */
static void ask_chains_ahead(const struct forest *f, const uint32_t *leaves, size_t n, size_t i) {
    enum { LEAF = 18, PART = 12, IDS = 6 };
    const struct profile_builder *b = &f->p->b;
    if (i + LEAF >= n || !b->parts.ids.count)
        return;
    struct profile_chain far = b->leaves.items[leaves[i + PART]].key.chain,
                         near = b->leaves.items[leaves[i + IDS]].key.chain;
    prefetch(&b->leaves.items[leaves[i + LEAF]]);
    prefetch(&b->parts.at.items[far.outer]);
    prefetch(&b->parts.at.items[far.inner]);
    prefetch(b->parts.ids.items + b->parts.at.items[near.outer]);
    prefetch(b->parts.ids.items + b->parts.at.items[near.inner]);
}

static struct profile_chain_node *open_node(struct forest *f, uint32_t frame) {
    struct profile *p = f->p;
    struct step *step = p->nodes.count < PROFILE_NONE ? vec_push(&f->path) : NULL;
    struct profile_chain_node *node = step ? vec_push(&p->nodes) : NULL;
    if (!node)
        return NULL;
    step->node = (uint32_t)(p->nodes.count - 1);
    step->first_leaf = PROFILE_NONE;
    step->first_ns = UINT64_MAX;
    node->parent = f->path.count > 1 ? step[-1].node : PROFILE_NONE;
    node->frame = frame;
    node->row = PROFILE_NO_ROW;
    return node;
}

/* `row`: of the frame, with a graph; NULL: none. */
static bool open_frame(struct forest *f, uint32_t frame, struct profile_row *row, bool tails) {
    struct profile_chain_node *node = open_node(f, frame);
    if (!node || !row || row->whole == tails)
        return node;
    node->row = (uint32_t)(row - f->t->rows.items) & PROFILE_NO_ROW;
    node->outermost = !row->open;
    row->open = true;
    return true;
}

bool profile_leaf_before(const struct profile *p, uint32_t x, uint32_t y) {
    const struct profile_leaf *a = &p->b.leaves.items[x], *b = &p->b.leaves.items[y];
    return a->first_ns != b->first_ns ? a->first_ns < b->first_ns : x < y;
}

static void take_first(struct step *step, uint64_t first_ns, uint32_t leaf) {
    if (first_ns < step->first_ns || (first_ns == step->first_ns && leaf < step->first_leaf)) {
        step->first_ns = first_ns;
        step->first_leaf = leaf;
    }
}

/* Closes all nodes but the first `keep` of the path. */
static void close_down_to(struct forest *f, size_t keep) {
    struct profile *p = f->p;
    while (f->path.count > keep) {
        struct step *step = &f->path.items[--f->path.count];
        struct profile_chain_node *node = &p->nodes.items[step->node];
        node->end = (uint32_t)p->nodes.count;
        node->period = step->period;
        node->samples = step->samples;
        node->first_leaf = step->first_leaf;
        if (node->row != PROFILE_NO_ROW && node->outermost)
            f->t->rows.items[node->row].open = false;
        if (!f->path.count)
            return;
        step[-1].period += step->period;
        step[-1].samples += step->samples;
        take_first(&step[-1], step->first_ns, step->first_leaf);
    }
}

static bool is_pruned(const struct forest *f, uint32_t frame) {
    return f->prunes && !(f->p->plan.o->hide_unresolved && !profile_name_of(f->p, frame));
}

/* Brings the path to a chain, from `at` of it on, as long as it is the `same`. */
static bool go_along(struct forest *f, uint32_t part, size_t *at, bool *same, bool tails) {
    uint32_t n, above = f->p->nodes.items[f->path.items[*at - 1].node].frame;
    const uint32_t *ids = profile_parts_ids(&f->p->b.parts, part, &n);
    for (uint32_t i = 0; i < n; i++) {
        struct profile_row *row = f->children ? row_at(f, ids[i]) : NULL;
        uint32_t frame = !row && is_pruned(f, ids[i]) ? PROFILE_PRUNED : ids[i];
        if (frame == PROFILE_PRUNED && above == frame && *at > 1)
            continue;
        above = frame;
        *same = *same && *at < f->path.count && f->p->nodes.items[f->path.items[*at].node].frame == frame;
        if (!*same) {
            close_down_to(f, *at);
            if (!open_frame(f, frame, row, tails))
                return false;
        }
        ++*at;
    }
    return true;
}

/* Takes a leaf into the tree; its node. PROFILE_NONE: memory. */
static uint32_t add_leaf(struct forest *f, uint32_t leaf, struct profile_chain chain, bool tails) {
    bool same = true, known = f->outer_end && f->outer == chain.outer;
    size_t at = known ? f->outer_end : 1;
    if (!known && !go_along(f, chain.outer, &at, &same, tails))
        return PROFILE_NONE;
    f->outer = chain.outer;
    f->outer_end = at;
    if (!go_along(f, chain.inner, &at, &same, tails))
        return PROFILE_NONE;
    close_down_to(f, at);
    struct step *step = &f->path.items[f->path.count - 1];
    const struct profile_leaf *x = &f->p->b.leaves.items[leaf];
    step->period += x->period;
    step->samples += x->samples;
    take_first(step, x->first_ns, leaf);
    return step->node;
}

static bool open_root(struct forest *f, bool tails) {
    struct profile_chain_node *root = open_node(f, f->kind);
    if (root)
        root->outermost = tails;
    f->outer_end = 0;
    return root;
}

static bool make_whole(struct forest *f) {
    bool ok = !f->whole.count || open_root(f, false);
    for (size_t i = 0; ok && i < f->whole.count; i++) {
        ask_chains_ahead(f, f->whole.items, f->whole.count, i);
        uint32_t leaf = f->whole.items[i];
        uint32_t node = add_leaf(f, leaf, f->p->b.leaves.items[leaf].key.chain, false);
        uint32_t *listed = vec_push(&f->p->tree_leaves);
        f->p->leaf_nodes.items[leaf] = node;
        ok = listed && node != PROFILE_NONE;
        if (listed)
            *listed = leaf;
    }
    if (ok)
        close_down_to(f, 0);
    return ok;
}

static void ask_tails_ahead(const struct forest *f, size_t i) {
    enum { LEAF = 16, PART = 8 };
    const struct profile_builder *b = &f->p->b;
    if (i + LEAF >= f->tails.count)
        return;
    prefetch(&b->leaves.items[f->sorted.items[i + LEAF].value]);
    prefetch(&f->p->leaf_tails.items[f->sorted.items[i + LEAF].value]);
    prefetch(&b->parts.at.items[tail_of(b->leaves.items[f->sorted.items[i + PART].value].key.chain)]);
}

static bool make_tails(struct forest *f) {
    struct profile *p = f->p;
    size_t n = f->tails.count;
    bool ok = !n || (vec_reserve(&f->sorted, n) && vec_reserve(&f->room, n) && open_root(f, true));
    for (size_t i = 0; ok && i < n; i++) {
        uint32_t leaf = f->tails.items[i];
        uint32_t part = tail_of(p->b.leaves.items[leaf].key.chain);
        f->sorted.items[i] = (struct radix_item){p->part_ranks.items[part], leaf};
    }
    if (ok && n)
        radix_sort(f->sorted.items, f->room.items, n);
    for (size_t i = 0; ok && i < n; i++) {
        ask_tails_ahead(f, i);
        uint32_t leaf = f->sorted.items[i].value;
        struct profile_chain tail = {tail_of(p->b.leaves.items[leaf].key.chain), PROFILE_EMPTY_PART};
        uint32_t node = add_leaf(f, leaf, tail, true);
        p->leaf_tails.items[leaf] = node;
        ok = node != PROFILE_NONE;
    }
    if (ok)
        close_down_to(f, 0);
    return ok;
}

/* ---- all ---- */

static bool plant(struct forest *f, uint32_t kind, const uint32_t *leaves, uint32_t n) {
    struct profile *p = f->p;
    const struct profile_kind *k = &p->kind_list.items[kind];
    bool any = false;
    f->kind = kind;
    f->t = &p->tables.items[k->table];
    for (uint32_t i = k->first_row; i < k->first_row + k->row_count; i++) {
        struct profile_row *row = &f->t->rows.items[i];
        any |= row->graph;
        if (row->graph)
            f->spots[profile_spot_of(p, row->frame)] = (struct profile_spot){kind, i};
    }
    if (!any)
        return true;
    if (f->children && f->caller)
        mark_whole(f, leaves, n);
    return choose_leaves(f, leaves, n) && make_whole(f) && make_tails(f);
}

static bool fill(void *vec, size_t n) {
    VEC(uint32_t) *list = vec;
    if (!vec_reserve(list, n + 1))
        return false;
    memset(list->items, 0xff, n * sizeof *list->items); /* PROFILE_NONE */
    list->count = n;
    return true;
}

bool profile_forest(struct profile *p) {
    const struct profile_options *o = p->plan.o;
    struct forest f = {.p = p,
                       .children = o->children,
                       .caller = o->chain_order == PROFILE_CALLER,
                       .prunes = o->children && o->chain_mode == PROFILE_CHAIN_GRAPH &&
                                 !p->frame_groups.count}; /* which go across rows */
    uint32_t n = (uint32_t)p->leaf_order.count;
    f.spots = malloc((p->spot_count + 1u) * sizeof *f.spots);
    bool ok = f.spots && mark_rows(&f) && fill(&p->leaf_nodes, n) && fill(&p->leaf_tails, n);
    for (uint32_t i = 0; ok && i < p->spot_count; i++)
        f.spots[i].kind = PROFILE_NONE;
    for (uint32_t from = 0, end; ok && from < n; from = end) {
        uint32_t kind = p->kinds.items[p->b.leaves.items[p->leaf_order.items[from]].key.klass];
        for (end = from + 1; end < n; end++)
            if (p->kinds.items[p->b.leaves.items[p->leaf_order.items[end]].key.klass] != kind)
                break;
        ok = plant(&f, kind, &p->leaf_order.items[from], end - from);
    }
    vec_fini(&p->leaf_order);
    vec_fini(&p->part_ranks);
    free(f.spots);
    free(f.frames);
    free(f.wanted);
    vec_fini(&f.path);
    vec_fini(&f.whole);
    vec_fini(&f.tails);
    vec_fini(&f.sorted);
    vec_fini(&f.room);
    return ok;
}
