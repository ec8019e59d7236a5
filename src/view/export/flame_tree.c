/* SPDX-License-Identifier: Apache-2.0 */
#include "view/export/flame_tree.h"

#include <stdlib.h>

#include "base/hash.h"

struct making {
    struct flame_tree *t;
    const struct stacks *s;
    struct idtable index;
    uint32_t *known; /* by node of the stacks: the node here, below the current comm's */
    uint32_t *known_for;
    VEC(uint32_t) path;
};

static uint64_t level_of(const struct making *m, uint32_t frame) {
    return frame == STACKS_NONE ? UINT8_MAX : m->s->frames.items[frame].level;
}

/* Returns the callee of that name and level, made if need be. STACKS_NONE: out of memory. */
static uint32_t callee(struct making *m, uint32_t caller, uint32_t name, uint32_t frame) {
    struct flame_tree *t = m->t;
    uint64_t level = level_of(m, frame), hash = hash_u64((uint64_t)caller << 32 | name) ^ level << 56;
    struct idtable_at at = idtable_first(&m->index, hash);
    for (uint32_t id; (id = idtable_next(&m->index, &at)) != IDTABLE_NONE;) {
        const struct flame_node *x = &t->nodes.items[id];
        if (x->caller == caller && x->name == name && level_of(m, x->frame) == level)
            return id;
    }
    uint32_t id = (uint32_t)t->nodes.count;
    struct flame_node *made = id < STACKS_NONE ? vec_push(&t->nodes) : NULL;
    if (!made || !idtable_add_at(&m->index, &at, hash, id))
        return STACKS_NONE;
    *made = (struct flame_node){
        .caller = caller, .first = STACKS_NONE, .next = STACKS_NONE, .frame = frame, .name = name};
    made->depth = caller == STACKS_NONE ? 0 : t->nodes.items[caller].depth + 1;
    t->deepest = made->depth > t->deepest ? made->depth : t->deepest;
    return id;
}

/* Returns the node of the flame tree for a node of the stacks, below the one of `comm`. STACKS_NONE: out of
 * memory. */
static uint32_t node_of(struct making *m, uint32_t comm, uint32_t node) {
    uint32_t at = node, below = comm;
    m->path.count = 0;
    for (; at != STACKS_NONE && m->known_for[at] != comm; at = m->s->nodes.items[at].caller) {
        uint32_t *step = vec_push(&m->path);
        if (!step)
            return STACKS_NONE;
        *step = at;
    }
    if (at != STACKS_NONE)
        below = m->known[at];
    while (m->path.count) {
        uint32_t next = m->path.items[--m->path.count], frame = m->s->nodes.items[next].frame;
        below = callee(m, below, m->s->frames.items[frame].name, frame);
        if (below == STACKS_NONE)
            return STACKS_NONE;
        m->known[next] = below;
        m->known_for[next] = comm;
    }
    return below;
}

static bool add_rows(struct making *m, const struct export_options *o) {
    for (size_t i = 0; i < m->s->rows.count; i++) {
        const struct stacks_row *row = &m->s->rows.items[i];
        bool base = o->compares && row->event == o->base_event;
        if ((row->event != o->event && !base) || (o->weights && !o->weights[i]))
            continue;
        uint32_t comm = callee(m, 0, row->comm, STACKS_NONE),
                 node = comm == STACKS_NONE ? comm : node_of(m, comm, row->node);
        if (node == STACKS_NONE)
            return false;
        uint64_t weight = o->weights ? o->weights[i] : export_weight(o, row->samples, row->period);
        *(base ? &m->t->nodes.items[node].base_total : &m->t->nodes.items[node].self) += weight;
    }
    return true;
}

/* ---- sums and order ---- */

struct sorted {
    const char *name;
    uint32_t node;
};

static int by_name(const void *a, const void *b) {
    const struct sorted *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : x->node < y->node ? -1 : x->node > y->node;
}

/* Sums up towards the root, and links callees by name. False: out of memory. */
static bool link_nodes(struct flame_tree *t, const struct stacks *s) {
    size_t n = t->nodes.count;
    struct sorted *order = malloc((n + 1) * sizeof *order);
    for (size_t i = n; order && i-- > 0;) {
        struct flame_node *x = &t->nodes.items[i];
        order[i] = (struct sorted){stacks_str(s, x->name), (uint32_t)i};
        x->total += x->self;
        if (x->caller != STACKS_NONE) {
            t->nodes.items[x->caller].total += x->total;
            t->nodes.items[x->caller].base_total += x->base_total;
        }
    }
    if (!order)
        return false;
    qsort(order, n, sizeof *order, by_name);
    for (size_t i = n; i-- > 0;) { /* the last one first: each goes before those already linked */
        struct flame_node *x = &t->nodes.items[order[i].node];
        if (x->caller == STACKS_NONE)
            continue;
        x->next = t->nodes.items[x->caller].first;
        t->nodes.items[x->caller].first = order[i].node;
    }
    free(order);
    return true;
}

bool flame_tree_make(struct flame_tree *t, const struct stacks *s, const struct export_options *o,
                     struct err *err) {
    size_t n = s->nodes.count + 1;
    struct making m = {
        .t = t, .s = s, .known = malloc(n * sizeof *m.known), .known_for = calloc(n, sizeof *m.known)};
    bool ok = m.known && m.known_for && callee(&m, STACKS_NONE, 0, STACKS_NONE) == 0 && add_rows(&m, o) &&
              link_nodes(t, s);
    idtable_fini(&m.index);
    free(m.known);
    free(m.known_for);
    vec_fini(&m.path);
    return ok || err_memory(err, "tree of stacks");
}

void flame_tree_fini(struct flame_tree *t) {
    vec_fini(&t->nodes);
}
