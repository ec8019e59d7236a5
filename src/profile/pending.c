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
 * Samples that are like one of the last thousands go to its leaf at once. Which ones these are, which have
 * words and which parts is as good as random: each step has a list of its own of those that it is for, made
 * without branches. Few samples make anything that was not there: these are answered one after the other, in
 * their order, which decides about the numbers of frames.
 */
#include <stddef.h>

#include "base/prefetch.h"
#include "profile/profile_internal.h"

/* Samples by their number in builder.pending. */
struct some {
    uint32_t count;
    uint8_t list[PROFILE_PENDING + 1];
};

static inline void add_if(struct some *some, uint32_t i, bool is) {
    some->list[some->count] = (uint8_t)i;
    some->count += is;
}

/* Those that wait, on their way. */
struct batch {
    struct some fresh; /* their leaves are not remembered; of these */
    struct some worded, parted;
    uint64_t makers; /* bits: what is asked for is not all there */
    uint8_t asker[PROFILE_PENDING * (PROFILE_ASKED_WORDS + 1) + PROFILE_ASKED_WORDS]; /* by ask */
};
_Static_assert(PROFILE_PENDING <= 64, "makers");

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
    bool first = more->first_ns < leaf->first_ns;
    leaf->period += more->period;
    leaf->samples += more->samples;
    leaf->first_ns = first ? more->first_ns : leaf->first_ns;
    leaf->thread = first ? more->thread : leaf->thread;
    if (!b->plan->extras)
        return;
    for (unsigned i = 0; i < 3; i++)
        b->weights.items[id].w[i] += weights->w[i];
    b->weights.items[id].latency += weights->latency;
    b->weights.items[id].cut += weights->cut;
}

/* ---- leaves that are remembered ---- */

/* What was recorded of a sample, and its leaf: the same samples mostly come soon after each other. */
struct profile_known {
    uint64_t key; /* PROFILE_NOT_KNOWN: none */
    uint32_t leaf;
    bool waits; /* `leaf` is the number of a sample that waits */
};

enum { KNOWN_BITS = 16 };

static struct profile_known *known_at(const struct profile_builder *b, uint64_t key) {
    return &b->known[key >> (64 - KNOWN_BITS)];
}

struct profile_known *profile_known_new(void) {
    return calloc((size_t)1 << KNOWN_BITS, sizeof(struct profile_known));
}

void profile_pending_know(struct profile_builder *b, const uint64_t keys[2]) {
    struct profile_pending *p = profile_pending_next(b);
    p->known = hash_fold(keys[0] ^ (p->leaf.key.klass + 1) * HASH_ODD, keys[1]) | 1;
    prefetch(known_at(b, p->known));
}

/* Finds the samples whose leaves are not remembered. They will be. */
static void find_fresh(struct profile_builder *b, struct batch *t) {
    for (uint32_t i = 0; i < b->pending_count; i++) {
        struct profile_pending *p = &b->pending[i];
        struct profile_known *known = known_at(b, p->known), was = *known;
        const bool is = (was.key == p->known) & (p->known != PROFILE_NOT_KNOWN);
        *known = (struct profile_known){p->known, is ? was.leaf : i, !is | was.waits};
        p->known = is ? PROFILE_NOT_KNOWN : p->known;
        p->leaf_id = is ? was.leaf : PROFILE_NONE;
        p->twin = is & was.waits;
        add_if(&t->fresh, i, !is);
        const struct profile_leaf *leaf = b->leaves.items + (is & !was.waits ? was.leaf : 0);
        prefetch_to_write(leaf);
        prefetch_to_write((const char *)leaf + offsetof(struct profile_leaf, samples));
    }
}

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

/* What the samples ask for. */
static void ask_all(struct profile_builder *b, struct batch *t) {
    for (uint32_t k = 0; k < t->fresh.count; k++) {
        uint32_t i = t->fresh.list[k], at = b->ask_count;
        struct profile_pending *p = &b->pending[i];
        struct model_when when = {p->leaf.first_ns, p->order};
        if (b->plan->chains)
            profile_chain_ask_frames(b, p);
        else if (p->known != PROFILE_NOT_KNOWN) /* else its frame is known */
            profile_pending_ask_place(b, p, resolve_places_state(&b->places, p->cpumode, p->pid, when));
        memset(&t->asker[at], (int)i, PROFILE_ASKED_WORDS); /* those too many are of the next one */
        if (p->place) {                                     /* with chains these are few */
            t->asker[p->place_at] = (uint8_t)i;
            t->makers |= 1ull << i;
        }
        add_if(&t->worded, i, p->words);
        add_if(&t->parted, i, p->inner.count | p->outer.count);
    }
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

/* Which samples are to be answered one after the other; the others are. */
static void find_makers(struct profile_builder *b, struct batch *t) {
    uint16_t left[RESOLVE_ASKS_MAX];
    uint64_t entries = b->frames.entries;
    size_t n = resolve_frames_steps(&b->frames, b->asks, b->ask_count, left);
    for (size_t k = 0; k < n; k++)
        t->makers |= 1ull << t->asker[left[k]];
    for (uint32_t i = 0; i < b->ask_count && b->frames.entries != entries; i++) /* for redo_words */
        t->makers |= (uint64_t)b->asks[i].entry << t->asker[i];
    for (uint32_t k = 0; k < t->parted.count; k++)
        if (!profile_chain_is_known(b, &b->pending[t->parted.list[k]]))
            t->makers |= 1ull << t->parted.list[k];
    for (uint32_t k = 0; k < t->worded.count; k++) {
        uint32_t i = t->worded.list[k];
        struct profile_pending *p = &b->pending[i];
        if (t->makers >> i & 1)
            continue;
        uint32_t place = resolve_frames_known_place(&b->frames, &b->asks[p->asks]);
        p->leaf.key.frame = p->own ? place : p->leaf.key.frame;
        t->makers |= (uint64_t)(p->own & (place == RESOLVE_NO_FRAME)) << i;
    }
}

static void answer_all(struct profile_builder *b, struct batch *t) {
    find_makers(b, t);
    for (uint64_t left = t->makers; left; left &= left - 1)
        answer(b, &b->pending[__builtin_ctzll(left)]);
}

/* ---- parts ---- */

static void make_parts(struct profile_builder *b, const struct batch *t) {
    uint32_t ids[PROFILE_PENDING][2 * PROFILE_PARTS_SHORT]; /* outermost first, and zeros behind them */
    struct profile_parts_ask asks[PROFILE_PENDING];
    _Static_assert((int)PROFILE_ASKED_WORDS == (int)PROFILE_PARTS_SHORT, "all of them");
    for (uint32_t n = 0; n < t->worded.count; n++) {
        const struct resolve_ask *words = &b->asks[b->pending[t->worded.list[n]].asks];
        for (unsigned k = 0; k < PROFILE_PARTS_SHORT; k++) {
            ids[n][PROFILE_PARTS_SHORT - 1 - k] = words[k].id;
            ids[n][PROFILE_PARTS_SHORT + k] = 0;
        }
    }
    for (uint32_t n = 0; n < t->worded.count; n++) {
        uint32_t words = b->pending[t->worded.list[n]].words;
        asks[n] = profile_parts_ask(&b->parts, &ids[n][PROFILE_PARTS_SHORT - words], words);
    }
    for (uint32_t n = 0; n < t->worded.count; n++)
        profile_parts_look(&b->parts, &asks[n]);
    for (uint32_t n = 0; n < t->worded.count; n++)
        profile_parts_near(&b->parts, &asks[n]);
    for (uint32_t n = 0; n < t->worded.count; n++) {
        uint32_t part = profile_parts_settle(&b->parts, &asks[n]);
        b->pending[t->worded.list[n]].leaf.key.chain.outer = part;
        b->failed |= part == PROFILE_NO_PART;
    }
}

/* ---- all ---- */

/* Their keys are known: finds their leaves, or makes them. */
static void find_leaves(struct profile_builder *b, const struct batch *t) {
    uint32_t maybe[PROFILE_PENDING];
    for (uint32_t k = 0; k < t->fresh.count; k++) {
        struct profile_pending *p = &b->pending[t->fresh.list[k]];
        p->hash = hash_key(&p->leaf.key);
        idtable_prefetch(&b->leaf_index, p->hash);
    }
    for (uint32_t k = 0; k < t->fresh.count; k++) {
        struct idtable_at at = idtable_first(&b->leaf_index, b->pending[t->fresh.list[k]].hash);
        maybe[k] = idtable_next(&b->leaf_index, &at);
        const struct profile_leaf *leaf = b->leaves.items + (maybe[k] == IDTABLE_NONE ? 0 : maybe[k]);
        prefetch_to_write(leaf); /* it may lie on two lines */
        prefetch_to_write((const char *)leaf + offsetof(struct profile_leaf, samples));
    }
    for (uint32_t k = 0; k < t->fresh.count && !b->failed; k++) {
        struct profile_pending *p = &b->pending[t->fresh.list[k]];
        bool is = maybe[k] != IDTABLE_NONE && same_key(&b->leaves.items[maybe[k]].key, &p->leaf.key);
        p->leaf_id = is ? maybe[k] : leaf_of(b, &p->leaf.key, p->hash);
        b->failed |= p->leaf_id == PROFILE_NONE;
        if (p->known != PROFILE_NOT_KNOWN && known_at(b, p->known)->key == p->known)
            *known_at(b, p->known) = (struct profile_known){p->known, p->leaf_id, false};
    }
}

void profile_pending_flush(struct profile_builder *b) {
    struct batch t;
    t.fresh.count = t.worded.count = t.parted.count = 0;
    t.makers = 0;
    if (b->known) {
        find_fresh(b, &t);
        ask_all(b, &t);
        answer_all(b, &t);
        make_parts(b, &t);
    } else { /* their keys are known */
        for (uint32_t i = 0; i < b->pending_count; i++)
            add_if(&t.fresh, i, true);
    }
    find_leaves(b, &t);
    for (uint32_t i = 0; i < b->pending_count && !b->failed; i++) {
        const struct profile_pending *p = &b->pending[i];
        uint32_t twin = b->pending[p->twin ? p->leaf_id : i].leaf_id;
        add_to_leaf(b, twin, &p->leaf, &p->weights);
    }
    b->pending_count = b->ask_count = 0;
}

void profile_pending_push(struct profile_builder *b) {
    if (b->unwind) /* the sample's chain was its last */
        b->pending[b->pending_count].weights.cut = resolve_unwind_was_cut(b->unwind);
    if (++b->pending_count == PROFILE_PENDING)
        profile_pending_flush(b);
}
