/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples on their way to their leaves. Nearly everything that one of them touches lies in tables that are
 * larger than the caches, so some tens of them go together, one step at a time: each step asks the memory for
 * what the next one needs, for all of them.
 *
 *   asked (chain.c, build.c)    spots of addresses
 *   steps (resolve/frames.c)    frames
 *   parts (parts.c)             where the index says, the sequences themselves
 *   leaves                      the index, the leaves
 */
#include "profile/profile_internal.h"

/* ---- leaves ---- */

uint64_t profile_leaf_hash(const struct profile_leaf_key *k) {
    uint64_t place = (uint64_t)k->klass << 32 | k->frame,
             chain = (uint64_t)k->chain.outer << 32 | k->chain.inner;
    return hash_u64(place ^ chain * 0x9e3779b97f4a7c15u);
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
    if (!leaf || !idtable_add(&b->leaf_index, hash, id) || (b->plan->extras && !vec_push(&b->weights)))
        return PROFILE_NONE;
    *leaf = (struct profile_leaf){.key = *key, .first_ns = UINT64_MAX};
    return id;
}

bool profile_leaf_add(struct profile_builder *b, const struct profile_leaf *more,
                      const struct profile_weights *weights, uint64_t hash) {
    uint32_t id = leaf_of(b, &more->key, hash);
    if (id == PROFILE_NONE)
        return false;
    struct profile_leaf *leaf = &b->leaves.items[id];
    leaf->period += more->period;
    leaf->samples += more->samples;
    if (more->first_ns < leaf->first_ns) {
        leaf->first_ns = more->first_ns;
        leaf->thread = more->thread;
    }
    for (unsigned i = 0; b->plan->extras && i < 3; i++)
        b->weights.items[id].w[i] += weights->w[i];
    if (b->plan->extras) {
        b->weights.items[id].latency += weights->latency;
        b->weights.items[id].cut += weights->cut;
    }
    return true;
}

/* ---- frames ---- */

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
                              .before_exec = p->in_kernel};
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
    for (unsigned i = 0; i < p->words + (unsigned)p->place; i++) {
        b->failed |= resolve_frames_answer(&b->frames, &asks[i]) == RESOLVE_NO_FRAME;
        entry |= asks[i].entry && i + 1u < p->words;
    }
    if (p->place)
        p->leaf.key.frame = asks[p->words].id;
    if (entry)
        b->failed |= !redo_words(b, p);
    if (p->own && !b->failed) {
        p->leaf.key.frame = resolve_frames_place(&b->frames, &asks[0]);
        b->failed |= p->leaf.key.frame == RESOLVE_NO_FRAME;
    }
}

static void answer_all(struct profile_builder *b) {
    for (unsigned step = 0; step < RESOLVE_ASK_STEPS; step++)
        for (uint32_t i = 0; i < b->ask_count; i++)
            resolve_frames_step(&b->frames, &b->asks[i]);
    for (uint32_t i = 0; i < b->pending_count; i++)
        answer(b, &b->pending[i]);
}

/* ---- parts ---- */

static void make_parts(struct profile_builder *b) {
    uint32_t ids[PROFILE_PENDING][PROFILE_ASKED_WORDS], of[PROFILE_PENDING], n = 0;
    struct profile_parts_ask asks[PROFILE_PENDING];
    for (uint32_t i = 0; i < b->pending_count; i++) {
        const struct profile_pending *p = &b->pending[i];
        if (!p->words)
            continue;
        for (unsigned k = 0; k < p->words; k++) /* outermost first */
            ids[n][k] = b->asks[p->asks + p->words - 1 - k].id;
        of[n] = i;
        asks[n] = profile_parts_ask(&b->parts, ids[n], p->words);
        n++;
    }
    for (uint32_t i = 0; i < n; i++)
        profile_parts_look(&b->parts, &asks[i]);
    for (uint32_t i = 0; i < n; i++)
        profile_parts_near(&b->parts, &asks[i]);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t part = profile_parts_settle(&b->parts, &asks[i]);
        b->pending[of[i]].leaf.key.chain.outer = part;
        b->failed |= part == PROFILE_NO_PART;
    }
}

/* ---- all ---- */

void profile_pending_flush(struct profile_builder *b) {
    answer_all(b);
    if (b->plan->chains)
        make_parts(b);
    for (uint32_t i = 0; i < b->pending_count; i++) {
        struct profile_pending *p = &b->pending[i];
        p->hash = profile_leaf_hash(&p->leaf.key);
        idtable_prefetch(&b->leaf_index, p->hash);
    }
    for (uint32_t i = 0; i < b->pending_count; i++) {
        struct idtable_at at = idtable_first(&b->leaf_index, b->pending[i].hash);
        uint32_t id = idtable_next(&b->leaf_index, &at);
        if (id != IDTABLE_NONE) { /* it may lie on two lines */
            __builtin_prefetch(&b->leaves.items[id], 1);
            __builtin_prefetch(&b->leaves.items[id].samples, 1);
        }
    }
    for (uint32_t i = 0; i < b->pending_count && !b->failed; i++)
        b->failed |= !profile_leaf_add(b, &b->pending[i].leaf, &b->pending[i].weights, b->pending[i].hash);
    b->pending_count = b->ask_count = 0;
    vec_clear(&b->part_words);
}

void profile_pending_push(struct profile_builder *b) {
    if (b->unwind) /* the sample's chain was its last */
        b->pending[b->pending_count].weights.cut = resolve_unwind_was_cut(b->unwind);
    if (++b->pending_count == PROFILE_PENDING)
        profile_pending_flush(b);
}
