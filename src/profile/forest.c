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
    uint32_t node, frame;
    uint32_t samples;
    uint64_t period;
};

/* At a spot where some row has a graph: the last kind that has such a row there, and that. */
struct mark {
    uint32_t kind, row; /* row: in graph_rows of the kind's table */
    bool whole, open;   /* open: a node of the row is on the path */
};

struct forest {
    struct profile *p;
    uint32_t *frames; /* by frame: its spot's in `marks`; 0: no row has a graph there */
    uint32_t *parts;  /* what the part's frames have, see rows_in; NO_ROWS: nothing, of no kind;
                         NOT_KNOWN: nobody has looked */
    VEC(struct mark) marks;
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

/* Lists a table's rows with graphs. False: memory. */
static bool list_rows(const struct profile *p, struct profile_table *t) {
    for (uint32_t i = 0; i < t->rows.count; i++) {
        uint32_t *row = profile_has_graph(p, t, i) ? vec_push(&t->graph_rows) : NULL;
        if (row)
            *row = i;
        else if (profile_has_graph(p, t, i))
            return false;
    }
    return true;
}

/* Notes at which spots rows have graphs: spots[spot], as f->frames. False: memory. */
static bool mark_spots(struct forest *f, uint32_t *spots) {
    struct profile *p = f->p;
    struct mark *none = vec_push(&f->marks);
    bool ok = none;
    if (none)
        none->kind = PROFILE_NONE;
    for (uint32_t i = 0; ok && i < p->shown.count; i++) {
        struct profile_table *t = &p->tables.items[p->shown.items[i]];
        ok = list_rows(p, t);
        for (uint32_t k = 0; ok && k < t->graph_rows.count; k++) {
            uint32_t *at = &spots[profile_spot_of(p, t->rows.items[t->graph_rows.items[k]].frame)];
            struct mark *mark = *at ? NULL : vec_push(&f->marks);
            ok = mark || *at;
            if (!mark)
                continue;
            mark->kind = PROFILE_NONE;
            *at = (uint32_t)f->marks.count - 1;
        }
    }
    return ok;
}

enum { NOT_KNOWN = 0, NO_ROWS = 1, HAS_WHOLE = 1, HAS_TAIL = 2, HAS_BITS = 2 };

/* Finds the rows with graphs, and in which frames they may be. */
static bool mark_rows(struct forest *f) {
    struct profile *p = f->p;
    size_t frames = p->places.count;
    uint32_t *spots = calloc(p->spot_count + 1u, sizeof *spots);
    f->frames = malloc((frames + 1) * sizeof *f->frames);
    f->parts = calloc((size_t)profile_parts_count(&p->b.parts) + 1, sizeof *f->parts); /* NOT_KNOWN */
    bool ok = spots && f->frames && f->parts && mark_spots(f, spots);
    for (size_t i = 0; ok && i < frames; i++)
        f->frames[i] = spots[profile_spot_of(p, (uint32_t)i)];
    if (ok)
        f->parts[PROFILE_EMPTY_PART] = NO_ROWS; /* which is there without any other, too */
    free(spots);
    return ok;
}

/* The row with a graph that the kind has at a frame's spot; NULL: none. */
static struct mark *own_row(const struct forest *f, uint32_t frame) {
    struct mark *mark = &f->marks.items[f->frames[frame]];
    return mark->kind == f->kind ? mark : NULL;
}

/* The same for a frame of a callchain. */
static struct mark *row_at(const struct forest *f, uint32_t frame) {
    return f->frames[frame] ? own_row(f, frame) : NULL;
}

/* The part that a graph shows of passing samples. */
static uint32_t tail_of(struct profile_chain chain) {
    return chain.inner != PROFILE_EMPTY_PART ? chain.inner : chain.outer;
}

/* Whether a part may have rows of the kind; `all`: these are `whole`. */
static unsigned look_at_part(const struct forest *f, uint32_t part, bool all) {
    uint32_t n, any = 0;
    unsigned has = 0;
    const uint32_t *ids = profile_parts_ids(&f->p->b.parts, part, &n);
    for (uint32_t i = 0; i < n; i++) {
        any |= f->frames[ids[i]];
        struct mark *row = row_at(f, ids[i]);
        if (!row)
            continue;
        row->whole |= all;
        has |= row->whole ? HAS_WHOLE : HAS_TAIL;
    }
    f->parts[part] = !any ? NO_ROWS : all ? f->parts[part] : (f->kind + 1) << HAS_BITS | has;
    return has;
}

/* Of leaves that lie further behind what is looked at first: each step needs what the one before asked for.
 */
static void ask_parts_ahead(const struct forest *f, uint32_t i, uint32_t end) {
    enum { FAR = 18, PART = 12, IDS = 6 };
    const struct profile_builder *b = &f->p->b;
    const struct profile_leaf *leaf = &b->leaves.items[i];
    if (i + FAR >= end)
        return;
    prefetch(&f->frames[leaf[FAR].key.frame]);
    prefetch(&f->parts[leaf[FAR].key.chain.outer]);
    prefetch(&f->parts[leaf[FAR].key.chain.inner]);
    uint32_t far = leaf[PART].key.chain.outer, near = leaf[IDS].key.chain.outer;
    if (f->parts[far] == NOT_KNOWN)
        prefetch(&b->parts.at.items[far]);
    if (f->parts[near] == NOT_KNOWN)
        prefetch(b->parts.ids.items + b->parts.at.items[near]);
}

/* Callers first: rows that lie in what stands before a tail. */
static void mark_whole(const struct forest *f, const struct profile_kind *kind) {
    uint32_t last = PROFILE_EMPTY_PART, end = kind->first_leaf + kind->leaf_count;
    for (uint32_t i = kind->first_leaf; i < end; i++) {
        ask_parts_ahead(f, i, end);
        struct profile_chain chain = f->p->b.leaves.items[i].key.chain;
        if (chain.inner == PROFILE_EMPTY_PART || chain.outer == last)
            continue;
        last = chain.outer;
        if (f->parts[last] != NO_ROWS)
            look_at_part(f, last, true);
    }
}

/* ---- which leaves ---- */

/* Which rows the kind has among a part's frames: found out once for both. */
static unsigned rows_in(const struct forest *f, uint32_t part) {
    uint32_t known = f->parts[part];
    if (known == NO_ROWS)
        return 0;
    return known >> HAS_BITS == f->kind + 1 ? known & (HAS_WHOLE | HAS_TAIL) : look_at_part(f, part, false);
}

static bool choose_leaves(struct forest *f, const struct profile_kind *kind) {
    uint32_t end = kind->first_leaf + kind->leaf_count;
    vec_clear(&f->whole);
    vec_clear(&f->tails);
    bool ok = vec_reserve(&f->whole, kind->leaf_count) && vec_reserve(&f->tails, kind->leaf_count);
    for (uint32_t i = kind->first_leaf; ok && i < end; i++) {
        ask_parts_ahead(f, i, end);
        const struct profile_leaf_key *key = &f->p->b.leaves.items[i].key;
        unsigned tail = 0, head = 0;
        if (f->children) {
            tail = rows_in(f, tail_of(key->chain));
            head = key->chain.inner != PROFILE_EMPTY_PART ? rows_in(f, key->chain.outer) : 0;
        }
        if (((tail | head) & HAS_WHOLE) || own_row(f, key->frame))
            f->whole.items[f->whole.count++] = i;
        if (tail & HAS_TAIL)
            f->tails.items[f->tails.count++] = i;
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
    step->frame = frame;
    node->parent = f->path.count > 1 ? step[-1].node : PROFILE_NONE;
    node->frame = frame;
    node->row = PROFILE_NO_ROW;
    return node;
}

/* `row`: of the frame, with a graph; NULL: none. */
static bool open_frame(struct forest *f, uint32_t frame, struct mark *row, bool tails) {
    struct profile_chain_node *node = open_node(f, frame);
    if (!node || !row || row->whole == tails)
        return node;
    node->row = row->row & PROFILE_NO_ROW;
    node->outermost = !row->open;
    row->open = true;
    f->t->node_at.items[row->row + 2]++;
    return true;
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
        if (node->row != PROFILE_NO_ROW && node->outermost)
            f->marks.items[f->frames[node->frame]].open = false;
        if (!f->path.count)
            return;
        step[-1].period += step->period;
        step[-1].samples += step->samples;
    }
}

/* Brings the path to a chain, from `at` of it on, as long as it is the `same`. */
static bool go_along(struct forest *f, uint32_t part, size_t *at, bool *same, bool tails) {
    uint32_t n, above = f->path.items[*at - 1].frame;
    const uint32_t *ids = profile_parts_ids(&f->p->b.parts, part, &n);
    for (uint32_t i = 0; i < n; i++) {
        struct mark *row = f->children ? row_at(f, ids[i]) : NULL;
        uint32_t frame = !row && f->prunes ? PROFILE_PRUNED : ids[i];
        if (frame == PROFILE_PRUNED && above == frame && *at > 1)
            continue;
        above = frame;
        *same = *same && *at < f->path.count && f->path.items[*at].frame == frame;
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
    return step->node;
}

static bool open_root(struct forest *f, bool tails) {
    struct profile_chain_node *root = open_node(f, f->kind);
    if (root)
        root->outermost = tails;
    f->outer_end = 0;
    return root;
}

/* Notes a leaf of a row with a graph; NULL: it has none. */
static bool list_leaf(struct forest *f, uint32_t leaf, const struct mark *row) {
    struct profile_tree_leaf *listed = row ? vec_push(&f->p->tree_leaves) : NULL;
    if (listed) {
        *listed = (struct profile_tree_leaf){leaf, row->row};
        f->t->leaf_at.items[row->row + 2]++;
    }
    return listed || !row;
}

static bool make_whole(struct forest *f) {
    bool ok = !f->whole.count || open_root(f, false);
    for (size_t i = 0; ok && i < f->whole.count; i++) {
        ask_chains_ahead(f, f->whole.items, f->whole.count, i);
        uint32_t leaf = f->whole.items[i];
        const struct profile_leaf_key *key = &f->p->b.leaves.items[leaf].key;
        uint32_t node = add_leaf(f, leaf, key->chain, false);
        f->p->leaf_nodes.items[leaf] = node;
        ok = node != PROFILE_NONE && list_leaf(f, leaf, own_row(f, key->frame));
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

/* The first of a table's rows with graphs that is `row` or behind it. */
static uint32_t first_from(const struct profile_table *t, uint32_t row) {
    uint32_t from = 0, end = (uint32_t)t->graph_rows.count;
    while (from < end) {
        uint32_t mid = from + (end - from) / 2;
        if (t->graph_rows.items[mid] < row)
            from = mid + 1;
        else
            end = mid;
    }
    return from;
}

static bool plant(struct forest *f, uint32_t kind) {
    struct profile *p = f->p;
    const struct profile_kind *k = &p->kind_list.items[kind];
    f->kind = kind;
    f->t = &p->tables.items[k->table];
    uint32_t from = first_from(f->t, k->first_row), end = first_from(f->t, k->first_row + k->row_count);
    for (uint32_t i = from; i < end; i++) {
        uint32_t frame = f->t->rows.items[f->t->graph_rows.items[i]].frame;
        f->marks.items[f->frames[frame]] = (struct mark){kind, i, .whole = !f->caller};
    }
    if (from == end)
        return true;
    if (f->children && f->caller)
        mark_whole(f, k);
    return choose_leaves(f, k) && make_whole(f) && make_tails(f);
}

static bool fill(void *vec, size_t n) {
    VEC(uint32_t) *list = vec;
    if (!vec_reserve(list, n + 1))
        return false;
    memset(list->items, 0xff, n * sizeof *list->items); /* PROFILE_NONE */
    list->count = n;
    return true;
}

/* Counting sort, see graph.c: at[owner + 2] counts the things of an owner. */
static bool make_at(void **at_items, size_t *cap, size_t owners) {
    if (!vec_reserve_raw(at_items, cap, owners + 2, sizeof(uint32_t)))
        return false;
    memset(*at_items, 0, (owners + 2) * sizeof(uint32_t));
    return true;
}

static bool start_lists(struct profile_table *t) {
    size_t rows = t->graph_rows.count;
    return make_at((void **)&t->node_at.items, &t->node_at.cap, rows) &&
           make_at((void **)&t->leaf_at.items, &t->leaf_at.cap, rows);
}

bool profile_forest(struct profile *p) {
    const struct profile_options *o = p->plan.o;
    struct forest f = {.p = p,
                       .children = o->children,
                       .caller = o->chain_order == PROFILE_CALLER,
                       .prunes = o->children && o->chain_mode == PROFILE_CHAIN_GRAPH &&
                                 !p->frame_groups.count}; /* which go across rows */
    uint32_t n = (uint32_t)p->b.leaves.count;
    bool ok = mark_rows(&f) && fill(&p->leaf_nodes, n) && fill(&p->leaf_tails, n);
    for (uint32_t i = 0; ok && i < p->tables.count; i++)
        ok = start_lists(&p->tables.items[i]);
    for (uint32_t i = 0; ok && i < p->kind_list.count; i++)
        ok = plant(&f, i);
    vec_fini(&p->part_ranks);
    free(f.frames);
    free(f.parts);
    vec_fini(&f.marks);
    vec_fini(&f.path);
    vec_fini(&f.whole);
    vec_fini(&f.tails);
    vec_fini(&f.sorted);
    vec_fini(&f.room);
    return ok;
}
