/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The callers of one row on all sides: each side's graph is added to one tree, frame by frame, as sides
 * differ in which frames always follow each other. Nodes of the tree are found by their parent and their
 * text.
 */
#include <math.h>
#include <stdlib.h>

#include "base/hash.h"
#include "profile/compare/compare.h"
#include "profile/compare/names.h"

enum { NO_NODE = UINT32_MAX };

struct node {
    const char *text;
    uint32_t parent, first, next; /* children are linked, NO_NODE ends */
};

struct merging {
    const struct compare *c;
    struct compare_callers *out;
    VEC(struct node) nodes;         /* [0]: the row itself */
    VEC(struct compare_cell) cells; /* [node * sides + side] */
    struct hash_map by_text;        /* hash of parent and text -> node */
    struct out text;
    VEC(uint32_t) ends; /* of the graph that is added: by node, the merged one of its last frame */
    uint32_t side;
};

static uint32_t add_node(struct merging *m, uint32_t parent) {
    uint32_t id = (uint32_t)m->nodes.count;
    struct node *n = vec_push(&m->nodes);
    if (!n || !vec_reserve(&m->cells, m->cells.count + m->c->sides))
        return NO_NODE;
    memset(&m->cells.items[m->cells.count], 0, m->c->sides * sizeof *m->cells.items);
    m->cells.count += m->c->sides;
    *n = (struct node){"", parent, NO_NODE, NO_NODE};
    if (parent == NO_NODE)
        return id;
    n->text = arena_strndup(&m->out->arena, out_text(&m->text), m->text.len);
    n->next = m->nodes.items[parent].first;
    m->nodes.items[parent].first = id;
    return n->text ? id : NO_NODE;
}

/* Returns the node below `parent` with the text in m->text. NO_NODE: out of memory. */
static uint32_t node_below(struct merging *m, uint32_t parent) {
    const char *text = out_text(&m->text);
    uint64_t hash = hash_fold(hash_bytes(text, m->text.len) ^ HASH_ODD, parent + 1u);
    for (uint32_t id; (id = hash_map_get(&m->by_text, hash)) != HASH_ABSENT; hash++)
        if (m->nodes.items[id].parent == parent && strcmp(m->nodes.items[id].text, text) == 0)
            return id;
    uint32_t id = add_node(m, parent);
    return id != NO_NODE && hash_map_set(&m->by_text, hash, id) ? id : NO_NODE;
}

/* Adds the graph of a row of one side. Parents come before their children there. */
static bool add_graph(struct merging *m, const struct profile *p, const struct profile_graph *g) {
    vec_clear(&m->ends);
    if (!vec_reserve(&m->ends, g->nodes.count + 1))
        return false;
    for (size_t i = 0; i < g->nodes.count; i++) {
        const struct profile_node *n = &g->nodes.items[i];
        uint32_t at = n->parent == UINT32_MAX ? 0 : m->ends.items[n->parent];
        for (uint32_t f = 0; f < n->frame_count; f++) {
            m->text.len = 0;
            profile_frame_text(p, &g->frames.items[n->frame + f], &m->text);
            m->text.len = compare_function_stem(out_text(&m->text), m->text.len);
            if ((at = node_below(m, at)) == NO_NODE)
                return false;
            struct compare_cell *cell = &m->cells.items[(size_t)at * m->c->sides + m->side];
            cell->period += n->period + n->below_period;
            cell->samples += n->samples + n->below_samples;
            cell->there = true;
        }
        m->ends.items[m->ends.count++] = at;
    }
    return true;
}

static bool add_side(struct merging *m, const struct compare_side *s, uint32_t row, struct err *err) {
    struct profile_graph g = {0};
    bool ok = true;
    for (uint32_t i = 0; ok && s->event && i < s->event->root_count; i++) {
        if (m->c->row_of[m->side][i] != row)
            continue;
        struct profile_entry entry = profile_entry_at(s->profile, s->event, i);
        if (entry.has_graph)
            ok = profile_graph_build(s->profile, s->event, &entry, &g, err) && add_graph(m, s->profile, &g);
    }
    profile_graph_fini(&g);
    return ok;
}

/* ---- order ---- */

static double share(const struct merging *m, uint32_t node, uint32_t side) {
    uint64_t total = m->c->totals.items[side];
    return total ? 100.0 * (double)m->cells.items[(size_t)node * m->c->sides + side].period / (double)total
                 : 0;
}

/* How far the sides are apart, in per cent. */
static double spread(const struct merging *m, uint32_t node, double *most) {
    double low = share(m, node, 0);
    *most = low;
    for (uint32_t s = 1; s < m->c->sides; s++) {
        low = fmin(low, share(m, node, s));
        *most = fmax(*most, share(m, node, s));
    }
    return *most - low;
}

static int by_change(const void *one, const void *other, void *ctx) {
    const struct merging *m = ctx;
    uint32_t x = *(const uint32_t *)one, y = *(const uint32_t *)other;
    double most, a = spread(m, x, &most), b = spread(m, y, &most);
    return a != b ? (a > b ? -1 : 1) : strcmp(m->nodes.items[x].text, m->nodes.items[y].text);
}

struct level {
    uint32_t node, depth;
};

/* Lists the tree in the order of printing, without recursion: chains may have thousands of frames. */
static bool list(struct merging *m, double least) {
    VEC(struct level) left = {0};
    VEC(uint32_t) children = {0};
    struct level *root = vec_push(&left);
    bool ok = root != NULL;
    uint32_t own = m->nodes.items[0].first; /* the row's function: a chain begins with it */
    bool only = own != NO_NODE && m->nodes.items[own].next == NO_NODE;
    if (ok)
        *root = (struct level){only ? own : 0, 0};
    while (ok && left.count) {
        struct level at = left.items[--left.count];
        if (at.depth) {
            struct compare_caller *k = vec_push(&m->out->list);
            ok = k && vec_reserve(&m->out->cells, m->out->cells.count + m->c->sides);
            if (!ok)
                break;
            *k = (struct compare_caller){m->nodes.items[at.node].text, at.depth - 1,
                                         (uint32_t)m->out->cells.count};
            memcpy(&m->out->cells.items[m->out->cells.count], &m->cells.items[(size_t)at.node * m->c->sides],
                   m->c->sides * sizeof *m->cells.items);
            m->out->cells.count += m->c->sides;
        }
        vec_clear(&children);
        for (uint32_t n = m->nodes.items[at.node].first; ok && n != NO_NODE; n = m->nodes.items[n].next) {
            double most;
            spread(m, n, &most);
            uint32_t *child = most >= least ? vec_push(&children) : NULL;
            ok = child || most < least;
            if (child)
                *child = n;
        }
        if (children.count)
            qsort_r(children.items, children.count, sizeof *children.items, by_change, m);
        for (size_t i = children.count; ok && i-- > 0;) { /* the last on top is taken first */
            struct level *l = vec_push(&left);
            ok = l != NULL;
            if (ok)
                *l = (struct level){children.items[i], at.depth + 1};
        }
    }
    vec_fini(&left);
    vec_fini(&children);
    return ok;
}

bool compare_callers_find(const struct compare *c, const struct compare_side *sides, uint32_t row,
                          double least, struct compare_callers *out, struct err *err) {
    struct merging m = {.c = c, .out = out};
    vec_clear(&out->list);
    vec_clear(&out->cells);
    arena_fini(&out->arena);
    bool ok = out_init(&m.text, NULL, NULL) && add_node(&m, NO_NODE) == 0;
    for (m.side = 0; ok && m.side < c->sides; m.side++)
        ok = add_side(&m, &sides[m.side], row, err);
    ok = ok && list(&m, least);
    out_fini(&m.text);
    vec_fini(&m.nodes);
    vec_fini(&m.cells);
    vec_fini(&m.ends);
    hash_map_fini(&m.by_text);
    return ok || err_memory(err, "callers");
}

void compare_callers_fini(struct compare_callers *k) {
    vec_fini(&k->list);
    vec_fini(&k->cells);
    arena_fini(&k->arena);
}
