/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the call graph of one row from the top down, so that what is below the limit is never looked at.
 *
 * A *group* is a set of nodes of the chain trees that one line of the graph stands for. Its next lines are
 * the nodes' children (callers first) or parents (callees first), grouped by frame:
 *
 *   {main, main'}  ->  {do_fork, do_fork'} 60 %, {read} 3 %      main' is another thread's or process's
 *
 * A sample whose own row it is shows its whole chain, one that only passes through shows what comes after the
 * row's frame in the order of printing (as perf --children).
 */
#include <math.h>

#include <stdlib.h>

#include "base/threads/prefetch.h"
#include "profile/profile_internal.h"

struct weight {
    uint64_t period, samples;
};

/* A node of a chain tree that the line stands for, and how much of it. */
struct item {
    uint32_t node;
    bool own; /* of samples whose own row this is */
    struct weight w;
};

/* Items that share a frame. */
struct group {
    uint32_t frame, first, count; /* in items */
    struct weight w;
    uint32_t parent; /* graph node */
};

/* A node that ends chains. */
struct listed {
    uint32_t node, place;
};

/* A node on the path while the row's own samples are summed. */
struct opened {
    uint32_t node, own;
    struct weight w; /* still to be added to it and those above */
};

struct profile_graph_scratch {
    VEC(struct opened) path;
    VEC(struct listed) listed;
    VEC(uint32_t) walk;
    VEC(struct item) items;   /* of the groups on the stack */
    VEC(struct item) next;    /* of one step */
    VEC(struct group) groups; /* of one step */
    VEC(struct group) stack;
    VEC(struct weight) own;      /* by own_index */
    struct hash_map own_index;   /* node -> index in own */
    struct hash_map group_index; /* frame -> index in groups, of one step */
};

struct builder {
    const struct profile *p;
    struct profile_graph *g;
    struct profile_graph_scratch *s;
    uint32_t row;                   /* index in the table's graph_rows, */
    struct profile_graph_row lists; /* and what is there */
    bool caller;
    double min_period; /* of the event */
};

static void scratch_clear(struct profile_graph_scratch *s) {
    vec_clear(&s->items);
    vec_clear(&s->stack);
    vec_clear(&s->own);
    vec_clear(&s->path);
    hash_map_fini(&s->own_index);
}

static struct weight own_of(const struct builder *b, uint32_t node) {
    uint32_t i = hash_map_get(&b->s->own_index, node);
    return i == HASH_ABSENT ? (struct weight){0, 0} : b->s->own.items[i];
}

/* Returns where a node's own samples are summed; NULL: out of memory. */
static struct weight *note_at(struct builder *b, uint32_t node) {
    uint32_t known = hash_map_get(&b->s->own_index, node);
    if (known != HASH_ABSENT)
        return &b->s->own.items[known];
    known = (uint32_t)b->s->own.count;
    return vec_push(&b->s->own) && hash_map_set(&b->s->own_index, node, known) ? &b->s->own.items[known]
                                                                               : NULL;
}

/* Closes all nodes but the first `keep` of the path: adds opened.w to the node's sum and to the one above. */
static void close_down_to(struct builder *b, size_t keep) {
    struct profile_graph_scratch *s = b->s;
    while (s->path.count > keep) {
        struct opened *open = &s->path.items[--s->path.count];
        struct weight *w = &s->own.items[open->own];
        w->period += open->w.period;
        w->samples += open->w.samples;
        if (!s->path.count)
            return;
        open[-1].w.period += open->w.period;
        open[-1].w.samples += open->w.samples;
    }
}

/* Adds a stack sample of the row's own to a node and all above it. Stack samples mostly come in the order of
 * the tree, so what is above both a node and the one before it stays open. False: out of memory. */
static bool note_above(struct builder *b, uint32_t node, const struct profile_stack *stack) {
    const struct profile_chain_node *nodes = b->p->nodes.items;
    struct profile_graph_scratch *s = b->s;
    size_t keep = s->path.count, more = 0;
    if (node == PROFILE_NONE)
        return true;
    while (keep && (node < s->path.items[keep - 1].node || node >= nodes[s->path.items[keep - 1].node].end))
        keep--;
    close_down_to(b, keep);
    uint32_t top = keep ? s->path.items[keep - 1].node : PROFILE_NONE;
    for (uint32_t at = node; at != top; at = nodes[at].parent)
        more++;
    if (!vec_reserve(&s->path, keep + more))
        return false;
    s->path.count = keep + more;
    for (uint32_t at = node; at != top; at = nodes[at].parent) {
        struct weight *w = note_at(b, at);
        if (!w)
            return false;
        s->path.items[keep + --more] = (struct opened){.node = at, .own = (uint32_t)(w - s->own.items)};
    }
    struct opened *last = &s->path.items[s->path.count - 1];
    last->w.period += stack->period;
    last->w.samples += stack->samples;
    return true;
}

static bool note_own(struct builder *b) {
    bool ok = true;
    const struct profile_tree_leaf *leaves = b->p->tree_leaves.items;
    for (uint32_t i = b->lists.first_leaf; ok && i != PROFILE_NONE; i = leaves[i].next) {
        uint32_t id = leaves[i].stack;
        ok = note_above(b, b->p->leaf_nodes.items[id], &b->p->b.stacks.items[id]);
    }
    if (ok)
        close_down_to(b, 0);
    return ok;
}

static bool push_item(struct builder *b, uint32_t node, bool own, struct weight w) {
    struct item *item = w.samples ? vec_push(&b->s->next) : NULL;
    if (item)
        *item = (struct item){node, own, w};
    return item || !w.samples;
}

/* ---- where chains start ---- */

/* Callers first: starts at the outermost frames of own samples... */
static bool start_own_at_roots(struct builder *b) {
    const struct profile_chain_node *nodes = b->p->nodes.items;
    for (size_t i = 0; i <= b->s->own_index.mask && b->s->own_index.slots; i++) {
        const struct hash_slot *slot = &b->s->own_index.slots[i];
        if (slot->value == HASH_ABSENT || nodes[slot->key].parent == PROFILE_NONE)
            continue;
        const struct profile_chain_node *above = &nodes[nodes[slot->key].parent];
        if (above->parent != PROFILE_NONE)
            continue;
        if (!push_item(b, (uint32_t)slot->key, true, b->s->own.items[slot->value]))
            return false;
    }
    return true;
}

/* ... and at the row's outermost nodes, of samples that pass through. */
static bool start_passing_outermost(struct builder *b) {
    const struct profile_chain_node *nodes = b->p->nodes.items, *s;
    for (uint32_t node = b->lists.first_node; node != PROFILE_NONE; node = s->next) {
        s = &nodes[node];
        struct weight own = own_of(b, node);
        if (s->outermost &&
            !push_item(b, node, false, (struct weight){s->period - own.period, s->samples - own.samples}))
            return false;
    }
    return true;
}

/* Callees first: starts where own samples' chains end... */
static bool start_own_at_stacks(struct builder *b) {
    const struct profile_tree_leaf *leaves = b->p->tree_leaves.items;
    for (uint32_t i = b->lists.first_leaf; i != PROFILE_NONE; i = leaves[i].next) {
        uint32_t id = leaves[i].stack, node = b->p->leaf_nodes.items[id];
        const struct profile_stack *stack = &b->p->b.stacks.items[id];
        if (b->p->nodes.items[node].parent != PROFILE_NONE &&
            !push_item(b, node, true, (struct weight){stack->period, stack->samples}))
            return false;
    }
    return true;
}

/* ... and at the row's innermost nodes, of samples that pass through: each has what passes it less what
 * passes the row's next nodes below. Nodes come in order, parents first. */
static bool start_passing_innermost(struct builder *b) {
    const struct profile_chain_node *nodes = b->p->nodes.items;
    size_t start = b->s->next.count;
    struct hash_map index = {0};
    bool ok = true;
    for (uint32_t node = b->lists.first_node; ok && node != PROFILE_NONE; node = nodes[node].next) {
        uint32_t up = nodes[node].parent;
        struct weight own = own_of(b, node);
        struct weight w = {nodes[node].period - own.period, nodes[node].samples - own.samples};
        while (!nodes[node].outermost && nodes[up].row != b->row)
            up = nodes[up].parent;
        uint32_t above = nodes[node].outermost ? HASH_ABSENT : hash_map_get(&index, up);
        if (above != HASH_ABSENT) {
            b->s->next.items[above].w.period -= w.period;
            b->s->next.items[above].w.samples -= w.samples;
        }
        ok = !w.samples ||
             (hash_map_set(&index, node, (uint32_t)b->s->next.count) && push_item(b, node, false, w));
    }
    hash_map_fini(&index);
    size_t kept = start;
    for (size_t i = start; ok && i < b->s->next.count; i++)
        if (b->s->next.items[i].w.samples)
            b->s->next.items[kept++] = b->s->next.items[i];
    b->s->next.count = kept;
    return ok;
}

/* ---- one step ---- */

/* Pushes what comes after an item's frame. False: out of memory. */
static bool step(struct builder *b, const struct item *item) {
    const struct profile_chain_node *nodes = b->p->nodes.items;
    if (!b->caller) {
        uint32_t up = nodes[item->node].parent;
        return nodes[up].parent == PROFILE_NONE || push_item(b, up, item->own, item->w);
    }
    for (uint32_t child = item->node + 1; child < nodes[item->node].end; child = nodes[child].end) {
        const struct profile_chain_node *s = &nodes[child];
        struct weight own = b->s->own.count ? own_of(b, child) : (struct weight){0, 0};
        struct weight rest = {s->period - own.period, s->samples - own.samples};
        if (!push_item(b, child, item->own, item->own ? own : rest))
            return false;
    }
    return true;
}

/* Returns the frame that a node's line shows. */
static uint32_t shown_frame(const struct builder *b, uint32_t node) {
    uint32_t frame = b->p->nodes.items[node].frame;
    return b->p->frame_groups.count ? b->p->frame_groups.items[frame] : frame;
}

/* Sorts the items of `next` into groups by frame. */
static bool make_groups(struct builder *b) {
    struct profile_graph_scratch *s = b->s;
    vec_clear(&s->groups);
    hash_map_fini(&s->group_index);
    for (size_t i = 0; i < s->next.count; i++) {
        uint32_t frame = shown_frame(b, s->next.items[i].node);
        uint32_t id = s->groups.count && s->groups.items[s->groups.count - 1].frame == frame
                          ? (uint32_t)(s->groups.count - 1)
                          : hash_map_get(&s->group_index, frame);
        if (id == HASH_ABSENT) {
            id = (uint32_t)s->groups.count;
            struct group *made = vec_push(&s->groups);
            if (!made || !hash_map_set(&s->group_index, frame, id))
                return false;
            made->frame = frame;
        }
        struct group *g = &s->groups.items[id];
        g->count++;
        g->w.period += s->next.items[i].w.period;
        g->w.samples += s->next.items[i].w.samples;
    }
    return true;
}

/* Moves the items of the groups above the limit onto the items' stack. False: out of memory. */
static bool place_groups(struct builder *b, double min_period) {
    struct profile_graph_scratch *s = b->s;
    size_t at = s->items.count, kept = 0;
    for (size_t i = 0; i < s->groups.count; i++) {
        struct group *g = &s->groups.items[i];
        bool keep = (double)g->w.period >= min_period;
        g->first = keep ? (uint32_t)at : PROFILE_NONE;
        at += keep ? g->count : 0;
        kept += keep;
        g->count = 0;
    }
    if (!vec_reserve(&s->items, at))
        return false;
    for (size_t i = 0; kept && i < s->next.count; i++) {
        uint32_t id = hash_map_get(&s->group_index, shown_frame(b, s->next.items[i].node));
        struct group *g = &s->groups.items[id];
        if (g->first != PROFILE_NONE)
            s->items.items[g->first + g->count++] = s->next.items[i];
    }
    s->items.count = at;
    return true;
}

/* ---- order of lines ---- */

static bool is_list(const struct profile *p) {
    return p->plan.o->chain_mode == PROFILE_CHAIN_FLAT || p->plan.o->chain_mode == PROFILE_CHAIN_FOLDED;
}

/* Compares names; PROFILE_NONE, the highest number, comes last. */
static int by_name(const struct profile *p, uint32_t x, uint32_t y) {
    if (x == y || x == PROFILE_NONE || y == PROFILE_NONE)
        return profile_by_number(x, y);
    const struct profile_name *u = &p->list.items[x], *v = &p->list.items[y];
    int order = profile_by_number(p->name_ranks.items[x], p->name_ranks.items[y]);
    order = order ? order : profile_by_number(p->text_ranks.items[u->dso], p->text_ranks.items[v->dso]);
    return order ? order : profile_by_number(p->name_places.items[x], p->name_places.items[y]);
}

/* Returns the rank of a frame's source line; without one it comes last. */
static uint32_t line_rank(const struct profile *p, uint32_t frame) {
    uint32_t line = p->frame_lines.items[frame];
    return line == PROFILE_NONE ? PROFILE_NONE : p->text_ranks.items[line];
}

/* Compares two frames by what is shown of them, those without a name last; then by image and offset. */
static int by_text(const struct profile *p, uint32_t a, uint32_t b) {
    const struct resolve_frame *f = &p->b.frames.list.items[a], *g = &p->b.frames.list.items[b];
    uint32_t x = p->places.items[a].name, y = p->places.items[b].name;
    int order = by_name(p, x, y);
    if (!order && x != PROFILE_NONE && p->frame_lines.count)
        order = profile_by_number(line_rank(p, a), line_rank(p, b));
    if (!order && x == PROFILE_NONE)
        order = profile_by_number(f->address, g->address);
    order = order ? order : profile_image_compare(p, f->image, g->image);
    order = order ? order : profile_by_number(f->offset, g->offset);
    return order ? order : profile_by_number(f->cpumode, g->cpumode);
}

/* Larger periods first (but a list is sorted when it is complete). */
static int by_weight(const void *a, const void *b, void *ctx) {
    const struct group *x = a, *y = b;
    const struct profile *p = ctx;
    if (x->w.period != y->w.period && !is_list(p))
        return x->w.period > y->w.period ? -1 : 1;
    return x->frame == y->frame ? 0 : by_text(p, x->frame, y->frame);
}

static bool add_frame(struct builder *b, uint32_t frame) {
    struct profile_frame *f = vec_push(&b->g->frames);
    if (f)
        f->location = frame;
    return f != NULL;
}

/* Makes the groups of this step children of a graph node, and pushes them onto the stack. Their graph nodes
 * are made at once, so that they stand together in order. False: out of memory. */
static bool push_groups(struct builder *b, uint32_t parent) {
    struct profile_graph_scratch *s = b->s;
    size_t kept = 0;
    for (size_t i = 0; i < s->groups.count; i++)
        if (s->groups.items[i].first != PROFILE_NONE)
            s->groups.items[kept++] = s->groups.items[i];
    s->groups.count = kept;
    if (kept)
        qsort_r(s->groups.items, kept, sizeof *s->groups.items, by_weight, (void *)b->p);
    b->g->nodes.items[parent].first = (uint32_t)b->g->order.count;
    b->g->nodes.items[parent].count = (uint32_t)kept;
    for (size_t i = 0; i < kept; i++) {
        struct profile_node *n = vec_push(&b->g->nodes);
        uint32_t *order = vec_push(&b->g->order);
        struct group *g = vec_push(&s->stack);
        if (!n || !order || !g)
            return false;
        *order = (uint32_t)(b->g->nodes.count - 1);
        *n = (struct profile_node){.parent = parent};
        *g = s->groups.items[i];
        g->parent = *order; /* from here on: its own graph node */
    }
    return true;
}

/* Returns the smallest period of lines below a graph node. As in perf, a share of a node is rounded up, one
 * of the total down. */
static double limit_below(const struct builder *b, const struct profile_node *n) {
    if (is_list(b->p))
        return 0;
    return b->p->plan.o->chain_mode == PROFILE_CHAIN_FRACTAL
               ? ceil((double)n->below_period * b->p->plan.o->chain_min_percent / 100)
               : b->min_period;
}

/* Follows a group as long as there is only one way on, and pushes the branches of a fork. False: out of
 * memory. */
static bool expand(struct builder *b, struct group g) {
    struct profile_graph_scratch *s = b->s;
    uint32_t id = g.parent;
    b->g->nodes.items[id].frame = (uint32_t)b->g->frames.count;
    for (;;) {
        if (!add_frame(b, g.frame))
            return false;
        b->g->nodes.items[id].frame_count++;
        vec_clear(&s->next);
        for (uint32_t i = 0; i < g.count; i++)
            if (!step(b, &s->items.items[g.first + i]))
                return false;
        if (!make_groups(b))
            return false;
        struct weight below = {0, 0};
        for (size_t i = 0; i < s->groups.count; i++) {
            below.period += s->groups.items[i].w.period;
            below.samples += s->groups.items[i].w.samples;
        }
        bool one_sample_plan = s->groups.count == 1 && below.samples == g.w.samples;
        struct profile_node *n = &b->g->nodes.items[id];
        n->below_period = below.period;
        n->below_samples = below.samples;
        n->period = g.w.period - below.period;
        n->samples = g.w.samples - below.samples;
        if (!place_groups(b, one_sample_plan ? 0 : limit_below(b, n)))
            return false;
        if (!one_sample_plan)
            return push_groups(b, id);
        g = s->groups.items[0];
    }
}

static bool start(struct builder *b) {
    vec_clear(&b->s->next);
    if (b->caller)
        return start_own_at_roots(b) && (!b->p->plan.o->children || start_passing_outermost(b));
    return start_own_at_stacks(b) && (!b->p->plan.o->children || start_passing_innermost(b));
}

static bool build(struct builder *b) {
    struct profile_graph_scratch *s = b->s;
    struct profile_node *root = vec_push(&b->g->nodes);
    if (!root)
        return false;
    root->parent = UINT32_MAX;
    if (!note_own(b) || !start(b) || !make_groups(b))
        return false;
    for (size_t i = 0; i < s->groups.count; i++) {
        root->below_period += s->groups.items[i].w.period;
        root->below_samples += s->groups.items[i].w.samples;
    }
    if (!place_groups(b, limit_below(b, root)) || !push_groups(b, 0))
        return false;
    while (s->stack.count)
        if (!expand(b, s->stack.items[--s->stack.count]))
            return false;
    return true;
}

/* ---- lists of chains ---- */

static int by_own_period(const void *a, const void *b, void *ctx) {
    const struct listed *x = a, *y = b;
    const struct profile_graph *g = ctx;
    uint64_t u = g->nodes.items[x->node].period, v = g->nodes.items[y->node].period;
    if (u != v)
        return u > v ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* Lists the nodes below the root by their own period; equal ones in the order found, that of their chains'
 * texts. False: out of memory. */
static bool list_nodes(struct builder *b) {
    const struct profile_graph *g = b->g;
    struct profile_graph_scratch *s = b->s;
    vec_clear(&s->listed);
    vec_clear(&s->walk);
    uint32_t *next = vec_push(&s->walk); /* the root */
    while (next && s->walk.count) {
        uint32_t at = s->walk.items[--s->walk.count];
        const struct profile_node *n = &g->nodes.items[at];
        for (uint32_t i = n->count; next && i-- > 0;)
            if ((next = vec_push(&s->walk)))
                *next = g->order.items[n->first + i];
        if (!at || !n->samples || (double)n->period < b->min_period)
            continue;
        struct listed *l = vec_push(&s->listed);
        if (!l)
            return false;
        *l = (struct listed){at, (uint32_t)s->listed.count};
    }
    if (!next)
        return false;
    if (s->listed.count)
        qsort_r(s->listed.items, s->listed.count, sizeof *s->listed.items, by_own_period, b->g);
    for (size_t i = 0; i < s->listed.count; i++) {
        uint32_t *node = vec_push(&b->g->flat);
        if (!node)
            return false;
        *node = s->listed.items[i].node;
    }
    return true;
}

bool profile_graph_build(const struct profile *p, const struct profile_event *e,
                         const struct profile_entry *entry, struct profile_graph *g, struct err *err) {
    if (!g->scratch)
        g->scratch = calloc(1, sizeof *g->scratch);
    if (!g->scratch)
        return err_memory(err, "call graph");
    vec_clear(&g->nodes);
    vec_clear(&g->order);
    vec_clear(&g->frames);
    vec_clear(&g->flat);
    scratch_clear(g->scratch);
    const struct profile_table *t = &p->tables.items[e->event];
    uint32_t row = profile_graph_row(t, entry->key);
    struct builder b = {.p = p,
                        .g = g,
                        .s = g->scratch,
                        .row = row,
                        .lists = t->graph_rows.items[row],
                        .caller = p->plan.o->chain_order == PROFILE_CALLER,
                        .min_period =
                            floor((double)e->member_totals[0].period * p->plan.o->chain_min_percent / 100)};
    return (build(&b) && (!is_list(p) || list_nodes(&b))) || err_memory(err, "call graph");
}

void profile_graph_fini(struct profile_graph *g) {
    struct profile_graph_scratch *s = g->scratch;
    vec_fini(&g->nodes);
    vec_fini(&g->order);
    vec_fini(&g->frames);
    vec_fini(&g->flat);
    if (!s)
        return;
    vec_fini(&s->items);
    vec_fini(&s->next);
    vec_fini(&s->groups);
    vec_fini(&s->stack);
    vec_fini(&s->own);
    vec_fini(&s->path);
    vec_fini(&s->listed);
    vec_fini(&s->walk);
    hash_map_fini(&s->own_index);
    hash_map_fini(&s->group_index);
    free(s);
    g->scratch = NULL;
}
