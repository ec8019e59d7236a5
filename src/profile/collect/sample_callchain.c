/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resolves callchains to segments of frames. Parts of chains repeat: the kernel's are the same in all
 * processes. A recorded part is remembered by a hash of its bytes, and resolved frame by frame only if it is
 * new in that state of the address space; the segment that it becomes may be known from another process.
 *
 *   recorded  {kernel: k0 k1 k2} {user: u0 u1}     innermost first: resolve/chain.h
 *   segments  outer: u1 u0, inner: k2 k1 k0        outermost first
 */
#include <stdlib.h>

#include "base/threads/prefetch.h"
#include "profile/profile_internal.h"

/* What all frames of a sample's chain have in common. */
struct chain {
    uint32_t pid, tid;
    struct model_when when;
    bool in_kernel; /* the sample itself is */
    unsigned cpumode;
    uint64_t ip;
    bool wants_place;
    uint32_t place; /* the frame of the sample's own place; RESOLVE_NO_FRAME: the chain does not tell */
};

/* ---- segments as recorded ---- */

/* A recorded part that was seen before, by segment_key. */
struct profile_chain_slot {
    uint64_t key;
    uint32_t segment; /* NO_SEGMENT: the slot is free */
    uint32_t place;   /* the frame of a sample at its first address; RESOLVE_NO_FRAME: not looked up */
};
enum { NO_SEGMENT = PROFILE_NO_SEGMENT };

void profile_chain_table_fini(struct profile_chain_table *t) {
    free(t->slots);
    *t = (struct profile_chain_table){0};
}

/* Returns a key's slot or, if it has none, a free one. The table has room. */
static inline struct profile_chain_slot *slot_of(const struct profile_chain_table *t, uint64_t key) {
    for (size_t i = key & t->mask;; i = (i + 1) & t->mask)
        if (t->slots[i].segment == NO_SEGMENT || t->slots[i].key == key)
            return &t->slots[i];
}

/* Makes room for one more. False: out of memory. */
static bool make_room(struct profile_chain_table *t) {
    enum { FIRST_SLOTS = 1024 };
    if (t->slots && t->count < (t->mask + 1) / 16 * 13)
        return true;
    size_t n = t->slots ? 2 * (t->mask + 1) : FIRST_SLOTS;
    struct profile_chain_table made = {malloc(n * sizeof *made.slots), n - 1, t->count};
    if (!made.slots)
        return false;
    for (size_t i = 0; i < n; i++)
        made.slots[i].segment = NO_SEGMENT;
    for (size_t i = 0; t->slots && i <= t->mask; i++)
        if (t->slots[i].segment != NO_SEGMENT)
            *slot_of(&made, t->slots[i].key) = t->slots[i];
    free(t->slots);
    *t = made;
    return true;
}

/* Returns a segment's key. Two segments with equal keys would be taken for one; with 64 bits that happens
 * once in some ten million recordings of a million distinct segments each. */
static inline uint64_t segment_key(const struct resolve_segment *segment, const struct model_state *state,
                                   bool in_kernel) {
    uint64_t seed = (uint64_t)state->id << 8 | segment->kind << 6 | segment->cpumode << 1 | in_kernel;
    if (segment->inner) /* the next inner address is part of what an address means */
        seed ^= hash_u64(bytes_load64(segment->at - 8, segment->swap));
    return hash_words(segment->at, segment->count, seed);
}

/* Resolves a segment into b->run_frames. False: out of memory. */
static bool resolve_frames(struct profile_builder *b, const struct chain *c,
                           const struct resolve_segment *segment, const struct model_state *state) {
    bool before_exec = c->in_kernel && segment->cpumode == PERFDATA_MISC_USER;
    struct resolve_run run = {.state = state,
                              .at = segment->at,
                              .count = segment->count,
                              .swap = segment->swap,
                              .cut = segment->inner,
                              .cpumode = segment->cpumode,
                              .kind = (uint8_t)b->plan->frame_kind,
                              .before_exec = before_exec};
    if (segment->kind == RESOLVE_SEGMENT_CALLS)
        return resolve_frames_run(&b->frames, &run, b->run_frames.items);
    for (uint64_t i = 0; i < segment->count; i++)
        if ((b->run_frames.items[i] =
                 resolve_frames_at(&b->frames, state, segment->cpumode, resolve_segment_at(segment, i),
                                   (enum resolve_frame_kind)run.kind, before_exec)) == RESOLVE_NO_FRAME)
            return false;
    return true;
}

static uint32_t resolve(struct profile_builder *b, const struct chain *c,
                        const struct resolve_segment *segment, const struct model_state *state) {
    vec_clear(&b->path);
    if (!vec_reserve(&b->run_frames, segment->count) || !vec_reserve(&b->path, segment->count) ||
        !resolve_frames(b, c, segment, state))
        return PROFILE_NO_SEGMENT;
    for (uint64_t i = segment->count; i-- > 0;)
        if (!profile_is_hidden(b, b->run_frames.items[i]))
            b->path.items[b->path.count++] = b->run_frames.items[i];
    return profile_segments_add(&b->segments, b->path.items, b->path.count);
}

/* Returns the resolved segment. *place, unless NULL, becomes the frame of a sample at its first address. */
static uint32_t known_segment(struct profile_builder *b, const struct chain *c,
                              const struct resolve_segment *segment, const struct model_state *state,
                              uint64_t key, uint32_t *place) {
    struct profile_chain_table *t = &b->known_segments;
    if (!make_room(t))
        return PROFILE_NO_SEGMENT;
    struct profile_chain_slot *slot = slot_of(t, key);
    if (slot->segment == NO_SEGMENT) {
        uint32_t made = resolve(b, c, segment, state);
        if (made == PROFILE_NO_SEGMENT)
            return PROFILE_NO_SEGMENT;
        *slot = (struct profile_chain_slot){.key = key, .segment = made, .place = RESOLVE_NO_FRAME};
        t->count++;
    }
    if (place && slot->place == RESOLVE_NO_FRAME)
        slot->place =
            resolve_frames_at(&b->frames, state, segment->cpumode, bytes_load64(segment->at, segment->swap),
                              (enum resolve_frame_kind)b->plan->place_kind, false);
    if (place)
        *place = slot->place;
    return slot->segment;
}

/* Whether the segment's first address is the sample's own. */
static inline bool is_own(const struct resolve_segment *segment, unsigned cpumode, uint64_t ip) {
    return segment->cpumode == cpumode && bytes_load64(segment->at, segment->swap) == ip;
}

static uint32_t segment_of(struct profile_builder *b, struct chain *c, const struct resolve_segment *segment,
                           bool own) {
    const struct model_state *state = resolve_places_state(&b->places, segment->cpumode, c->pid, c->when);
    return known_segment(b, c, segment, state, segment_key(segment, state, c->in_kernel),
                         own ? &c->place : NULL);
}

/* ---- parts of one sample ---- */

/* Joins more than two segments, or two of one cpumode, into two: the outer one is the outermost run of one
 * cpumode, the inner one all the others in sequence. False: out of memory. */
static bool join(struct profile_builder *b, const struct profile_link *links, size_t count,
                 struct profile_chain *out) {
    size_t outer = 0;
    bool same = true;
    vec_clear(&b->path);
    for (size_t i = count; i-- > 0;) {
        if (!profile_path_add(b, links[i].segment))
            return false;
        same &= links[i].cpumode == links[count - 1].cpumode;
        outer = same ? b->path.count : outer;
    }
    out->outer = profile_segments_add(&b->segments, b->path.items, outer);
    out->inner = profile_segments_add(&b->segments, b->path.items + outer, b->path.count - outer);
    return out->outer != PROFILE_NO_SEGMENT && out->inner != PROFILE_NO_SEGMENT;
}

/* Resolves the segments in b->chain to a chain; sets c->place if the chain tells it. False: out of memory. */
static bool take_segments(struct profile_builder *b, struct chain *c, struct profile_chain *out) {
    size_t count = 0;
    *out = (struct profile_chain){PROFILE_EMPTY_SEGMENT, PROFILE_EMPTY_SEGMENT};
    if (!vec_reserve(&b->links, b->chain.segments.count))
        return false;
    for (size_t i = 0; i < b->chain.segments.count; i++) {
        const struct resolve_segment *segment = &b->chain.segments.items[i];
        if (segment->kind == RESOLVE_SEGMENT_COOKIE)
            continue;
        uint32_t made =
            segment_of(b, c, segment, !count && c->wants_place && is_own(segment, c->cpumode, c->ip));
        if (made == PROFILE_NO_SEGMENT)
            return false;
        b->links.items[count++] = (struct profile_link){made, segment->cpumode};
    }
    const struct profile_link *links = b->links.items;
    if (count > 2 || (count == 2 && links[0].cpumode == links[1].cpumode))
        return join(b, links, count, out);
    if (count == 2)
        out->inner = links[0].segment;
    if (count)
        out->outer = links[count - 1].segment;
    return true;
}

/* Replaces the innermost frame of a sample's callchain, its own place, by the ends of its last branches. All
 * becomes one segment, as branches lead anywhere: segments.h. False: out of memory. */
static bool add_history(struct profile_builder *b, const struct perfdata_sample *s, struct model_when when,
                        struct profile_chain *out) {
    vec_clear(&b->path);
    if (!profile_path_add(b, out->outer) || !profile_path_add(b, out->inner))
        return false;
    bool branches = s->have & PERFDATA_SAMPLE_BRANCH_STACK && s->branch_count;
    b->path.count -= branches && b->path.count;
    if (branches && !profile_history_add(b, s, when))
        return false;
    *out = (struct profile_chain){profile_segments_add(&b->segments, b->path.items, b->path.count),
                                  PROFILE_EMPTY_SEGMENT};
    return out->outer != PROFILE_NO_SEGMENT;
}

static struct chain chain_of(const struct perfdata_sample *s, unsigned cpumode, struct model_when when,
                             bool wants_place) {
    return (struct chain){.pid = s->pid,
                          .tid = s->tid,
                          .when = when,
                          .in_kernel = cpumode == PERFDATA_MISC_KERNEL,
                          .cpumode = cpumode,
                          .ip = s->ip,
                          .wants_place = wants_place,
                          .place = RESOLVE_NO_FRAME};
}

/* Reads the segments of the sample's chain into b->chain. False: out of memory. */
static bool read_chain(struct profile_builder *b, const struct perfdata_sample *s, uint32_t event,
                       unsigned cpumode, struct model_when when) {
    return resolve_chain_read(&b->chain, s, &b->plan->in->events->list.items[event].attr, cpumode, when);
}

bool profile_chain_take(struct profile_builder *b, const struct profile_taken *x, struct profile_chain *out,
                        uint32_t *place) {
    struct chain c = chain_of(x->s, x->cpumode, x->when, place);
    if (!read_chain(b, x->s, x->event, x->cpumode, x->when) || !take_segments(b, &c, out) ||
        (b->plan->history && !add_history(b, x->s, x->when, out)))
        return false;
    if (place)
        *place = c.place;
    return true;
}

/* ---- samples that wait ---- */

static struct profile_later_segment later_segment(const struct resolve_segment *segment, uint64_t key,
                                                  bool own) {
    return (struct profile_later_segment){.key = key,
                                          .at = segment->at,
                                          .count = (uint32_t)segment->count,
                                          .cpumode = (uint8_t)segment->cpumode,
                                          .swap = segment->swap,
                                          .cut = segment->inner,
                                          .own = own};
}

/* Notes what to look up of a sample with one segment (inner: NULL), or two that need no joining. */
static inline void ask_segments(struct profile_builder *b, const struct perfdata_sample *s, unsigned cpumode,
                                struct model_when when, const struct resolve_segment *inner,
                                const struct resolve_segment *outer, struct profile_pending *p) {
    bool in_kernel = cpumode == PERFDATA_MISC_KERNEL, own = is_own(inner ? inner : outer, cpumode, s->ip);
    uint64_t keys[2] = {0};
    if (inner)
        keys[0] =
            segment_key(inner, resolve_places_state(&b->places, inner->cpumode, s->pid, when), in_kernel);
    keys[1] = segment_key(outer, resolve_places_state(&b->places, outer->cpumode, s->pid, when), in_kernel);
    if (own)
        profile_pending_know(b, keys);
    if (inner) {
        p->inner = later_segment(inner, keys[0], own);
        own = false;
    } else { /* a few words are looked up one by one, and tell the place only as functions */
        own &= outer->count > PROFILE_ASKED_WORDS ||
               (b->plan->frame_kind == RESOLVE_FUNCTION && b->plan->place_kind == RESOLVE_PLACE);
    }
    p->outer = later_segment(outer, keys[1], own);
}

enum profile_asked profile_chain_ask(struct profile_builder *b, const struct perfdata_sample *s,
                                     uint32_t event, unsigned cpumode, struct model_when when,
                                     struct profile_pending *p) {
    p->stack.key.chain = (struct profile_chain){PROFILE_EMPTY_SEGMENT, PROFILE_EMPTY_SEGMENT};
    if (!read_chain(b, s, event, cpumode, when))
        return PROFILE_ASK_FAILED;
    const struct resolve_segment *segments = b->chain.segments.items;
    size_t count = b->chain.segments.count;
    if (count > 2 || (count == 2 && segments[0].cpumode == segments[1].cpumode))
        return PROFILE_NOT_ASKED;
    for (size_t i = 0; i < count; i++)
        if (segments[i].kind != RESOLVE_SEGMENT_CALLS)
            return PROFILE_NOT_ASKED;
    if (count)
        ask_segments(b, s, cpumode, when, count == 2 ? &segments[0] : NULL, &segments[count - 1], p);
    return PROFILE_ASKED;
}

/* Whether a segment is so short that resolving its addresses is as fast as looking the segment up. Short user
 * segments come from code without frame pointers, are mostly garbage, and seldom repeat. */
static inline bool is_short_user(const struct profile_later_segment *segment) {
    return segment->cpumode == PERFDATA_MISC_USER && !segment->cut && segment->count <= PROFILE_ASKED_WORDS;
}

/* Starts looking up the words of p->outer. False: not all of them can be. */
static inline bool ask_words(struct profile_builder *b, struct profile_pending *p) {
    struct model_when when = {p->stack.first_ns, p->order};
    struct resolve_run run = {.state = resolve_places_state(&b->places, PERFDATA_MISC_USER, p->pid, when),
                              .at = p->outer.at,
                              .count = p->outer.count,
                              .swap = p->outer.swap,
                              .cpumode = PERFDATA_MISC_USER,
                              .kind = b->plan->frame_kind,
                              .before_exec = p->cpumode == PERFDATA_MISC_KERNEL};
    if (!resolve_frames_ask_run(&b->frames, &run, &b->asks[b->ask_count]))
        return false;
    p->asks = (uint16_t)b->ask_count;
    p->words = (uint8_t)p->outer.count;
    p->own = p->outer.own;
    b->ask_count += p->words;
    p->outer.count = 0;
    return true;
}

static inline void want_segment(const struct profile_builder *b,
                                const struct profile_later_segment *segment) {
    if (b->known_segments.slots)
        prefetch(&b->known_segments.slots[segment->key & b->known_segments.mask]);
}

void profile_chain_ask_frames(struct profile_builder *b, struct profile_pending *p) {
    if (p->inner.count)
        want_segment(b, &p->inner);
    if (p->outer.count && !(is_short_user(&p->outer) && ask_words(b, p)))
        want_segment(b, &p->outer);
}

/* Resolves a part, or its place, that was not seen before. */
static __attribute__((noinline)) bool make_segment(struct profile_builder *b, struct profile_pending *p,
                                                   const struct profile_later_segment *later, uint32_t *id) {
    const struct chain c = {.pid = p->pid,
                            .when = {p->stack.first_ns, p->order},
                            .in_kernel = p->cpumode == PERFDATA_MISC_KERNEL};
    const struct resolve_segment segment = {.at = later->at,
                                            .count = later->count,
                                            .cpumode = later->cpumode,
                                            .swap = later->swap,
                                            .inner = later->cut};
    const struct model_state *state = resolve_places_state(&b->places, segment.cpumode, c.pid, c.when);
    *id = known_segment(b, &c, &segment, state, later->key, later->own ? &p->stack.key.frame : NULL);
    return *id != PROFILE_NO_SEGMENT && (!later->own || p->stack.key.frame != RESOLVE_NO_FRAME);
}

static inline bool answer_segment(struct profile_builder *b, struct profile_pending *p,
                                  const struct profile_later_segment *later, uint32_t *id) {
    struct profile_chain_slot *slot =
        b->known_segments.slots ? slot_of(&b->known_segments, later->key) : NULL;
    if (!slot || slot->segment == NO_SEGMENT || (later->own && slot->place == RESOLVE_NO_FRAME))
        return make_segment(b, p, later, id);
    *id = slot->segment;
    if (later->own)
        p->stack.key.frame = slot->place;
    return true;
}

bool profile_chain_answer(struct profile_builder *b, struct profile_pending *p) {
    struct profile_chain *chain = &p->stack.key.chain;
    return (!p->inner.count || answer_segment(b, p, &p->inner, &chain->inner)) &&
           (!p->outer.count || answer_segment(b, p, &p->outer, &chain->outer));
}
