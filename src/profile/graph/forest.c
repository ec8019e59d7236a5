/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trees of callchains that call graphs are made of, one for each kind. Only few rows have graphs, so
 * trees are made once these are known, and only of the stack samples that belong to such a row or pass
 * through it.
 */
#include <stdlib.h>

#include "profile/profile_internal.h"

/* A node on the path. */
struct step {
    uint32_t node, frame;
    uint32_t samples;
    uint64_t period;
};

/* Of a frame key where some row has a graph: the last kind with such a row, and the row. */
struct mark {
    uint32_t kind, row; /* row: index in graph_rows of the kind's table */
    bool open;          /* a node of the row is on the path */
};

struct forest {
    struct profile *p;
    uint32_t *frames;   /* by frame: index of its frame key in `marks`; 0: no row has a graph there */
    uint32_t *segments; /* by segment: what has_rows found for the last kind; NO_ROWS: nothing, for any kind;
                           NOT_KNOWN: not looked at */
    VEC(struct mark) marks;
    uint32_t kind;
    struct profile_table *t;
    bool children;
    VEC(struct step) path; /* [0]: the tree's root; empty: the kind has none yet */
    uint32_t outer;        /* the outer segment on the path, */
    size_t outer_end;      /* which ends here; 0: none yet */
};

/* ---- which rows ---- */

/* Lists a table's rows with graphs. False: out of memory. */
static bool list_rows(const struct profile *p, struct profile_table *t) {
    for (uint32_t i = 0; i < t->rows.count; i++) {
        if (!profile_has_graph(p, t, i))
            continue;
        struct profile_graph_row *row = vec_push(&t->graph_rows);
        if (!row)
            return false;
        *row = (struct profile_graph_row){i, PROFILE_NONE, PROFILE_NONE, PROFILE_NONE, PROFILE_NONE};
    }
    return true;
}

/* Makes marks of the frame keys where rows have graphs: frame_keys[key], as f->frames. False: out of memory.
 */
static bool mark_frame_keys(struct forest *f, uint32_t *frame_keys) {
    struct profile *p = f->p;
    struct mark *none = vec_push(&f->marks);
    bool ok = none;
    if (none)
        none->kind = PROFILE_NONE;
    for (uint32_t i = 0; ok && i < p->shown.count; i++) {
        struct profile_table *t = &p->tables.items[p->shown.items[i]];
        ok = list_rows(p, t);
        for (uint32_t k = 0; ok && k < t->graph_rows.count; k++) {
            uint32_t *at =
                &frame_keys[profile_frame_key_of(p, t->rows.items[t->graph_rows.items[k].row].frame)];
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

enum { NOT_KNOWN = 0, NO_ROWS = 1 };

/* Finds the rows with graphs, and the frames where they may be. False: out of memory. */
static bool mark_rows(struct forest *f) {
    struct profile *p = f->p;
    size_t frames = p->places.count;
    uint32_t *frame_keys = calloc(p->frame_key_count + 1u, sizeof *frame_keys);
    f->frames = malloc((frames + 1) * sizeof *f->frames);
    f->segments =
        calloc((size_t)profile_segments_count(&p->b.segments) + 1, sizeof *f->segments); /* NOT_KNOWN */
    bool ok = frame_keys && f->frames && f->segments && mark_frame_keys(f, frame_keys);
    for (size_t i = 0; ok && i < frames; i++)
        f->frames[i] = frame_keys[profile_frame_key_of(p, (uint32_t)i)];
    if (ok)
        f->segments[PROFILE_EMPTY_SEGMENT] = NO_ROWS; /* it exists even if no other does */
    free(frame_keys);
    return ok;
}

/* Returns the kind's row with a graph at a frame's frame key; NULL: none. */
static struct mark *own_row(const struct forest *f, uint32_t frame) {
    struct mark *mark = &f->marks.items[f->frames[frame]];
    return mark->kind == f->kind ? mark : NULL;
}

/* The same for a frame of a callchain. */
static struct mark *row_at(const struct forest *f, uint32_t frame) {
    return f->frames[frame] ? own_row(f, frame) : NULL;
}

/* Whether the kind has rows with graphs at some of a segment's frames: looked up once for each kind. */
static bool has_rows(const struct forest *f, uint32_t segment) {
    uint32_t n, any = 0, known = f->segments[segment];
    bool has = false;
    if (known == NO_ROWS)
        return false;
    if (known >> 1 == f->kind + 1)
        return known & 1;
    const uint32_t *ids = profile_segments_ids(&f->p->b.segments, segment, &n);
    for (uint32_t i = 0; i < n; i++) {
        any |= f->frames[ids[i]];
        has |= row_at(f, ids[i]) != NULL;
    }
    f->segments[segment] = any ? (f->kind + 1) << 1 | has : NO_ROWS;
    return has;
}

/* ---- trees ---- */

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
    node->next = PROFILE_NONE;
    return node;
}

/* Appends a frame to the path; `row`: its row with a graph, or NULL. False: out of memory. */
static bool open_frame(struct forest *f, uint32_t frame, struct mark *row) {
    struct profile_chain_node *node = open_node(f, frame);
    if (!node || !row)
        return node;
    node->row = row->row & PROFILE_NO_ROW;
    node->outermost = !row->open;
    row->open = true;
    struct profile_graph_row *r = &f->t->graph_rows.items[row->row];
    uint32_t id = (uint32_t)(f->p->nodes.count - 1);
    *(r->last_node == PROFILE_NONE ? &r->first_node : &f->p->nodes.items[r->last_node].next) = id;
    r->last_node = id;
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

/* Moves the path along a segment, from path[*at] on; *same: so far it has the same frames. False: out of
 * memory. */
static bool go_along(struct forest *f, uint32_t segment, size_t *at, bool *same) {
    uint32_t n;
    const uint32_t *ids = profile_segments_ids(&f->p->b.segments, segment, &n);
    for (uint32_t i = 0; i < n; i++) {
        *same = *same && *at < f->path.count && f->path.items[*at].frame == ids[i];
        if (!*same) {
            close_down_to(f, *at);
            if (!open_frame(f, ids[i], f->children ? row_at(f, ids[i]) : NULL))
                return false;
        }
        ++*at;
    }
    return true;
}

/* Adds a stack sample to the tree; returns its node. PROFILE_NONE: out of memory. */
static uint32_t add_stack(struct forest *f, uint32_t stack) {
    const struct profile_stack *x = &f->p->b.stacks.items[stack];
    bool same = true, known = f->outer_end && f->outer == x->key.chain.outer;
    size_t at = known ? f->outer_end : 1;
    if (!known && !go_along(f, x->key.chain.outer, &at, &same))
        return PROFILE_NONE;
    f->outer = x->key.chain.outer;
    f->outer_end = at;
    if (!go_along(f, x->key.chain.inner, &at, &same))
        return PROFILE_NONE;
    close_down_to(f, at);
    struct step *step = &f->path.items[f->path.count - 1];
    step->period += x->period;
    step->samples += x->samples;
    return step->node;
}

/* Lists a stack sample for its row with a graph; NULL: it has none. False: out of memory. */
static bool list_stack(struct forest *f, uint32_t stack, const struct mark *row) {
    struct profile *p = f->p;
    uint32_t id = (uint32_t)p->tree_leaves.count;
    struct profile_tree_leaf *listed = row ? vec_push(&p->tree_leaves) : NULL;
    if (!listed)
        return !row;
    *listed = (struct profile_tree_leaf){stack, PROFILE_NONE};
    struct profile_graph_row *r = &f->t->graph_rows.items[row->row];
    *(r->last_leaf == PROFILE_NONE ? &r->first_leaf : &p->tree_leaves.items[r->last_leaf].next) = id;
    r->last_leaf = id;
    return true;
}

/* Makes the tree of the kind's stack samples, as far as graphs show it. False: out of memory. */
static bool make_tree(struct forest *f, const struct profile_kind *kind) {
    uint32_t end = kind->first_stack + kind->stack_count;
    f->outer_end = 0;
    for (uint32_t i = kind->first_stack; i < end; i++) {
        const struct profile_stack_key *key = &f->p->b.stacks.items[i].key;
        struct mark *own = own_row(f, key->frame);
        if (!own && (!f->children || !(has_rows(f, key->chain.outer) || has_rows(f, key->chain.inner))))
            continue;
        if (!f->path.count && !open_node(f, f->kind))
            return false;
        f->p->leaf_nodes.items[i] = add_stack(f, i);
        if (f->p->leaf_nodes.items[i] == PROFILE_NONE || !list_stack(f, i, own))
            return false;
    }
    if (f->path.count)
        close_down_to(f, 0);
    return true;
}

/* ---- all ---- */

uint32_t profile_graph_row(const struct profile_table *t, uint32_t row) {
    uint32_t from = 0, end = (uint32_t)t->graph_rows.count;
    while (from < end) {
        uint32_t mid = from + (end - from) / 2;
        if (t->graph_rows.items[mid].row < row)
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
    uint32_t from = profile_graph_row(f->t, k->first_row),
             end = profile_graph_row(f->t, k->first_row + k->row_count);
    for (uint32_t i = from; i < end; i++) {
        uint32_t frame = f->t->rows.items[f->t->graph_rows.items[i].row].frame;
        f->marks.items[f->frames[frame]] = (struct mark){kind, i, false};
    }
    return from == end || make_tree(f, k);
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
    struct forest f = {.p = p, .children = p->plan.o->children};
    uint32_t n = (uint32_t)p->b.stacks.count;
    bool ok = mark_rows(&f) && fill(&p->leaf_nodes, n);
    for (uint32_t i = 0; ok && i < p->kind_list.count; i++)
        ok = plant(&f, i);
    vec_fini(&p->segment_ranks);
    free(f.frames);
    free(f.segments);
    vec_fini(&f.marks);
    vec_fini(&f.path);
    return ok;
}
