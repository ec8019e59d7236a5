/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Callchains to parts of frames. Chains repeat in parts: the kernel's is the same in all processes. A part as
 * recorded is remembered by a hash of its bytes, and only one that was not seen in that state of the address
 * space is resolved frame by frame; what it is resolved to may be known from another process.
 *
 *   segments  {kernel: k0 k1 k2} {user: u0 u1}     innermost first: resolve/chain.h
 *   parts     outer: u1 u0, inner: k2 k1 k0
 */
#include <stdlib.h>

#include "base/hot.h"
#include "base/prefetch.h"
#include "profile/profile_internal.h"

/* What all frames of a sample's chain have in common. */
struct chain {
    uint32_t pid, tid;
    struct model_when when;
    bool in_kernel; /* the sample itself */
    unsigned cpumode;
    uint64_t ip;
    bool wants_place;
    uint32_t place; /* the frame of the sample's own place; RESOLVE_NO_FRAME: not known from the chain */
};

/* ---- parts as recorded ---- */

/* A part that was seen, by part_key. */
struct profile_chain_slot {
    uint64_t key;
    uint32_t part;  /* NO_PART: the slot is free */
    uint32_t place; /* the frame of a sample that lies at its first address; RESOLVE_NO_FRAME: not asked */
};
enum { NO_PART = PROFILE_NO_PART };

void profile_chain_table_fini(struct profile_chain_table *t) {
    free(t->slots);
    *t = (struct profile_chain_table){0};
}

/* The slot of a key: its own, or a free one. The table has room. */
static inline struct profile_chain_slot *slot_of(const struct profile_chain_table *t, uint64_t key) {
    for (size_t i = key & t->mask;; i = (i + 1) & t->mask)
        if (t->slots[i].part == NO_PART || t->slots[i].key == key)
            return &t->slots[i];
}

/* Room for one more. False: memory. */
static bool make_room(struct profile_chain_table *t) {
    enum { FIRST_SLOTS = 1024 };
    if (t->slots && t->count < (t->mask + 1) / 16 * 13)
        return true;
    size_t n = t->slots ? 2 * (t->mask + 1) : FIRST_SLOTS;
    struct profile_chain_table made = {malloc(n * sizeof *made.slots), n - 1, t->count};
    if (!made.slots)
        return false;
    for (size_t i = 0; i < n; i++)
        made.slots[i].part = NO_PART;
    for (size_t i = 0; t->slots && i <= t->mask; i++)
        if (t->slots[i].part != NO_PART)
            *slot_of(&made, t->slots[i].key) = t->slots[i];
    free(t->slots);
    *t = made;
    return true;
}

/* Two parts that collide would be taken for one; at 64 bits that is once in some ten thousand recordings of a
 * million distinct parts each. */
static inline uint64_t part_key(const struct resolve_segment *part, const struct model_state *state,
                                bool in_kernel) {
    uint64_t seed = (uint64_t)state->id << 8 | part->kind << 6 | part->cpumode << 1 | in_kernel;
    if (part->inner) /* what lies inside of an address is part of what it means */
        seed ^= hash_u64(bytes_load64(part->at - 8, part->swap));
    return hash_words(part->at, part->count, seed);
}

/* The frames of a part, into b->run_frames. */
static bool resolve_frames(struct profile_builder *b, const struct chain *c,
                           const struct resolve_segment *part, const struct model_state *state) {
    bool before_exec = c->in_kernel && part->cpumode == PERFDATA_MISC_USER;
    struct resolve_run run = {.state = state,
                              .at = part->at,
                              .count = part->count,
                              .swap = part->swap,
                              .cut = part->inner,
                              .cpumode = part->cpumode,
                              .kind = (uint8_t)b->plan->frame_kind,
                              .before_exec = before_exec};
    if (part->kind == RESOLVE_SEGMENT_CALLS)
        return resolve_frames_run(&b->frames, &run, b->run_frames.items);
    for (uint64_t i = 0; i < part->count; i++)
        if ((b->run_frames.items[i] =
                 resolve_frames_at(&b->frames, state, part->cpumode, resolve_segment_at(part, i),
                                   (enum resolve_frame_kind)run.kind, before_exec)) == RESOLVE_NO_FRAME)
            return false;
    return true;
}

static uint32_t resolve(struct profile_builder *b, const struct chain *c, const struct resolve_segment *part,
                        const struct model_state *state) {
    vec_clear(&b->path);
    if (!vec_reserve(&b->run_frames, part->count) || !vec_reserve(&b->path, part->count) ||
        !resolve_frames(b, c, part, state))
        return PROFILE_NO_PART;
    for (uint64_t i = part->count; i-- > 0;)
        if (!profile_is_hidden(b, b->run_frames.items[i]))
            b->path.items[b->path.count++] = b->run_frames.items[i];
    return profile_parts_add(&b->parts, b->path.items, b->path.count);
}

/* The resolved part. *place, if asked for, becomes the frame of a sample that lies at the first address. */
static uint32_t known_part(struct profile_builder *b, const struct chain *c,
                           const struct resolve_segment *part, const struct model_state *state, uint64_t key,
                           uint32_t *place) {
    struct profile_chain_table *t = &b->known_parts;
    if (!make_room(t))
        return PROFILE_NO_PART;
    struct profile_chain_slot *slot = slot_of(t, key);
    if (slot->part == NO_PART) {
        uint32_t made = resolve(b, c, part, state);
        if (made == PROFILE_NO_PART)
            return PROFILE_NO_PART;
        *slot = (struct profile_chain_slot){.key = key, .part = made, .place = RESOLVE_NO_FRAME};
        t->count++;
    }
    if (place && slot->place == RESOLVE_NO_FRAME)
        slot->place = resolve_frames_at(&b->frames, state, part->cpumode, bytes_load64(part->at, part->swap),
                                        (enum resolve_frame_kind)b->plan->place_kind, false);
    if (place)
        *place = slot->place;
    return slot->part;
}

/* Whether a sample itself lies at the part's first address. */
static inline bool is_own(const struct resolve_segment *part, unsigned cpumode, uint64_t ip) {
    return part->cpumode == cpumode && bytes_load64(part->at, part->swap) == ip;
}

static uint32_t part_of(struct profile_builder *b, struct chain *c, const struct resolve_segment *part,
                        bool own) {
    const struct model_state *state = resolve_places_state(&b->places, part->cpumode, c->pid, c->when);
    return known_part(b, c, part, state, part_key(part, state, c->in_kernel), own ? &c->place : NULL);
}

/* ---- parts of one sample ---- */

/* More parts than two, or two of the same kind of addresses: the outer part is the outermost run of one kind,
 * the inner one all the others behind each other. */
static bool join(struct profile_builder *b, const struct profile_link *links, size_t count,
                 struct profile_chain *out) {
    size_t frames = 0, outer = 0;
    uint32_t n;
    bool same = true;
    for (size_t i = 0; i < count; i++) {
        profile_parts_ids(&b->parts, links[i].part, &n);
        frames += n;
    }
    vec_clear(&b->path);
    if (!vec_reserve(&b->path, frames + 1))
        return false;
    for (size_t i = count; i-- > 0;) {
        const uint32_t *part = profile_parts_ids(&b->parts, links[i].part, &n);
        if (n)
            memcpy(b->path.items + b->path.count, part, n * sizeof *part);
        b->path.count += n;
        same &= links[i].cpumode == links[count - 1].cpumode;
        outer = same ? b->path.count : outer;
    }
    out->outer = profile_parts_add(&b->parts, b->path.items, outer);
    out->inner = profile_parts_add(&b->parts, b->path.items + outer, b->path.count - outer);
    return out->outer != PROFILE_NO_PART && out->inner != PROFILE_NO_PART;
}

/* The chain of the segments that b->chain has; c->place where it is known. False: memory. */
static bool take_parts(struct profile_builder *b, struct chain *c, struct profile_chain *out) {
    size_t count = 0;
    *out = (struct profile_chain){PROFILE_EMPTY_PART, PROFILE_EMPTY_PART};
    if (!vec_reserve(&b->links, b->chain.segments.count))
        return false;
    for (size_t i = 0; i < b->chain.segments.count; i++) {
        const struct resolve_segment *part = &b->chain.segments.items[i];
        if (part->kind == RESOLVE_SEGMENT_COOKIE)
            continue;
        uint32_t made = part_of(b, c, part, !count && c->wants_place && is_own(part, c->cpumode, c->ip));
        if (made == PROFILE_NO_PART)
            return false;
        b->links.items[count++] = (struct profile_link){made, part->cpumode};
    }
    const struct profile_link *links = b->links.items;
    if (count > 2 || (count == 2 && links[0].cpumode == links[1].cpumode))
        return join(b, links, count, out);
    if (count == 2)
        out->inner = links[0].part;
    if (count)
        out->outer = links[count - 1].part;
    return true;
}

/* What a sample's last branches tell takes the place of its callchain's innermost frame, which is the
 * sample's own. All is one part then, as branches lead anywhere: parts.h. False: memory. */
static bool add_history(struct profile_builder *b, const struct perfdata_sample *s, struct model_when when,
                        struct profile_chain *out) {
    const uint32_t parts[] = {out->outer, out->inner};
    vec_clear(&b->path);
    for (unsigned i = 0; i < 2; i++) {
        uint32_t n;
        const uint32_t *ids = profile_parts_ids(&b->parts, parts[i], &n);
        if (!vec_reserve(&b->path, b->path.count + n + 1))
            return false;
        for (uint32_t k = 0; k < n; k++)
            b->path.items[b->path.count++] = ids[k];
    }
    bool branches = s->have & PERFDATA_SAMPLE_BRANCH_STACK && s->branch_count;
    b->path.count -= branches && b->path.count;
    if (branches && !profile_history_add(b, s, when))
        return false;
    *out = (struct profile_chain){profile_parts_add(&b->parts, b->path.items, b->path.count),
                                  PROFILE_EMPTY_PART};
    return out->outer != PROFILE_NO_PART;
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

/* The segments of the sample's chain, into b->chain. False: memory. */
static bool read_chain(struct profile_builder *b, const struct perfdata_sample *s, uint32_t event,
                       unsigned cpumode, struct model_when when) {
    return resolve_chain_read(&b->chain, s, &b->plan->in->events->list.items[event].attr, cpumode, when);
}

bool profile_chain_take(struct profile_builder *b, const struct profile_taken *x, struct profile_chain *out,
                        uint32_t *place) {
    struct chain c = chain_of(x->s, x->cpumode, x->when, place);
    if (!read_chain(b, x->s, x->event, x->cpumode, x->when) || !take_parts(b, &c, out) ||
        (b->plan->history && !add_history(b, x->s, x->when, out)))
        return false;
    if (place)
        *place = c.place;
    return true;
}

/* ---- samples that wait ---- */

static struct profile_later_part later_part(const struct resolve_segment *part, uint64_t key, bool own) {
    return (struct profile_later_part){.key = key,
                                       .at = part->at,
                                       .count = (uint32_t)part->count,
                                       .cpumode = (uint8_t)part->cpumode,
                                       .swap = part->swap,
                                       .cut = part->inner,
                                       .own = own};
}

/* A sample of one part, or of two that need not be joined (inner: else NULL). */
static inline void ask_parts(struct profile_builder *b, const struct perfdata_sample *s, unsigned cpumode,
                             struct model_when when, const struct resolve_segment *inner,
                             const struct resolve_segment *outer, struct profile_pending *p) {
    bool in_kernel = cpumode == PERFDATA_MISC_KERNEL, own = is_own(inner ? inner : outer, cpumode, s->ip);
    uint64_t keys[2] = {0};
    if (inner)
        keys[0] = part_key(inner, resolve_places_state(&b->places, inner->cpumode, s->pid, when), in_kernel);
    keys[1] = part_key(outer, resolve_places_state(&b->places, outer->cpumode, s->pid, when), in_kernel);
    if (own)
        profile_pending_know(b, keys);
    if (inner) {
        p->inner = later_part(inner, keys[0], own);
        own = false;
    } else { /* the frames of a few words are asked for, and tell the place if they are functions */
        own &= outer->count > PROFILE_ASKED_WORDS ||
               (b->plan->frame_kind == RESOLVE_FUNCTION && b->plan->place_kind == RESOLVE_PLACE);
    }
    p->outer = later_part(outer, keys[1], own);
}

HOT enum profile_asked profile_chain_ask(struct profile_builder *b, const struct perfdata_sample *s,
                                         uint32_t event, unsigned cpumode, struct model_when when,
                                         struct profile_pending *p) {
    p->leaf.key.chain = (struct profile_chain){PROFILE_EMPTY_PART, PROFILE_EMPTY_PART};
    if (!read_chain(b, s, event, cpumode, when))
        return PROFILE_ASK_FAILED;
    const struct resolve_segment *parts = b->chain.segments.items;
    size_t count = b->chain.segments.count;
    if (count > 2 || (count == 2 && parts[0].cpumode == parts[1].cpumode))
        return PROFILE_NOT_ASKED;
    for (size_t i = 0; i < count; i++)
        if (parts[i].kind != RESOLVE_SEGMENT_CALLS)
            return PROFILE_NOT_ASKED;
    if (count)
        ask_parts(b, s, cpumode, when, count == 2 ? &parts[0] : NULL, &parts[count - 1], p);
    return PROFILE_ASKED;
}

/* Up to PROFILE_ASKED_WORDS words are as quickly resolved as looked up: of the short parts of user space,
 * which are what is taken for callers in code without frame pointers, few come twice. */
static inline bool is_short_user(const struct profile_later_part *part) {
    return part->cpumode == PERFDATA_MISC_USER && !part->cut && part->count <= PROFILE_ASKED_WORDS;
}

/* False: not all of them can be asked for. */
static inline bool ask_words(struct profile_builder *b, struct profile_pending *p) {
    struct model_when when = {p->leaf.first_ns, p->order};
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

static inline void want_part(const struct profile_builder *b, const struct profile_later_part *part) {
    if (b->known_parts.slots)
        prefetch(&b->known_parts.slots[part->key & b->known_parts.mask]);
}

void profile_chain_ask_frames(struct profile_builder *b, struct profile_pending *p) {
    if (p->inner.count)
        want_part(b, &p->inner);
    if (p->outer.count && !(is_short_user(&p->outer) && ask_words(b, p)))
        want_part(b, &p->outer);
}

/* A part that was not seen before. */
static __attribute__((noinline)) bool make_part(struct profile_builder *b, struct profile_pending *p,
                                                const struct profile_later_part *later, uint32_t *id) {
    const struct chain c = {
        .pid = p->pid, .when = {p->leaf.first_ns, p->order}, .in_kernel = p->cpumode == PERFDATA_MISC_KERNEL};
    const struct resolve_segment part = {.at = later->at,
                                         .count = later->count,
                                         .cpumode = later->cpumode,
                                         .swap = later->swap,
                                         .inner = later->cut};
    const struct model_state *state = resolve_places_state(&b->places, part.cpumode, c.pid, c.when);
    *id = known_part(b, &c, &part, state, later->key, later->own ? &p->leaf.key.frame : NULL);
    return *id != PROFILE_NO_PART && (!later->own || p->leaf.key.frame != RESOLVE_NO_FRAME);
}

static inline bool answer_part(struct profile_builder *b, struct profile_pending *p,
                               const struct profile_later_part *later, uint32_t *id) {
    struct profile_chain_slot *slot = b->known_parts.slots ? slot_of(&b->known_parts, later->key) : NULL;
    if (!slot || slot->part == NO_PART || (later->own && slot->place == RESOLVE_NO_FRAME))
        return make_part(b, p, later, id);
    *id = slot->part;
    if (later->own)
        p->leaf.key.frame = slot->place;
    return true;
}

bool profile_chain_answer(struct profile_builder *b, struct profile_pending *p) {
    struct profile_chain *chain = &p->leaf.key.chain;
    return (!p->inner.count || answer_part(b, p, &p->inner, &chain->inner)) &&
           (!p->outer.count || answer_part(b, p, &p->outer, &chain->outer));
}
