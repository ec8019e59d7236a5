/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One walk along the leaves in the order of their callchains, which finds the rows and what passes through
 * them, without building the tree that the chains make:
 *
 *   leaves in order          path while walking (outermost frame first)
 *   main fork entry          main fork entry      opened: 3
 *   main read                main read            closed: entry fork, opened: read
 *   main read entry          main read entry      opened: entry
 *   (end)                                         closed: entry read main, main's sums are complete
 *
 * What two neighbours have in common stays open. A node's sums are complete when it is closed; it counts for
 * its row only if no node further out on the path is of the same row.
 *
 * A row belongs to one kind, so that threads may walk along some kinds each, the leaves of which lie
 * together: ranges, more than there are threads, as kinds have few leaves or many. The rows of a range, in
 * tables of its own, are put behind those of the kinds before them: they have the same numbers on any number
 * of threads.
 */
#include <stdlib.h>

#include "base/prefetch.h"
#include "base/radix.h"
#include "os/heap.h"
#include "profile/profile_internal.h"

/* A node on the path. */
struct step {
    uint32_t frame, row; /* row: PROFILE_NO_ROW: none */
    uint32_t spot;       /* of the frame */
    uint32_t first_leaf;
    uint32_t samples;
    uint64_t first_ns, period, latency;
    uint16_t deepest; /* the most frames of a leaf at and below it */
    bool outermost;
    bool mapped; /* a frame of the path so far lies in a mapping */
};

/* Where the leaves of a kind begin in the order. */
struct met {
    uint32_t kind;
    size_t from;
};

/* Where a range's rows come in a table of the profile. */
struct behind {
    size_t rows, self;
};

struct walk {
    struct profile *p;
    size_t from, end;             /* in the order: whole kinds */
    struct profile_table *tables; /* by event; of the first walk those of the profile */
    struct behind *behind;        /* by event; not of the first */
    struct profile_table *t;
    uint32_t kind;
    VEC(struct met) met;
    struct profile_spot *spots;
    const uint32_t *spot_of;   /* profile.spots */
    VEC(struct step) path;     /* [0]: the kind's root */
    const uint32_t *order;     /* of the leaves */
    uint32_t outer, outer_len; /* the outer part that the path has, if it is that long */
    bool children, caller;
    bool latency; /* with children; it is asked for */
};

/* ---- order ---- */

/* How far ahead of the walk what it will touch is asked for: each step needs what the one before it asked
 * for. */
enum { LEAF_AHEAD = 40, PART_AHEAD = 26, IDS_AHEAD = 16, SPOT_AHEAD = 8, ROW_AHEAD = 4, OWN_AHEAD = 2 };

/* Asks for the leaf that stands behind the i-th. */
static inline void ask_ahead(const struct walk *w, size_t i) {
    const struct profile_builder *b = &w->p->b;
    if (i + LEAF_AHEAD < b->leaves.count)
        prefetch(&b->leaves.items[w->order[i + LEAF_AHEAD]]);
}

static inline struct profile_leaf_key key_at(const struct walk *w, size_t i) {
    return w->p->b.leaves.items[w->order[i]].key;
}

/* Asks for what is known of the frames of a part, as far as there are not many. */
static inline void ask_part(const struct walk *w, uint32_t part, bool spots) {
    enum { MOST = 12 };
    uint32_t n;
    const uint32_t *ids = profile_parts_ids(&w->p->b.parts, part, &n);
    for (uint32_t k = 0; k < n && k < MOST; k++)
        prefetch(spots ? (const void *)&w->spots[w->spot_of[ids[k]] >> 1] : &w->spot_of[ids[k]]);
}

/* The same for leaves' frames. Inner parts are few, and mostly known. */
static inline void ask_frames(const struct walk *w, size_t i, bool spots) {
    struct profile_leaf_key key = key_at(w, i), before = key_at(w, i - 1);
    if (key.chain.outer != before.chain.outer)
        ask_part(w, key.chain.outer, spots);
    prefetch(spots ? (const void *)&w->spots[w->spot_of[key.frame] >> 1] : &w->spot_of[key.frame]);
}

/* Asks for the parts and the frames of the chains of leaves behind the i-th. */
static inline void ask_parts_ahead(const struct walk *w, size_t i) {
    const struct profile_parts *parts = &w->p->b.parts;
    if (i + PART_AHEAD >= w->p->b.leaves.count)
        return;
    struct profile_chain far = key_at(w, i + PART_AHEAD).chain, near = key_at(w, i + IDS_AHEAD).chain;
    prefetch(&parts->at.items[far.outer]);
    prefetch(&parts->at.items[far.inner]);
    prefetch(parts->ids.items + parts->at.items[near.outer]);
    prefetch(parts->ids.items + parts->at.items[near.inner]);
    ask_frames(w, i + SPOT_AHEAD, false);
    ask_frames(w, i + ROW_AHEAD, true);
    profile_frame_prefetch(w->p, key_at(w, i + SPOT_AHEAD).frame);
    const struct profile_spot *own = &w->spots[w->spot_of[key_at(w, i + OWN_AHEAD).frame] >> 1];
    if (own->kind == w->kind) /* else it has no row yet, nor is there a table at first */
        prefetch(&w->t->rows.items[own->row]);
}

static unsigned bits_of(uint64_t n) {
    return 64 - (unsigned)__builtin_clzll(n | 1);
}

/* Sorts the leaves by kind, then by chain: p->leaf_order. */
static void sort_leaves(struct profile *p, struct radix_item *items, struct radix_item *room) {
    const struct profile_builder *b = &p->b;
    const uint32_t *ranks = p->part_ranks.items, *kinds = p->kinds.items;
    size_t n = b->leaves.count;
    unsigned bits = bits_of(profile_parts_count(&b->parts));
    bool at_once = 2 * bits + bits_of(p->kind_list.count) <= 64;
    for (uint32_t i = 0; i < n; i++) {
        const struct profile_leaf_key *key = &b->leaves.items[i].key;
        uint64_t kind = at_once ? (uint64_t)kinds[key->klass] << 2 * bits : 0;
        items[i].key = kind | (uint64_t)ranks[key->chain.outer] << bits | ranks[key->chain.inner];
        items[i].value = i;
    }
    radix_sort(items, room, n);
    for (uint32_t i = 0; !at_once && i < n; i++)
        items[i].key = kinds[b->leaves.items[items[i].value].key.klass];
    if (!at_once)
        radix_sort(items, room, n);
    for (size_t i = 0; i < n; i++)
        p->leaf_order.items[i] = items[i].value;
    p->leaf_order.count = n;
}

bool profile_rank_parts(struct profile *p) {
    return vec_reserve(&p->part_ranks, profile_parts_count(&p->b.parts) + 1u) &&
           profile_parts_rank(&p->b.parts, p->part_ranks.items);
}

/* What stays comes first, so that the room of what goes is that of what is made next. */
static bool make_order(struct profile *p) {
    size_t n = p->b.leaves.count;
    bool ok = vec_reserve(&p->leaf_order, n + 1);
    struct radix_item *items = ok ? malloc((n + 1) * sizeof *items) : NULL,
                      *room = ok ? malloc((n + 1) * sizeof *room) : NULL;
    ok = items && room;
    if (ok)
        sort_leaves(p, items, room);
    free(items);
    free(room);
    return ok;
}

/* ---- rows ---- */

static uint32_t make_row(struct walk *w, uint32_t frame) {
    uint32_t id = (uint32_t)w->t->rows.count;
    struct profile_row *row = id < PROFILE_NO_ROW ? vec_push(&w->t->rows) : NULL;
    if (!row || (w->children && !vec_push(&w->t->through)) || (w->latency && !vec_push(&w->t->latency)))
        return PROFILE_NO_ROW;
    row->first_ns = UINT64_MAX;
    row->klass = w->p->kind_list.items[w->kind].klass;
    row->frame = frame;
    return id;
}

/* What the kind has at a frame's spot: a row, made if need be. PROFILE_NO_ROW: memory. */
static inline struct profile_spot *spot_at(struct walk *w, uint32_t at, uint32_t frame) {
    struct profile_spot *spot = &w->spots[at];
    if (spot->kind != w->kind)
        *spot = (struct profile_spot){.kind = w->kind, .row = make_row(w, frame)};
    return spot;
}

static void deepen(struct profile_row *row, uint32_t depth) {
    row->depth = depth > row->depth ? (uint16_t)depth : row->depth;
}

/* Where a row's own samples are summed; NULL: memory. */
static struct profile_sums *self_of(struct profile_table *t, struct profile_row *row) {
    if (!row->self) {
        if (!t->self.count && !vec_push(&t->self))
            return NULL;
        if (!vec_push(&t->self))
            return NULL;
        row->self = (uint32_t)(t->self.count - 1);
    }
    return &t->self.items[row->self];
}

static void add_mode(struct profile_sums *sums, unsigned cpumode, uint64_t period) {
    switch (cpumode) {
    case PERFDATA_MISC_KERNEL:
        sums->period_sys += period;
        break;
    case PERFDATA_MISC_USER:
        sums->period_us += period;
        break;
    case PERFDATA_MISC_GUEST_KERNEL:
        sums->period_guest_sys += period;
        break;
    case PERFDATA_MISC_GUEST_USER:
        sums->period_guest_us += period;
        break;
    default:
        break;
    }
}

/* Whether the leaf is what made the row, as far as is known. Of samples at the same time the one that lies
 * there goes before one that passes, and else the first in the file. */
static bool is_first(const struct profile_row *row, uint64_t first_ns, uint32_t leaf, bool own) {
    if (first_ns != row->first_ns)
        return first_ns < row->first_ns;
    bool was_own = row->turn == 0;
    return own == was_own ? leaf < row->first_leaf : own;
}

/* The level that is shown of a leaf's own entry: perf takes that of the sample, wherever a branch led. */
static unsigned level_of(const struct profile *p, const struct profile_leaf *leaf) {
    if (p->plan.level_at)
        return (unsigned)
            p->b.class_values.items[(size_t)leaf->key.klass * p->plan.class_count + p->plan.level_at];
    return p->b.frames.list.items[leaf->key.frame].cpumode;
}

/* The leaf's own entry. */
static bool add_self(struct walk *w, uint32_t id) {
    const struct profile_builder *b = &w->p->b;
    const struct profile_leaf *leaf = &b->leaves.items[id];
    const struct profile_spot *spot = spot_at(w, w->spot_of[leaf->key.frame] >> 1, leaf->key.frame);
    uint32_t at = spot->row;
    if (at == PROFILE_NO_ROW)
        return false;
    struct profile_row *row = &w->t->rows.items[at];
    struct profile_sums *self = self_of(w->t, row);
    if (!self)
        return false;
    unsigned cpumode = level_of(w->p, leaf);
    w->p->leaf_rows.items[id] = at;
    if (is_first(row, leaf->first_ns, id, true)) {
        row->first_ns = leaf->first_ns;
        row->first_leaf = id;
        row->turn = 0;
        row->klass = leaf->key.klass;
        row->frame = leaf->key.frame;
        row->cpumode = (uint8_t)cpumode;
    }
    deepen(row, (uint32_t)w->path.count - 1);
    /* A sample counts once for its own entry, whatever its chain says. */
    if (w->children && !spot->open) {
        struct profile_through *through = &w->t->through.items[at];
        through->period += leaf->period;
        through->samples += leaf->samples;
        if (w->latency)
            w->t->latency.items[at] += b->weights.items[id].latency;
    }
    self->period += leaf->period;
    self->samples += leaf->samples;
    add_mode(self, cpumode, leaf->period);
    if (w->p->plan.extras) {
        const struct profile_weights *weights = &b->weights.items[id];
        self->weight1 += weights->w[0];
        self->weight2 += weights->w[1];
        self->weight3 += weights->w[2];
        self->latency += weights->latency;
    }
    return true;
}

/*
 * The level perf shows for an entry that a caller made. It starts as the sample's own and becomes the user's
 * with the first frame, in the order of the chain, that lies in any mapping, the kernel's too (observed on
 * 7.2).
 */
static unsigned caller_mode(const struct walk *w, const struct step *step) {
    const struct profile_builder *b = &w->p->b;
    const struct profile_leaf *leaf = &b->leaves.items[step->first_leaf];
    bool mapped = step->mapped;
    if (!w->caller) {
        uint32_t outer, inner, depth = (uint32_t)(step - w->path.items);
        const uint32_t *first = profile_parts_ids(&b->parts, leaf->key.chain.outer, &outer),
                       *second = profile_parts_ids(&b->parts, leaf->key.chain.inner, &inner);
        mapped = false;
        for (uint32_t i = outer + inner; i-- + 1 > depth && !mapped;)
            mapped = w->spot_of[i < outer ? first[i] : second[i - outer]] & 1;
    }
    return mapped ? PERFDATA_MISC_USER : b->frames.list.items[leaf->key.frame].cpumode;
}

/* What has passed through a node counts for its row. */
static void add_passed(struct walk *w, const struct step *step, uint32_t depth) {
    struct profile_row *row = &w->t->rows.items[step->row];
    if (!w->caller) /* perf takes an entry's innermost frame of a chain then */
        deepen(row, depth);
    if (!step->outermost)
        return;
    w->spots[step->spot].open = false;
    struct profile_through *through = &w->t->through.items[step->row];
    through->period += step->period;
    through->samples += step->samples;
    if (w->latency)
        w->t->latency.items[step->row] += step->latency;
    if (w->caller)
        deepen(row, step->deepest - depth + 1u);
    if (!is_first(row, step->first_ns, step->first_leaf, false))
        return;
    const struct profile_leaf *leaf = &w->p->b.leaves.items[step->first_leaf];
    row->first_ns = step->first_ns;
    row->first_leaf = step->first_leaf;
    row->turn =
        (uint16_t)(w->caller ? depth : profile_chain_length(&w->p->b.parts, leaf->key.chain) - depth + 1);
    row->klass = leaf->key.klass;
    row->frame = step->frame;
    row->cpumode = (uint8_t)caller_mode(w, step);
}

/* ---- the path ---- */

/* The path has room for it. */
static bool open_frame(struct walk *w, uint32_t frame) {
    const struct profile *p = w->p;
    struct step *step = &w->path.items[w->path.count++];
    uint32_t at = w->spot_of[frame];
    *step = (struct step){.frame = frame,
                          .row = PROFILE_NO_ROW,
                          .spot = at >> 1,
                          .first_ns = UINT64_MAX,
                          .first_leaf = PROFILE_NONE,
                          .mapped = step[-1].mapped | (at & 1)};
    if (w->children && !(p->plan.o->hide_unresolved && !profile_name_of(p, frame))) {
        struct profile_spot *spot = spot_at(w, step->spot, frame);
        step->row = spot->row;
        if (step->row == PROFILE_NO_ROW)
            return false;
        step->outermost = !spot->open;
        spot->open = true;
        /* For when it is closed. */
        prefetch(&w->t->rows.items[step->row]);
        prefetch(&w->t->through.items[step->row]);
    }
    return true;
}

/* Opens the frames ids[from .. end). What ask_frames did not reach of a long part is asked for on the way. */
static bool open_frames(struct walk *w, const uint32_t *ids, uint32_t from, uint32_t end) {
    enum { FAR = 16, NEAR = 8 };
    bool ok = true;
    for (uint32_t i = from; ok && i < end; i++) {
        if (end - i > FAR)
            prefetch(&w->spot_of[ids[i + FAR]]);
        if (end - i > NEAR)
            prefetch(&w->spots[w->spot_of[ids[i + NEAR]] >> 1]);
        ok = open_frame(w, ids[i]);
    }
    return ok;
}

/* Takes the leaf at the end of the path into its node. */
static void add_leaf(struct walk *w, uint32_t id) {
    const struct profile_leaf *leaf = &w->p->b.leaves.items[id];
    struct step *step = &w->path.items[w->path.count - 1];
    step->period += leaf->period;
    step->samples += leaf->samples;
    if (w->latency)
        step->latency += w->p->b.weights.items[id].latency;
    if (leaf->first_ns < step->first_ns || (leaf->first_ns == step->first_ns && id < step->first_leaf)) {
        step->first_ns = leaf->first_ns;
        step->first_leaf = id;
    }
    uint16_t depth = (uint16_t)(w->path.count - 1);
    step->deepest = depth > step->deepest ? depth : step->deepest;
}

/* Closes all nodes but the first `keep` of the path. */
static void close_down_to(struct walk *w, size_t keep) {
    while (w->path.count > keep) {
        struct step *step = &w->path.items[--w->path.count];
        if (step->row != PROFILE_NO_ROW)
            add_passed(w, step, (uint32_t)w->path.count);
        if (!w->path.count)
            return;
        struct step *up = step - 1;
        up->period += step->period;
        up->samples += step->samples;
        if (w->latency)
            up->latency += step->latency;
        up->deepest = step->deepest > up->deepest ? step->deepest : up->deepest;
        if (step->first_ns < up->first_ns ||
            (step->first_ns == up->first_ns && step->first_leaf < up->first_leaf)) {
            up->first_ns = step->first_ns;
            up->first_leaf = step->first_leaf;
        }
    }
}

static void leave_kind(struct walk *w) {
    struct profile_kind *kind = w->t ? &w->p->kind_list.items[w->kind] : NULL;
    if (kind)
        kind->row_count = (uint32_t)w->t->rows.count - kind->first_row;
}

static bool enter_kind(struct walk *w, uint32_t kind, size_t from) {
    struct met *met = vec_push(&w->met);
    if (!met)
        return false;
    *met = (struct met){kind, from};
    close_down_to(w, 0);
    leave_kind(w);
    w->kind = kind;
    w->t = &w->tables[w->p->kind_list.items[kind].table];
    w->p->kind_list.items[kind].first_row = (uint32_t)w->t->rows.count;
    struct step *root = vec_push(&w->path);
    if (!root || !vec_reserve(&w->t->rows, 1))
        return false;
    *root = (struct step){
        .frame = kind, .row = PROFILE_NO_ROW, .first_ns = UINT64_MAX, .first_leaf = PROFILE_NONE};
    return true;
}

/* How many of the path's frames, from `from` on, are the sequence's. */
static uint32_t in_common(const struct walk *w, size_t from, const uint32_t *ids, uint32_t n) {
    uint32_t same = 0;
    while (same < n && from + same < w->path.count && w->path.items[from + same].frame == ids[same])
        same++;
    return same;
}

/* Brings the path to a chain. */
static bool go_to(struct walk *w, struct profile_chain chain) {
    const struct profile_parts *parts = &w->p->b.parts;
    uint32_t outer = w->outer_len, inner, same = outer, same_inner = 0;
    const uint32_t *first = NULL, *second = profile_parts_ids(parts, chain.inner, &inner);
    if (chain.outer != w->outer || w->path.count <= outer) {
        first = profile_parts_ids(parts, chain.outer, &outer);
        same = in_common(w, 1, first, outer);
    }
    if (same == outer)
        same_inner = in_common(w, 1 + outer, second, inner);
    w->outer = chain.outer;
    w->outer_len = outer;
    close_down_to(w, 1 + same + same_inner);
    return vec_reserve(&w->path, (size_t)1 + outer + inner) && open_frames(w, first, same, outer) &&
           open_frames(w, second, same_inner, inner);
}

/* ---- one walk ---- */

static bool walk_leaves(struct walk *w) {
    const struct profile_builder *b = &w->p->b;
    bool ok = true, chains = w->children;
    for (size_t i = w->from; ok && i < w->end; i++) {
        ask_ahead(w, i);
        uint32_t id = w->order[i], kind = w->p->kinds.items[b->leaves.items[id].key.klass];
        if (!w->path.count || kind != w->kind)
            ok = enter_kind(w, kind, i);
        if (ok && chains && b->parts.ids.count)
            ask_parts_ahead(w, i);
        if (ok && chains)
            ok = go_to(w, b->leaves.items[id].key.chain);
        if (ok && chains)
            add_leaf(w, id);
        ok = ok && add_self(w, id);
    }
    if (ok) {
        close_down_to(w, 0);
        leave_kind(w);
    }
    return ok;
}

/* All ranges. */
struct walks {
    struct walk *list;
    struct turn {
        size_t leaves;
        uint32_t walk;
    } * turns; /* the longest first, as the last ones handed out decide when all are done */
    size_t *starts, count;
    struct profile_spot *spots[POOL_THREADS_MAX]; /* of each thread */
};

static struct profile_spot *new_spots(const struct profile *p) {
    struct profile_spot *spots = malloc((p->spot_count + 1u) * sizeof *spots);
    for (uint32_t i = 0; spots && i < p->spot_count; i++)
        spots[i] = (struct profile_spot){.kind = PROFILE_NONE};
    return spots;
}

/* What spots have of the kinds of an earlier range is of none of this one's. */
static bool walk_range(void *ctx, size_t i, unsigned thread, struct err *err) {
    struct walks *x = ctx;
    struct walk *w = &x->list[x->turns[i].walk];
    if (!x->spots[thread])
        x->spots[thread] = new_spots(w->p);
    w->spots = x->spots[thread];
    bool ok = w->spots && walk_leaves(w);
    vec_fini(&w->path);
    return ok || err_memory(err, "profile");
}

/* ---- several ---- */

/* Makes room in a table of the profile for the rows of a range's, behind what is there. False: memory. */
static bool make_room(struct profile_table *to, const struct profile_table *from, struct behind *behind) {
    size_t rows = to->rows.count, n = from->rows.count;
    if (!n)
        return true;
    size_t selves = from->self.count ? from->self.count - 1 : 0;
    if ((!to->self.count && !vec_push(&to->self)) || rows + n > PROFILE_NO_ROW ||
        !vec_reserve(&to->rows, rows + n) || !vec_reserve(&to->self, to->self.count + selves) ||
        (from->through.count && !vec_reserve(&to->through, rows + n)) ||
        (from->latency.count && !vec_reserve(&to->latency, rows + n)))
        return false;
    *behind = (struct behind){rows, to->self.count};
    to->rows.count += n;
    to->self.count += selves;
    to->through.count += from->through.count;
    to->latency.count += from->latency.count;
    return true;
}

/* What was copied is not to be in the memory twice. */
#define give_back(v) (os_heap_forget((v)->items, (v)->count * sizeof *(v)->items), vec_clear(v))

static void append_table(struct profile_table *to, struct profile_table *from, const struct behind *behind) {
    size_t n = from->rows.count;
    if (!n)
        return;
    struct profile_row *rows = to->rows.items + behind->rows;
    /* [0] is of the rows without samples of their own, in both. */
    uint32_t more = (uint32_t)behind->self - 1;
    for (size_t i = 0; i < n; i++) {
        rows[i] = from->rows.items[i];
        rows[i].self += rows[i].self ? more : 0;
    }
    give_back(&from->rows);
    if (from->self.count > 1)
        memcpy(to->self.items + behind->self, from->self.items + 1,
               (from->self.count - 1) * sizeof *to->self.items);
    give_back(&from->self);
    if (from->through.count)
        memcpy(to->through.items + behind->rows, from->through.items, n * sizeof *to->through.items);
    if (from->latency.count)
        memcpy(to->latency.items + behind->rows, from->latency.items, n * sizeof *to->latency.items);
    give_back(&from->through);
    give_back(&from->latency);
}

/* Rows' numbers are those of their table in the profile, which has some rows already. */
static void renumber(const struct walk *w) {
    struct profile *p = w->p;
    for (size_t i = 0; i < w->met.count; i++) {
        struct profile_kind *kind = &p->kind_list.items[w->met.items[i].kind];
        uint32_t more = (uint32_t)w->behind[kind->table].rows;
        size_t end = i + 1 < w->met.count ? w->met.items[i + 1].from : w->end;
        kind->first_row += more;
        for (size_t k = w->met.items[i].from; k < end && more; k++)
            p->leaf_rows.items[w->order[k]] += more;
    }
}

static void free_tables(struct walk *w) {
    struct profile *p = w->p;
    vec_fini(&w->met);
    free(w->behind);
    if (!w->tables || w->tables == p->tables.items)
        return;
    for (size_t i = 0; i < p->tables.count; i++) {
        vec_fini(&w->tables[i].rows);
        vec_fini(&w->tables[i].through);
        vec_fini(&w->tables[i].latency);
        vec_fini(&w->tables[i].self);
    }
    free(w->tables);
}

/* A range's rows, but the first one's, go where there is room for them. */
static bool append_walk(void *ctx, size_t i, unsigned thread, struct err *err) {
    struct walk *w = &((struct walks *)ctx)->list[i + 1];
    struct profile *p = w->p;
    (void)thread;
    (void)err;
    renumber(w);
    for (size_t k = 0; k < p->tables.count; k++)
        append_table(&p->tables.items[k], &w->tables[k], &w->behind[k]);
    free_tables(w);
    w->tables = NULL;
    w->behind = NULL;
    return true;
}

static uint32_t kind_at(const struct profile *p, size_t i) {
    return p->kinds.items[p->b.leaves.items[p->leaf_order.items[i]].key.klass];
}

/* Where the leaves of a kind, or else of the next one, begin in the order. */
static size_t start_of(const struct profile *p, uint32_t kind) {
    size_t from = 0, end = p->leaf_order.count;
    while (from < end) {
        size_t mid = from + (end - from) / 2;
        if (kind_at(p, mid) < kind)
            from = mid + 1;
        else
            end = mid;
    }
    return from;
}

/* Of each thread, at least, unless kinds are longer; and a kind that is as long as such a range is one. */
enum { RANGES = 4 };

/* Cuts the leaves into ranges of whole kinds: x->starts. False: memory. */
static bool cut(struct walks *x, const struct profile *p, unsigned threads) {
    size_t n = p->leaf_order.count, pieces = threads > 1 ? (size_t)threads * RANGES : 1,
           least = (n + pieces - 1) / pieces;
    x->starts = malloc((2 * pieces + 2) * sizeof *x->starts);
    if (!x->starts)
        return false;
    x->starts[x->count++] = 0;
    for (size_t from = 0; n - from > least;) {
        uint32_t kind = kind_at(p, from + least);
        size_t before = start_of(p, kind), behind = start_of(p, kind + 1);
        from = before > from && behind - before >= least ? before : behind;
        if (from < n)
            x->starts[x->count++] = from;
    }
    return true;
}

/* Room for about as many rows as there will be, in the table that most samples are for: vectors that grow are
 * copied, and leave holes. */
static void reserve_rows(const struct walk *w, size_t rows, size_t leaves) {
    const struct profile *p = w->p;
    size_t most = 0;
    for (size_t i = 1; i < p->tables.count; i++)
        most = p->b.tally.items[i].samples > p->b.tally.items[most].samples ? i : most;
    if (!w->children || !p->tables.count)
        return;
    struct profile_table *t = &w->tables[most];
    os_heap_room(&t->self, leaves / 4);
    os_heap_room(&t->rows, rows + rows / 8);
    os_heap_room(&t->through, rows + rows / 8);
}

static int by_leaves(const void *a, const void *b) {
    const struct turn *x = a, *y = b;
    return x->leaves != y->leaves ? (x->leaves < y->leaves) - (x->leaves > y->leaves)
                                  : (x->walk > y->walk) - (x->walk < y->walk);
}

/* The walks along the ranges, each like `w`, which is along all leaves. False: memory. */
static bool make_walks(struct walks *x, const struct walk *w) {
    struct profile *p = w->p;
    x->list = calloc(x->count, sizeof *x->list);
    x->turns = malloc(x->count * sizeof *x->turns);
    bool ok = x->list && x->turns;
    for (size_t i = 0; ok && i < x->count; i++) {
        struct walk *walk = &x->list[i];
        *walk = *w;
        walk->from = x->starts[i];
        walk->end = i + 1 < x->count ? x->starts[i + 1] : p->leaf_order.count;
        walk->tables = i ? calloc(p->tables.count, sizeof *walk->tables) : p->tables.items;
        walk->behind = i ? calloc(p->tables.count, sizeof *walk->behind) : NULL;
        ok = walk->tables && (!i || walk->behind);
        size_t leaves = walk->end - walk->from;
        x->turns[i] = (struct turn){leaves, (uint32_t)i};
        if (ok) /* the first one's take all */
            reserve_rows(walk, i ? leaves : p->spot_count, i ? leaves : p->leaf_order.count);
    }
    if (ok)
        qsort(x->turns, x->count, sizeof *x->turns, by_leaves);
    return ok;
}

/* Of `w`, which is of all leaves. False: memory. */
static bool walk_all(struct walk *w, struct pool *pool) {
    struct profile *p = w->p;
    struct walks x = {0};
    bool ok =
        cut(&x, p, pool_threads(pool)) && make_walks(&x, w) && pool_run(pool, x.count, walk_range, &x, NULL);
    for (unsigned i = 0; i < POOL_THREADS_MAX; i++)
        free(x.spots[i]);
    for (size_t i = 1; ok && i < x.count; i++)
        for (size_t k = 0; ok && k < p->tables.count; k++)
            ok = make_room(&p->tables.items[k], &x.list[i].tables[k], &x.list[i].behind[k]);
    ok = ok && pool_run(pool, x.count - 1, append_walk, &x, NULL);
    for (size_t i = 0; x.list && i < x.count; i++)
        free_tables(&x.list[i]);
    free(x.list);
    free(x.turns);
    free(x.starts);
    return ok;
}

/* ---- all ---- */

bool profile_walk(struct profile *p, struct pool *pool) {
    const struct profile_options *o = p->plan.o;
    bool graphs = p->plan.chains && o->chain_mode != PROFILE_CHAIN_NONE;
    struct walk w = {.p = p,
                     .spot_of = p->spots.items,
                     .children = o->children,
                     .caller = o->chain_order == PROFILE_CALLER,
                     .latency = o->children && p->plan.extras};
    size_t n = p->b.leaves.count;
    bool ok = vec_reserve(&p->leaf_rows, n + 1) && make_order(p);
    p->leaf_rows.count = ok ? n : 0;
    w.order = p->leaf_order.items;
    ok = ok && walk_all(&w, pool);
    if (!graphs) {
        vec_fini(&p->part_ranks);
        vec_fini(&p->leaf_order);
    }
    return ok;
}
