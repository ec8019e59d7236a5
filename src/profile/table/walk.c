/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One walk along the stack samples in the order of their callchains finds the rows and what passes through
 * them, without building the tree that the chains make:
 *
 *   chains in order          path while walking (outermost frame first)
 *   main fork entry          main fork entry      opened: 3
 *   main read                main read            closed: entry fork, opened: read
 *   main read entry          main read entry      opened: entry
 *   (end)                                         closed: entry read main, main's sums are complete
 *
 * What two neighbours have in common stays open. A node's sums are complete when it is closed; it counts for
 * its row only if no node further out on the path is of the same row. Frames that a chain shares with neither
 * neighbour, which most are, count at once, without ever being on the path.
 *
 * The stack samples themselves are rearranged into this order first: later steps go along them as well, or
 * look at those of neighbouring rows.
 */
#include <stdlib.h>

#include "base/radix.h"
#include "base/threads/prefetch.h"
#include "profile/profile_internal.h"

/* A node on the path. */
struct step {
    uint32_t frame, row; /* row: PROFILE_NO_ROW: none */
    uint32_t frame_key;  /* of the frame */
    uint32_t first_stack;
    uint32_t samples;
    uint64_t first_ns, period, latency;
    uint16_t deepest; /* frames of the longest chain at and below it */
    bool outermost;
};

/* A stack sample's chain, outermost frame first. */
struct chain {
    const uint32_t *outer, *inner; /* inner: what comes after the outer segment */
    uint32_t outer_len, len;       /* len: of both */
    uint32_t outer_segment;
};

struct walk {
    struct profile *p;
    struct profile_table *t; /* of the current kind */
    uint32_t kind;
    struct profile_frame_key *frame_keys;
    const uint32_t *frame_key_of;          /* profile.frame_keys */
    VEC(struct step) path;                 /* [0]: the kind's root */
    VEC(uint32_t) marked;                  /* frame keys that are open for the current stack sample alone */
    const uint32_t *was;                   /* profile.stack_was */
    const struct profile_stack *stacks;    /* in the order of the walk */
    const struct profile_weights *weights; /* likewise; NULL: there are none */
    size_t end;                            /* the number of stack samples */
    struct chain chain;                    /* of the current stack sample, */
    uint32_t common;                       /* and how many of its frames the one before shares */
    const uint8_t *grade_of;               /* profile.grades */
    uint32_t *rows;                        /* profile.stack_rows; NULL: not wanted */
    uint64_t *grades;                      /* of the kind's event: counts of all frames of its samples */
    uint32_t longest;                      /* profile_longest_chain of that event */
    bool children, caller;
    bool latency; /* with children, if latency is summed */
};

/* ---- order ---- */

/* Sorts the stack samples by kind, then by chain, into p->stack_was. */
static void sort_stacks(struct profile *p, struct radix_item *items, struct radix_item *room) {
    const struct profile_builder *b = &p->b;
    const uint32_t *ranks = p->segment_ranks.items, *kinds = p->kinds.items;
    size_t n = b->stacks.count;
    unsigned bits = profile_bits_of(profile_segments_count(&b->segments));
    bool at_once = 2 * bits + profile_bits_of(p->kind_list.count) <= 64;
    for (uint32_t i = 0; i < n; i++) {
        const struct profile_stack_key *key = &b->stacks.items[i].key;
        uint64_t kind = at_once ? (uint64_t)kinds[key->group_key] << 2 * bits : 0;
        items[i].key = kind | (uint64_t)ranks[key->chain.outer] << bits | ranks[key->chain.inner];
        items[i].value = i;
    }
    radix_sort(items, room, n);
    for (uint32_t i = 0; !at_once && i < n; i++)
        items[i].key = kinds[b->stacks.items[items[i].value].key.group_key];
    if (!at_once)
        radix_sort(items, room, n);
    for (size_t i = 0; i < n; i++)
        p->stack_was.items[i] = items[i].value;
    p->stack_was.count = n;
}

/* Rearranges the stack samples, and their weights, into the order of p->stack_was. False: out of memory. */
static bool put_in_order(struct profile *p) {
    enum { AHEAD = 16 };
    struct profile_builder *b = &p->b;
    size_t n = b->stacks.count;
    const uint32_t *was = p->stack_was.items;
    struct profile_stack *stacks = malloc((n + 1) * sizeof *stacks);
    struct profile_weights *weights = p->plan.extras ? malloc((n + 1) * sizeof *weights) : NULL;
    bool ok = stacks && (weights || !p->plan.extras);
    for (size_t i = 0; ok && i < n; i++) {
        if (i + AHEAD < n) { /* one may lie in two cache lines */
            prefetch(&b->stacks.items[was[i + AHEAD]]);
            prefetch(&b->stacks.items[was[i + AHEAD]].thread);
        }
        stacks[i] = b->stacks.items[was[i]];
        if (weights)
            weights[i] = b->weights.items[was[i]];
    }
    if (!ok) {
        free(stacks);
        free(weights);
        return false;
    }
    free(b->stacks.items);
    b->stacks.items = stacks;
    b->stacks.cap = n + 1;
    if (weights) {
        free(b->weights.items);
        b->weights.items = weights;
        b->weights.cap = n + 1;
    }
    return true;
}

/* Moments refer to stack samples by their old numbers. False: out of memory. */
static bool renumber_moments(struct profile *p) {
    size_t n = p->b.stacks.count;
    bool any = p->b.moments.list.count || p->b.ticks.stacks.count;
    uint32_t *now = any ? malloc((n + 1) * sizeof *now) : NULL;
    for (uint32_t i = 0; now && i < n; i++)
        now[p->stack_was.items[i]] = i;
    if (now)
        profile_moments_renumber(&p->b, now);
    bool ok = now || !any;
    free(now);
    return ok;
}

bool profile_order_stacks(struct profile *p) {
    size_t n = p->b.stacks.count;
    struct radix_item *items = malloc((n + 1) * sizeof *items), *room = malloc((n + 1) * sizeof *room);
    bool ok = items && room && vec_reserve(&p->stack_was, n + 1) &&
              vec_reserve(&p->segment_ranks, profile_segments_count(&p->b.segments) + 1u) &&
              profile_segments_rank(&p->b.segments, p->segment_ranks.items);
    if (ok)
        sort_stacks(p, items, room);
    free(items);
    free(room);
    return ok && renumber_moments(p) && put_in_order(p);
}

/* ---- rows ---- */

static uint32_t make_row(struct walk *w, uint32_t frame) {
    uint32_t id = (uint32_t)w->t->rows.count;
    struct profile_row *row = id < PROFILE_NO_ROW ? vec_push(&w->t->rows) : NULL;
    if (!row || (w->children && !vec_push(&w->t->through)) || (w->latency && !vec_push(&w->t->latency)))
        return PROFILE_NO_ROW;
    row->first_ns = UINT64_MAX;
    row->own = true;
    row->group_key = w->p->kind_list.items[w->kind].group_key;
    row->frame = frame;
    return id;
}

/* Returns a frame key with the kind's row there, made if need be. PROFILE_NO_ROW: out of memory. */
static inline struct profile_frame_key *frame_key_at(struct walk *w, uint32_t at, uint32_t frame) {
    struct profile_frame_key *frame_key = &w->frame_keys[at];
    if (frame_key->kind != w->kind)
        *frame_key = (struct profile_frame_key){.kind = w->kind, .row = make_row(w, frame)};
    return frame_key;
}

static void deepen(struct profile_row *row, uint32_t depth) {
    row->depth = depth > row->depth ? (uint16_t)depth : row->depth;
}

/* Counts a frame's grade for that many samples. */
static inline void count_grade(struct walk *w, uint32_t frame, uint64_t samples) {
    if (profile_is_inlined(&w->p->b, frame)) /* its function counts */
        return;
    w->grades[w->grade_of[frame]] += samples;
}

/* Returns where a row's own samples are summed; NULL: out of memory. */
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

/* Returns the level (cpumode) of a frame. */
static unsigned mode_of(const struct walk *w, uint32_t frame) {
    return profile_mode_in(w->frame_key_of[frame]);
}

/* Returns the level shown in a stack sample's own row: perf takes that of the sample, wherever a branch
 * led. */
static unsigned level_of(const struct walk *w, const struct profile_stack *stack) {
    const struct profile *p = w->p;
    if (p->plan.level_at)
        return (unsigned)p->b.group_key_values
            .items[(size_t)stack->key.group_key * p->plan.group_key_count + p->plan.level_at];
    return mode_of(w, stack->key.frame);
}

static void add_weights(struct profile_sums *self, const struct profile_weights *weights) {
    self->weight1 += weights->w[0];
    self->weight2 += weights->w[1];
    self->weight3 += weights->w[2];
    for (unsigned i = 0; i < PROFILE_OWN_SUMS; i++)
        self->own[i] += weights->own[i];
    self->latency += weights->latency;
}

/* A frame at which a stack sample passes through a row: at `depth` (1: the outermost) of its chain. */
struct passed {
    uint32_t frame, depth;
    uint32_t stack;
};

/* Makes a stack sample the row's first one if it is, so far. At equal times, one whose own row it is comes
 * before one that passes through; else the first in the file does. */
static inline void offer_first(const struct walk *w, struct profile_row *row, const struct passed *at,
                               bool own) {
    const struct profile_stack *stack = &w->stacks[at->stack];
    if (stack->first_ns > row->first_ns ||
        (stack->first_ns == row->first_ns &&
         (own == row->own ? w->was[at->stack] >= w->was[row->first_stack] : !own)))
        return;
    row->first_ns = stack->first_ns;
    row->first_stack = at->stack;
    row->own = own;
    row->group_key = stack->key.group_key;
    row->frame = at->frame;
    row->cpumode = (uint8_t)(own ? level_of(w, stack) : mode_of(w, at->frame));
}

/* Adds a stack sample to its own row. False: out of memory. */
static bool add_self(struct walk *w, uint32_t id, uint32_t depth) {
    const struct profile_stack *stack = &w->stacks[id];
    const struct profile_frame_key *frame_key =
        frame_key_at(w, profile_frame_key_in(w->frame_key_of[stack->key.frame]), stack->key.frame);
    uint32_t at = frame_key->row;
    if (at == PROFILE_NO_ROW)
        return false;
    struct profile_row *row = &w->t->rows.items[at];
    struct profile_sums *self = self_of(w->t, row);
    if (!self)
        return false;
    if (w->rows)
        w->rows[id] = at;
    offer_first(w, row, &(struct passed){stack->key.frame, depth, id}, true);
    deepen(row, depth);
    /* A sample counts once for its own row, even if its chain passes that. */
    if (w->children && !frame_key->open) {
        struct profile_through *through = &w->t->through.items[at];
        through->period += stack->period;
        through->samples += stack->samples;
        if (w->latency)
            w->t->latency.items[at] += w->weights[id].latency;
    }
    self->period += stack->period;
    self->samples += stack->samples;
    add_mode(self, level_of(w, stack), stack->period);
    if (w->weights)
        add_weights(self, &w->weights[id]);
    return true;
}

/* Adds what has passed through a node, which closes, to its row. */
static void add_passed(struct walk *w, const struct step *step, uint32_t depth) {
    struct profile_row *row = &w->t->rows.items[step->row];
    if (!w->caller) /* perf then takes the row's innermost frame in a chain */
        deepen(row, depth);
    if (!step->outermost)
        return;
    w->frame_keys[step->frame_key].open = false;
    struct profile_through *through = &w->t->through.items[step->row];
    through->period += step->period;
    through->samples += step->samples;
    if (w->latency)
        w->t->latency.items[step->row] += step->latency;
    if (w->caller)
        deepen(row, step->deepest - depth + 1u);
    offer_first(w, row, &(struct passed){step->frame, depth, step->first_stack}, false);
}

/* ---- the path ---- */

static inline uint32_t frame_at(const struct chain *c, uint32_t i) {
    return i < c->outer_len ? c->outer[i] : c->inner[i - c->outer_len];
}

/* Appends a frame to the path, which has room. False: out of memory. */
static bool open_frame(struct walk *w, uint32_t frame) {
    struct step *step = &w->path.items[w->path.count++];
    uint32_t at = w->frame_key_of[frame];
    *step = (struct step){.frame = frame,
                          .row = PROFILE_NO_ROW,
                          .frame_key = profile_frame_key_in(at),
                          .first_ns = UINT64_MAX,
                          .first_stack = PROFILE_NONE};
    struct profile_frame_key *frame_key = frame_key_at(w, step->frame_key, frame);
    step->row = frame_key->row;
    if (step->row == PROFILE_NO_ROW)
        return false;
    step->outermost = !frame_key->open;
    frame_key->open = true;
    return true;
}

static void take_first(const struct walk *w, struct step *step, uint64_t first_ns, uint32_t stack) {
    if (first_ns < step->first_ns ||
        (first_ns == step->first_ns &&
         (step->first_stack == PROFILE_NONE || w->was[stack] < w->was[step->first_stack]))) {
        step->first_ns = first_ns;
        step->first_stack = stack;
    }
}

/* Adds the stack sample to the last node of the path; its chain goes through all of it. */
static void add_stack(struct walk *w, uint32_t id) {
    const struct profile_stack *stack = &w->stacks[id];
    struct step *step = &w->path.items[w->path.count - 1];
    uint16_t depth = (uint16_t)w->chain.len;
    step->period += stack->period;
    step->samples += stack->samples;
    if (w->latency)
        step->latency += w->weights[id].latency;
    take_first(w, step, stack->first_ns, id);
    step->deepest = depth > step->deepest ? depth : step->deepest;
}

/* Adds the stack sample to the row of a frame of its chain that is not on the path. False: out of memory. */
static bool pass_frame(struct walk *w, const struct passed *at) {
    const struct profile_stack *stack = &w->stacks[at->stack];
    uint32_t where = profile_frame_key_in(w->frame_key_of[at->frame]);
    struct profile_frame_key *frame_key = frame_key_at(w, where, at->frame);
    if (frame_key->row == PROFILE_NO_ROW)
        return false;
    struct profile_row *row = &w->t->rows.items[frame_key->row];
    if (!w->caller)
        deepen(row, at->depth);
    if (frame_key->open)
        return true;
    frame_key->open = true;
    w->marked.items[w->marked.count++] = where;
    struct profile_through *through = &w->t->through.items[frame_key->row];
    through->period += stack->period;
    through->samples += stack->samples;
    if (w->latency)
        w->t->latency.items[frame_key->row] += w->weights[at->stack].latency;
    if (w->caller)
        deepen(row, w->chain.len - at->depth + 1);
    offer_first(w, row, at, false);
    return true;
}

/* Does so for all frames that are not on the path: from `from` on. */
static bool pass_frames(struct walk *w, uint32_t id, uint32_t from) {
    const struct chain *c = &w->chain;
    struct passed at = {.stack = id};
    bool ok = vec_reserve(&w->marked, c->len);
    for (uint32_t i = from; ok && i < c->len; i++) {
        at.frame = frame_at(c, i);
        at.depth = i + 1;
        count_grade(w, at.frame, w->stacks[id].samples);
        ok = pass_frame(w, &at);
    }
    return ok;
}

/* Closes what was open for a stack sample alone. */
static void unmark(struct walk *w) {
    for (size_t i = 0; i < w->marked.count; i++)
        w->frame_keys[w->marked.items[i]].open = false;
    w->marked.count = 0;
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
        count_grade(w, step->frame, step->samples);
        up->period += step->period;
        up->samples += step->samples;
        if (w->latency)
            up->latency += step->latency;
        up->deepest = step->deepest > up->deepest ? step->deepest : up->deepest;
        take_first(w, up, step->first_ns, step->first_stack);
    }
}

/* Closes the kind, which ends before the stack sample `end`, and sets its counts. */
static void leave_kind(struct walk *w, uint32_t end) {
    struct profile_kind *kind = &w->p->kind_list.items[w->kind];
    close_down_to(w, 0);
    kind->row_count = (uint32_t)w->t->rows.count - kind->first_row;
    kind->stack_count = end - kind->first_stack;
}

static bool enter_kind(struct walk *w, uint32_t id, uint32_t from) {
    struct profile_kind *kind = &w->p->kind_list.items[id];
    w->kind = id;
    w->t = &w->p->tables.items[kind->table];
    w->grades = w->t->event.grades;
    w->longest = profile_longest_chain(w->p, kind->table);
    kind->first_row = (uint32_t)w->t->rows.count;
    kind->first_stack = from;
    struct step *root = vec_push(&w->path);
    if (!root || !vec_reserve(&w->t->rows, 1))
        return false;
    *root = (struct step){
        .frame = id, .row = PROFILE_NO_ROW, .first_ns = UINT64_MAX, .first_stack = PROFILE_NONE};
    return true;
}

static inline struct chain chain_of(const struct walk *w, size_t i) {
    const struct profile_segments *segments = &w->p->b.segments;
    struct profile_chain chain = w->stacks[i].key.chain;
    struct chain c = {.outer_segment = chain.outer};
    uint32_t inner;
    c.outer = profile_segments_ids(segments, chain.outer, &c.outer_len);
    c.inner = profile_segments_ids(segments, chain.inner, &inner);
    c.len = c.outer_len + inner;
    return c;
}

/* Returns how many outermost frames two chains share. (Where one's outer segment ends and the other's goes
 * on, they differ: see segments.h.) */
static inline uint32_t in_common(const struct chain *a, const struct chain *b) {
    uint32_t same = 0;
    if (a->outer_segment == b->outer_segment)
        same = a->outer_len;
    while (same < a->outer_len && same < b->outer_len && a->outer[same] == b->outer[same])
        same++;
    if (same != a->outer_len || same != b->outer_len)
        return same;
    while (same < a->len && same < b->len && a->inner[same - a->outer_len] == b->inner[same - a->outer_len])
        same++;
    return same;
}

/* Moves the path to the chain of a stack sample, w->chain, as far as its neighbours share it: `next` frames
 * with the next one. False: out of memory. */
static bool go_along(struct walk *w, uint32_t id, uint32_t next) {
    bool ok = vec_reserve(&w->path, (size_t)1 + w->chain.len);
    close_down_to(w, 1 + w->common);
    for (uint32_t i = w->common; ok && i < next; i++)
        ok = open_frame(w, frame_at(&w->chain, i));
    if (ok)
        add_stack(w, id);
    return ok && pass_frames(w, id, w->common > next ? w->common : next);
}

/* ---- one walk ---- */

static uint32_t kind_of(const struct walk *w, size_t i) {
    return w->p->kinds.items[w->stacks[i].key.group_key];
}

/* Counts the grade of a sample without a callchain, which is one frame all the same. Where a chain or its
 * stack dump was cut, lowers that of the outermost frame, whose caller is unknown. */
static void count_ends(struct walk *w, size_t i) {
    const struct profile_stack *stack = &w->stacks[i];
    bool full = w->chain.len >= w->longest && profile_chain_length(&w->p->b, stack->key.chain) >= w->longest;
    uint64_t cut = full ? stack->samples : w->p->plan.unwinds ? w->weights[i].cut : 0;
    if (!w->chain.outer_len)
        count_grade(w, stack->key.frame, stack->samples);
    else if (cut && w->grade_of[w->chain.outer[0]] == GRADE_EXACT)
        profile_lower_grade(w->grades, cut);
}

/* Walks on to a stack sample: its kind's first, or the one after the last. */
static bool walk_stack(struct walk *w, size_t i) {
    bool more = i + 1 < w->end && kind_of(w, i + 1) == w->kind;
    struct chain next = {0};
    if (more)
        next = chain_of(w, i + 1);
    uint32_t common = more ? in_common(&w->chain, &next) : 0;
    count_ends(w, i);
    bool ok = go_along(w, (uint32_t)i, common) && add_self(w, (uint32_t)i, w->chain.len);
    unmark(w);
    w->chain = next;
    w->common = common;
    return ok;
}

/* Adds a stack sample where chains make no rows. */
static bool take_stack(struct walk *w, size_t i) {
    w->chain = chain_of(w, i);
    count_ends(w, i);
    for (uint32_t k = 0; k < w->chain.len; k++)
        count_grade(w, frame_at(&w->chain, k), w->stacks[i].samples);
    return add_self(w, (uint32_t)i, 0);
}

static bool walk_stacks(struct walk *w) {
    bool ok = true;
    for (size_t i = 0; ok && i < w->end; i++) {
        if (!i || kind_of(w, i) != w->kind) {
            if (i)
                leave_kind(w, (uint32_t)i);
            if (!enter_kind(w, kind_of(w, i), (uint32_t)i))
                return false;
            if (w->children)
                w->chain = chain_of(w, i);
        }
        ok = w->children ? walk_stack(w, i) : take_stack(w, i);
    }
    if (ok && w->end)
        leave_kind(w, (uint32_t)w->end);
    return ok;
}

static bool wants_rows(const struct profile_options *o) {
    return o->slices || o->own_inlines;
}

bool profile_walk(struct profile *p) {
    const struct profile_options *o = p->plan.o;
    struct walk w = {.p = p,
                     .frame_key_of = p->frame_keys.items,
                     .grade_of = p->grades.items,
                     .children = o->children,
                     .caller = o->chain_order == PROFILE_CALLER,
                     .latency = o->children && p->plan.extras,
                     .end = p->b.stacks.count,
                     .was = p->stack_was.items,
                     .stacks = p->b.stacks.items,
                     .weights = p->plan.extras ? p->b.weights.items : NULL};
    w.frame_keys = malloc((p->frame_key_count + 1u) * sizeof *w.frame_keys);
    for (uint32_t i = 0; w.frame_keys && i < p->frame_key_count; i++)
        w.frame_keys[i] = (struct profile_frame_key){.kind = PROFILE_NONE};
    bool ok = w.frame_keys && (!wants_rows(o) || vec_reserve(&p->stack_rows, w.end + 1));
    w.rows = ok && wants_rows(o) ? p->stack_rows.items : NULL;
    ok = ok && walk_stacks(&w);
    p->stack_rows.count = w.rows ? w.end : 0;
    free(w.frame_keys);
    vec_fini(&w.path);
    vec_fini(&w.marked);
    vec_fini(&p->stack_was);
    if (!p->plan.chains || o->chain_mode == PROFILE_CHAIN_NONE)
        vec_fini(&p->segment_ranks);
    return ok;
}
