/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples on their way to their leaves. Nearly everything that one of them touches lies in tables that are
 * larger than the caches, so some tens of them go together, one step at a time: each step asks the memory for
 * what the next one needs, for all of them.
 *
 *   added (chain.c, build.c)    leaves that are remembered
 *   asked (chain.c)             spots of addresses, known parts
 *   steps (resolve/frames.c)    frames
 *   parts (parts.c)             where the index says, the sequences themselves
 *   leaves                      the index, the leaves
 *
 * Samples that are like one of the last thousands go to its leaf at once.
 */
#include "base/hot.h"
#include "base/prefetch.h"
#include "profile/profile_internal.h"

/* ---- leaves ---- */

static uint64_t hash_key(const struct profile_leaf_key *k) {
    uint64_t place = (uint64_t)k->klass << 32 | k->frame,
             chain = (uint64_t)k->chain.outer << 32 | k->chain.inner;
    return hash_fold(place ^ chain * HASH_ODD, HASH_ODD);
}

static bool same_key(const struct profile_leaf_key *x, const struct profile_leaf_key *y) {
    return x->klass == y->klass && x->frame == y->frame && x->chain.outer == y->chain.outer &&
           x->chain.inner == y->chain.inner;
}

static uint32_t leaf_of(struct profile_builder *b, const struct profile_leaf_key *key, uint64_t hash) {
    struct idtable_at at = idtable_first(&b->leaf_index, hash);
    for (uint32_t id; (id = idtable_next(&b->leaf_index, &at)) != IDTABLE_NONE;)
        if (same_key(&b->leaves.items[id].key, key))
            return id;
    uint32_t id = (uint32_t)b->leaves.count;
    struct profile_leaf *leaf = id < PROFILE_NONE ? vec_push(&b->leaves) : NULL;
    if (!leaf || !idtable_add_at(&b->leaf_index, &at, hash, id) ||
        (b->plan->extras && !vec_push(&b->weights)))
        return PROFILE_NONE;
    *leaf = (struct profile_leaf){.key = *key, .first_ns = UINT64_MAX};
    return id;
}

/* Adds period, samples and first sample to those of a leaf. */
static void add_to_leaf(struct profile_builder *b, uint32_t id, const struct profile_leaf *more,
                        const struct profile_weights *weights) {
    struct profile_leaf *leaf = &b->leaves.items[id];
    leaf->period += more->period;
    leaf->samples += more->samples;
    if (more->first_ns < leaf->first_ns) {
        leaf->first_ns = more->first_ns;
        leaf->thread = more->thread;
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

bool profile_leaf_add(struct profile_builder *b, const struct profile_leaf *leaf,
                      const struct profile_weights *weights) {
    uint32_t id = leaf_of(b, &leaf->key, hash_key(&leaf->key));
    if (id != PROFILE_NONE)
        add_to_leaf(b, id, leaf, weights);
    return id != PROFILE_NONE;
}

/* All of the sample's key is known: where its leaf is to be found is asked for. */
static inline void want_leaf(struct profile_builder *b, struct profile_pending *p) {
    p->hash = hash_key(&p->leaf.key);
    idtable_prefetch(&b->leaf_index, p->hash);
}

/* ---- leaves that are remembered ---- */

/* What was recorded of a sample, and its leaf: the same samples mostly come soon after each other. */
struct profile_known {
    uint64_t key; /* PROFILE_NOT_KNOWN: none */
    uint32_t leaf;
    bool waits; /* `leaf` is the number of a sample that waits */
};

enum { KNOWN_BITS = 17 };

static struct profile_known *known_at(const struct profile_builder *b, uint64_t key) {
    return &b->known[key >> (64 - KNOWN_BITS)];
}

struct profile_known *profile_known_new(void) {
    return calloc((size_t)1 << KNOWN_BITS, sizeof(struct profile_known));
}

void profile_pending_know_key(struct profile_builder *b, uint64_t key) {
    struct profile_pending *p = profile_pending_next(b);
    p->known = key | 1;
    prefetch(known_at(b, p->known));
}

void profile_pending_know(struct profile_builder *b, const uint64_t keys[2]) {
    uint32_t klass = profile_pending_next(b)->leaf.key.klass;
    profile_pending_know_key(b, hash_fold(profile_pending_seed(keys[0], klass), keys[1]));
}

/* Whether the leaf of a sample, the `index`-th that waits, is remembered. If it is not, it will be. */
static inline bool is_known(struct profile_builder *b, struct profile_pending *p, uint32_t index) {
    p->twin = false;
    if (p->known == PROFILE_NOT_KNOWN)
        return false;
    struct profile_known *known = known_at(b, p->known);
    if (known->key != p->known) {
        *known = (struct profile_known){p->known, index, true};
        return false;
    }
    p->leaf_id = known->leaf;
    p->twin = known->waits;
    if (!p->twin)
        prefetch_to_write(&b->leaves.items[p->leaf_id]);
    return true;
}

/* Those that wait and whose leaves are not remembered, in order. */
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
    p->leaf.key.frame = resolve_frames_at(&b->frames, state, p->cpumode, p->ip, kind, false);
    b->failed |= p->leaf.key.frame == RESOLVE_NO_FRAME;
}

/* The same of a sample without a callchain. */
static void ask_place_at(struct profile_builder *b, struct profile_pending *p) {
    enum resolve_frame_kind kind = (enum resolve_frame_kind)b->plan->place_kind;
    p->place = true;
    p->place_at = (uint16_t)b->ask_count++;
    resolve_frames_ask_at(&b->frames, p->image, p->offset, resolve_frames_how(p->cpumode, kind, false), p->ip,
                          &b->asks[p->place_at]);
}

/* What a sample asks for whose leaf is not remembered. */
static inline void ask(struct profile_builder *b, struct profile_pending *p) {
    if (b->plan->chains)
        profile_chain_ask_frames(b, p);
    else if (p->known != PROFILE_NOT_KNOWN) /* else its frame is known */
        ask_place_at(b, p);
}

/* Words that were asked for as return addresses, though an exception or a signal came between: as a run. */
static bool redo_words(struct profile_builder *b, const struct profile_pending *p) {
    uint64_t words[PROFILE_ASKED_WORDS];
    uint32_t ids[PROFILE_ASKED_WORDS];
    struct resolve_ask *asks = &b->asks[p->asks];
    for (unsigned i = 0; i < p->words; i++)
        words[i] = asks[i].address;
    struct model_when when = {p->leaf.first_ns, p->order};
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
        p->leaf.key.frame = resolve_frames_answer(&b->frames, &b->asks[p->place_at]);
        b->failed |= p->leaf.key.frame == RESOLVE_NO_FRAME;
    }
    if (entry)
        b->failed |= !redo_words(b, p);
    if (p->own && !b->failed) {
        p->leaf.key.frame = resolve_frames_place(&b->frames, &asks[0]);
        b->failed |= p->leaf.key.frame == RESOLVE_NO_FRAME;
    }
}

_Static_assert(sizeof((struct profile_builder *)0)->asks / sizeof(struct resolve_ask) <= RESOLVE_ASKS_MAX,
               "all at a time");

static void answer_all(struct profile_builder *b, const struct unknown *unknown) {
    resolve_frames_steps(&b->frames, b->asks, b->ask_count);
    for (uint32_t i = 0; i < unknown->count; i++) {
        struct profile_pending *p = &b->pending[unknown->list[i]];
        answer(b, p);
        if (!p->words) /* else make_parts completes the key */
            want_leaf(b, p);
    }
}

/* ---- parts ---- */

static void make_parts(struct profile_builder *b, const struct unknown *unknown) {
    for (uint32_t i = 0; i < unknown->count; i++) {
        struct profile_pending *p = &b->pending[unknown->list[i]];
        uint32_t ids[PROFILE_ASKED_WORDS];
        if (!p->words)
            continue;
        for (unsigned k = 0; k < p->words; k++) /* outermost first */
            ids[k] = b->asks[p->asks + p->words - 1 - k].id;
        p->leaf.key.chain.outer = profile_parts_add(&b->parts, ids, p->words);
        b->failed |= p->leaf.key.chain.outer == PROFILE_NO_PART;
        want_leaf(b, p);
    }
}

/* ---- all ---- */

static bool make_leaf(struct profile_builder *b, struct profile_pending *p) {
    p->leaf_id = leaf_of(b, &p->leaf.key, p->hash);
    if (p->leaf_id == PROFILE_NONE)
        return false;
    if (p->known != PROFILE_NOT_KNOWN && known_at(b, p->known)->key == p->known)
        *known_at(b, p->known) = (struct profile_known){p->known, p->leaf_id, false};
    return true;
}

static void expect_leaf(const struct profile_builder *b, const struct profile_pending *p) {
    struct idtable_at at = idtable_first(&b->leaf_index, p->hash);
    uint32_t id = idtable_next(&b->leaf_index, &at);
    if (id != IDTABLE_NONE) { /* it may lie on two lines */
        prefetch_to_write(&b->leaves.items[id]);
        prefetch_to_write(&b->leaves.items[id].samples);
    }
}

HOT void profile_pending_flush(struct profile_builder *b) {
    struct unknown unknown;
    unknown.count = 0;
    for (uint32_t i = 0; i < b->pending_count; i++)
        if (!is_known(b, &b->pending[i], i))
            unknown.list[unknown.count++] = (uint8_t)i;
    for (uint32_t i = 0; b->known && i < unknown.count; i++)
        ask(b, &b->pending[unknown.list[i]]);
    answer_all(b, &unknown);
    if (b->plan->chains)
        make_parts(b, &unknown);
    for (uint32_t i = 0; i < unknown.count; i++)
        expect_leaf(b, &b->pending[unknown.list[i]]);
    for (uint32_t i = 0; i < unknown.count && !b->failed; i++)
        b->failed |= !make_leaf(b, &b->pending[unknown.list[i]]);
    for (uint32_t i = 0; i < b->pending_count && !b->failed; i++) {
        const struct profile_pending *p = &b->pending[i];
        add_to_leaf(b, p->twin ? b->pending[p->leaf_id].leaf_id : p->leaf_id, &p->leaf, &p->weights);
    }
    b->pending_count = b->ask_count = 0;
}

void profile_pending_push(struct profile_builder *b) {
    if (b->chain.unwind) /* the sample's chain was read last */
        b->pending[b->pending_count].weights.cut = b->chain.cut;
    if (++b->pending_count == PROFILE_PENDING)
        profile_pending_flush(b);
}
