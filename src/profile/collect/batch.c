/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds samples to their stack samples, in batches. Nearly everything that a sample touches lies in tables
 * that are larger than the caches, so some tens of samples go together, one step at a time: each step
 * prefetches what the next one needs, for all of them.
 *
 *   step                                   what it uses or prefetches
 *   added (sample_callchain.c, build.c)    stack samples of recent samples
 *   asked (sample_callchain.c)             frames by address, known segments
 *   steps (resolve/frames.c)               frames
 *   segments (segments.c)                  their index, the sequences themselves
 *   stack samples                          their index, the stack samples
 *
 * A cache of recent samples comes first: a sample that equals a recent one is added to the same stack sample
 * without these steps.
 */
#include "base/threads/prefetch.h"
#include "profile/profile_internal.h"

/* ---- stack samples ---- */

static uint64_t hash_key(const struct profile_stack_key *k) {
    uint64_t place = (uint64_t)k->group_key << 32 | k->frame,
             chain = (uint64_t)k->chain.outer << 32 | k->chain.inner;
    return hash_fold(place ^ chain * HASH_ODD, HASH_ODD);
}

static bool same_key(const struct profile_stack_key *x, const struct profile_stack_key *y) {
    return x->group_key == y->group_key && x->frame == y->frame && x->chain.outer == y->chain.outer &&
           x->chain.inner == y->chain.inner;
}

static uint32_t stack_of(struct profile_builder *b, const struct profile_stack_key *key, uint64_t hash) {
    struct idtable_at at = idtable_first(&b->stack_index, hash);
    for (uint32_t id; (id = idtable_next(&b->stack_index, &at)) != IDTABLE_NONE;)
        if (same_key(&b->stacks.items[id].key, key))
            return id;
    uint32_t id = (uint32_t)b->stacks.count;
    struct profile_stack *stack = id < PROFILE_NONE ? vec_push(&b->stacks) : NULL;
    if (!stack || !idtable_add_at(&b->stack_index, &at, hash, id) ||
        (b->plan->extras && !vec_push(&b->weights)))
        return PROFILE_NONE;
    *stack = (struct profile_stack){.key = *key, .first_ns = UINT64_MAX};
    return id;
}

/* Adds the sums of `more` to a stack sample, and keeps the earlier first sample. */
static void add_to_stack(struct profile_builder *b, uint32_t id, const struct profile_stack *more,
                         const struct profile_weights *weights) {
    struct profile_stack *stack = &b->stacks.items[id];
    stack->period += more->period;
    stack->samples += more->samples;
    if (more->first_ns < stack->first_ns) {
        stack->first_ns = more->first_ns;
        stack->thread = more->thread;
    }
    for (unsigned i = 0; b->plan->extras && i < 3; i++)
        b->weights.items[id].w[i] += weights->w[i];
    for (unsigned i = 0; b->plan->extras && i < PROFILE_OWN_SUMS; i++)
        b->weights.items[id].own[i] += weights->own[i];
    if (b->plan->extras) {
        b->weights.items[id].latency += weights->latency;
        b->weights.items[id].cut += weights->cut;
    }
}

uint32_t profile_stack_add(struct profile_builder *b, const struct profile_stack *stack,
                           const struct profile_weights *weights) {
    uint32_t id = stack_of(b, &stack->key, hash_key(&stack->key));
    if (id != PROFILE_NONE)
        add_to_stack(b, id, stack, weights);
    return id;
}

/* Prefetches the index where a sample's stack sample will be looked up: its key is complete. */
static inline void want_stack(struct profile_builder *b, struct profile_pending *p) {
    p->hash = hash_key(&p->stack.key);
    idtable_prefetch(&b->stack_index, p->hash);
}

/* ---- stack samples that are remembered ---- */

/* A cache from recent samples to their stack samples: equal samples mostly come soon after each other. */
struct profile_known {
    uint64_t key; /* PROFILE_NOT_KNOWN: none */
    uint32_t stack;
    bool waits; /* `stack` is the index of a pending sample */
};

enum { KNOWN_BITS_MIN = 8, KNOWN_BITS_MAX = 17 };

static struct profile_known *known_at(const struct profile_builder *b, uint64_t key) {
    return &b->known[key >> b->known_shift];
}

bool profile_known_make(struct profile_builder *b, uint64_t samples) {
    unsigned bits = KNOWN_BITS_MIN;
    while (bits < KNOWN_BITS_MAX && samples >> bits)
        bits++;
    b->known_shift = 64 - bits;
    b->known = calloc((size_t)1 << bits, sizeof *b->known);
    return b->known;
}

void profile_pending_know(struct profile_builder *b, const uint64_t keys[2]) {
    struct profile_pending *p = profile_pending_next(b);
    uint64_t first = hash_fold(keys[0] ^ ((uint64_t)p->stack.key.group_key + 1) * HASH_ODD, HASH_ODD);
    p->known = hash_fold(first ^ keys[1], HASH_ODD) | 1;
    prefetch(known_at(b, p->known));
}

/* Whether the stack sample of the `index`-th pending sample is in b->known; else enters it there. */
static inline bool is_known(struct profile_builder *b, struct profile_pending *p, uint32_t index) {
    p->duplicate = false;
    if (p->known == PROFILE_NOT_KNOWN)
        return false;
    struct profile_known *known = known_at(b, p->known);
    if (known->key != p->known) {
        *known = (struct profile_known){p->known, index, true};
        return false;
    }
    p->stack_id = known->stack;
    p->duplicate = known->waits;
    if (!p->duplicate)
        prefetch_to_write(&b->stacks.items[p->stack_id]);
    return true;
}

/* Indices of pending samples whose stack samples were not in b->known, in order. */
struct unknown {
    uint8_t list[PROFILE_PENDING];
    uint32_t count;
};
_Static_assert(PROFILE_PENDING <= UINT8_MAX + 1, "an index of one that waits");

/* ---- frames ---- */

void profile_pending_ask_place(struct profile_builder *b, struct profile_pending *p,
                               const struct model_state *state) {
    enum resolve_frame_kind kind = (enum resolve_frame_kind)b->plan->place_kind;
    p->place_at = (uint16_t)b->ask_count;
    p->place = resolve_frames_ask(&b->frames, state, resolve_frames_how(p->cpumode, kind, false), p->ip,
                                  &b->asks[p->place_at]);
    if (p->place) {
        b->ask_count++;
        return;
    }
    p->stack.key.frame = resolve_frames_at(&b->frames, state, p->cpumode, p->ip, kind, false);
    b->failed |= p->stack.key.frame == RESOLVE_NO_FRAME;
}

/* The same for a sample without a callchain. */
static void ask_place_at(struct profile_builder *b, struct profile_pending *p) {
    enum resolve_frame_kind kind = (enum resolve_frame_kind)b->plan->place_kind;
    p->place = true;
    p->place_at = (uint16_t)b->ask_count++;
    resolve_frames_ask_at(&b->frames, p->image, p->offset, resolve_frames_how(p->cpumode, kind, false), p->ip,
                          &b->asks[p->place_at]);
}

/* Starts the look-ups of a sample whose stack sample was not in b->known. */
static inline void ask(struct profile_builder *b, struct profile_pending *p) {
    if (b->plan->chains)
        profile_chain_ask_frames(b, p);
    else if (p->known != PROFILE_NOT_KNOWN) /* else its frame is known */
        ask_place_at(b, p);
}

/* Resolves words again, as a run: an exception or signal came between, so not all are return addresses.
 * False: out of memory. */
static bool redo_words(struct profile_builder *b, const struct profile_pending *p) {
    uint64_t words[PROFILE_ASKED_WORDS];
    uint32_t ids[PROFILE_ASKED_WORDS];
    struct resolve_ask *asks = &b->asks[p->asks];
    for (unsigned i = 0; i < p->words; i++)
        words[i] = asks[i].address;
    struct model_when when = {p->stack.first_ns, p->order};
    struct resolve_run run = {.state = resolve_places_state(&b->places, PERFDATA_MISC_USER, p->pid, when),
                              .at = (const uint8_t *)words,
                              .count = p->words,
                              .cpumode = PERFDATA_MISC_USER,
                              .kind = b->plan->frame_kind,
                              .before_exec = p->cpumode == PERFDATA_MISC_KERNEL};
    if (!resolve_frames_run(&b->frames, &run, ids))
        return false;
    for (unsigned i = 0; i < p->words; i++)
        asks[i].id = ids[i];
    return true;
}

static void answer(struct profile_builder *b, struct profile_pending *p) {
    struct resolve_ask *asks = &b->asks[p->asks];
    bool entry = false;
    if (p->inner.count || p->outer.count)
        b->failed |= !profile_chain_answer(b, p);
    for (unsigned i = 0; i < p->words; i++) {
        b->failed |= resolve_frames_answer(&b->frames, &asks[i]) == RESOLVE_NO_FRAME;
        entry |= asks[i].entry && i + 1u < p->words;
    }
    if (p->place) {
        p->stack.key.frame = resolve_frames_answer(&b->frames, &b->asks[p->place_at]);
        b->failed |= p->stack.key.frame == RESOLVE_NO_FRAME;
    }
    if (entry)
        b->failed |= !redo_words(b, p);
    if (p->own && !b->failed) {
        p->stack.key.frame = resolve_frames_place(&b->frames, &asks[0]);
        b->failed |= p->stack.key.frame == RESOLVE_NO_FRAME;
    }
}

_Static_assert(sizeof((struct profile_builder *)0)->asks / sizeof(struct resolve_ask) <= RESOLVE_ASKS_MAX,
               "all at a time");

static void answer_all(struct profile_builder *b, const struct unknown *unknown) {
    resolve_frames_steps(&b->frames, b->asks, b->ask_count);
    for (uint32_t i = 0; i < unknown->count; i++) {
        struct profile_pending *p = &b->pending[unknown->list[i]];
        answer(b, p);
        if (!p->words) /* else make_segments completes the key */
            want_stack(b, p);
    }
}

/* ---- segments ---- */

static void make_segments(struct profile_builder *b, const struct unknown *unknown) {
    for (uint32_t i = 0; i < unknown->count; i++) {
        struct profile_pending *p = &b->pending[unknown->list[i]];
        uint32_t ids[PROFILE_ASKED_WORDS];
        if (!p->words)
            continue;
        for (unsigned k = 0; k < p->words; k++) /* outermost first */
            ids[k] = b->asks[p->asks + p->words - 1 - k].id;
        p->stack.key.chain.outer = profile_segments_add(&b->segments, ids, p->words);
        b->failed |= p->stack.key.chain.outer == PROFILE_NO_SEGMENT;
        want_stack(b, p);
    }
}

/* ---- all ---- */

static bool make_stack(struct profile_builder *b, struct profile_pending *p) {
    p->stack_id = stack_of(b, &p->stack.key, p->hash);
    if (p->stack_id == PROFILE_NONE)
        return false;
    if (p->known != PROFILE_NOT_KNOWN && known_at(b, p->known)->key == p->known)
        *known_at(b, p->known) = (struct profile_known){p->known, p->stack_id, false};
    return true;
}

static void expect_stack(const struct profile_builder *b, const struct profile_pending *p) {
    struct idtable_at at = idtable_first(&b->stack_index, p->hash);
    uint32_t id = idtable_next(&b->stack_index, &at);
    if (id != IDTABLE_NONE) { /* it may lie in two cache lines */
        prefetch_to_write(&b->stacks.items[id]);
        prefetch_to_write(&b->stacks.items[id].samples);
    }
}

void profile_pending_flush(struct profile_builder *b) {
    struct unknown unknown;
    unknown.count = 0;
    for (uint32_t i = 0; i < b->pending_count; i++)
        if (!is_known(b, &b->pending[i], i))
            unknown.list[unknown.count++] = (uint8_t)i;
    for (uint32_t i = 0; b->known && i < unknown.count; i++)
        ask(b, &b->pending[unknown.list[i]]);
    answer_all(b, &unknown);
    if (b->plan->chains)
        make_segments(b, &unknown);
    for (uint32_t i = 0; i < unknown.count; i++)
        expect_stack(b, &b->pending[unknown.list[i]]);
    for (uint32_t i = 0; i < unknown.count && !b->failed; i++)
        b->failed |= !make_stack(b, &b->pending[unknown.list[i]]);
    for (uint32_t i = 0; i < b->pending_count && !b->failed; i++) {
        const struct profile_pending *p = &b->pending[i];
        uint32_t id = p->duplicate ? b->pending[p->stack_id].stack_id : p->stack_id;
        add_to_stack(b, id, &p->stack, &p->weights);
        if (b->plan->o->moments)
            b->failed |= !profile_moments_add(&b->moments, p, id);
        if (b->plan->o->slices)
            b->failed |= !profile_ticks_add(&b->ticks, &p->stack, id);
    }
    b->pending_count = b->ask_count = 0;
}

void profile_pending_push(struct profile_builder *b) {
    if (b->plan->unwinds) /* this sample's chain was read last */
        b->pending[b->pending_count].weights.cut = b->chain.cut;
    if (++b->pending_count == PROFILE_PENDING)
        profile_pending_flush(b);
}
