/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Callchains to parts of frames. Chains repeat in parts: the kernel's is the same in all processes. A part as
 * recorded is remembered by a hash of its bytes, and only one that was not seen in that state of the address
 * space is resolved frame by frame; what it is resolved to may be known from another process.
 *
 *   sample: [KERNEL] k0 k1 k2 [USER] u0 u1        innermost first
 *            `-- part: k2 k1 k0 --'  `-- part: u1 u0
 *   together: outer part u1 u0, inner part k2 k1 k0
 */
#include <stdlib.h>

#include "base/hot.h"
#include "base/prefetch.h"
#include "profile/profile_internal.h"

/* Addresses of one space, innermost first. */
struct part {
    const uint8_t *at;
    uint64_t count;
    unsigned cpumode;
    bool swap;
    bool cut; /* it begins further inside */
};

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
    uint32_t part : 31;  /* NO_PART: the slot is free */
    uint32_t wanted : 1; /* it was asked for again since the table was full last */
    uint32_t place; /* the frame of a sample that lies at its first address; RESOLVE_NO_FRAME: not asked */
};
enum { NO_PART = INT32_MAX }; /* ids of parts are below: parts.c */

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

/* Room for so many slots, for all that is there or only for what was wanted. False: memory. */
static bool make_table(struct profile_chain_table *t, size_t n, bool all) {
    struct profile_chain_table made = {malloc(n * sizeof *made.slots), n - 1, 0};
    if (!made.slots)
        return false;
    for (size_t i = 0; i < n; i++)
        made.slots[i].part = NO_PART;
    for (size_t i = 0; t->slots && i <= t->mask; i++) {
        struct profile_chain_slot *old = &t->slots[i];
        if (old->part == NO_PART || (!all && !old->wanted))
            continue;
        old->wanted = false;
        *slot_of(&made, old->key) = *old;
        made.count++;
    }
    free(t->slots);
    *t = made;
    return true;
}

/*
 * Room for one more. A large table that is full first loses what nobody asked for again since it was so last:
 * most of that is of processes that have ended. It grows if half of it was asked for. False: memory.
 */
static bool make_room(struct profile_chain_table *t) {
    enum { FIRST_SLOTS = 1024, LARGE_SLOTS = 1 << 17 };
    if (t->slots && t->count < (t->mask + 1) / 16 * 13)
        return true;
    if (!t->slots)
        return make_table(t, FIRST_SLOTS, true);
    size_t n = t->mask + 1, wanted = 0;
    for (size_t i = 0; n >= LARGE_SLOTS && i < n; i++)
        wanted += t->slots[i].part != NO_PART && t->slots[i].wanted;
    bool loses = n >= LARGE_SLOTS && 2 * wanted < t->count;
    return make_table(t, loses ? n : 2 * n, !loses);
}

/* Two parts that collide would be taken for one; at 64 bits that is once in some ten thousand recordings of a
 * million distinct parts each. */
static inline uint64_t part_key(const struct part *part, const struct model_state *state, bool in_kernel) {
    uint64_t seed = (uint64_t)state->id << 8 | part->cpumode << 1 | in_kernel;
    if (part->cut) /* what lies inside of an address is part of what it means */
        seed ^= hash_u64(bytes_load64(part->at - 8, part->swap));
    return hash_words(part->at, part->count, seed);
}

/* Resolves a part's frames. */
static uint32_t resolve(struct profile_builder *b, const struct chain *c, const struct part *part,
                        const struct model_state *state) {
    struct resolve_run run = {.state = state,
                              .at = part->at,
                              .count = part->count,
                              .swap = part->swap,
                              .cut = part->cut,
                              .cpumode = (uint8_t)part->cpumode,
                              .kind = (uint8_t)b->plan->frame_kind,
                              .before_exec = c->in_kernel && part->cpumode == PERFDATA_MISC_USER};
    vec_clear(&b->path);
    if (!vec_reserve(&b->run_frames, part->count) || !vec_reserve(&b->path, part->count) ||
        !resolve_frames_run(&b->frames, &run, b->run_frames.items))
        return PROFILE_NO_PART;
    for (uint64_t i = part->count; i-- > 0;)
        if (!profile_is_hidden(b, b->run_frames.items[i]))
            b->path.items[b->path.count++] = b->run_frames.items[i];
    return profile_parts_add(&b->parts, b->path.items, b->path.count);
}

/* The resolved part. *place, if asked for, becomes the frame of a sample that lies at the first address. */
static uint32_t known_part(struct profile_builder *b, const struct chain *c, const struct part *part,
                           const struct model_state *state, uint64_t key, uint32_t *place) {
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
    } else
        slot->wanted = true;
    if (place && slot->place == RESOLVE_NO_FRAME)
        slot->place = resolve_frames_at(&b->frames, state, part->cpumode, bytes_load64(part->at, part->swap),
                                        (enum resolve_frame_kind)b->plan->place_kind, false);
    if (place)
        *place = slot->place;
    return slot->part;
}

/* Whether a sample itself lies at the part's first address. */
static inline bool is_own(const struct part *part, unsigned cpumode, uint64_t ip) {
    return part->cpumode == cpumode && bytes_load64(part->at, part->swap) == ip;
}

static uint32_t part_of(struct profile_builder *b, struct chain *c, const struct part *part, bool own) {
    const struct model_state *state = resolve_places_state(&b->places, part->cpumode, c->pid, c->when);
    return known_part(b, c, part, state, part_key(part, state, c->in_kernel), own ? &c->place : NULL);
}

/* ---- what the entries of a chain mean ---- */

enum { PARTS_MAX = 16 };

struct parts {
    struct part list[PARTS_MAX]; /* innermost first */
    unsigned count;
    uint64_t left; /* frames that may still be taken */
    unsigned cpumode;
    unsigned deferred; /* chains that were looked for */
};

/* How many of the entries from i on, `most` at most, are addresses. */
static inline uint64_t addresses_from(const struct perfdata_u64s *chain, uint64_t i, uint64_t most) {
    uint64_t left = chain->count - i, end = i + (most < left ? most : left), from = i;
    while (i < end && perfdata_u64_at(chain, i) < PERFDATA_CONTEXT_MAX)
        i++;
    return i - from;
}

static bool split(struct profile_builder *b, const struct perfdata_u64s *chain, const struct chain *c,
                  struct parts *out, bool nested);

/* Behind the marker of a part that was recorded later stands how to find it. */
static __attribute__((cold)) bool split_deferred(struct profile_builder *b, uint64_t cookie,
                                                 const struct chain *c, struct parts *out) {
    const struct profile_input *in = b->plan->in;
    struct perfdata_u64s later = {0};
    if (out->deferred++ == RESOLVE_DEFERRED_MOST)
        return false;
    if (in->deferred)
        later = resolve_deferred_find(in->deferred, in->stream, in->events, cookie, c->tid, c->when.order);
    return !later.count || split(b, &later, c, out, true);
}

/* Splits at the markers. False: an unknown marker within what would be shown, so that none of the chain can
 * be trusted (perf drops it too), or more parts than any chain has, or chains that came later. */
static bool split(struct profile_builder *b, const struct perfdata_u64s *chain, const struct chain *c,
                  struct parts *out, bool nested) {
    for (uint64_t i = 0; i < chain->count && out->left; i++) {
        uint64_t n = addresses_from(chain, i, out->left);
        if (n) {
            if (out->count == PARTS_MAX)
                return false;
            out->list[out->count++] = (struct part){chain->data + 8 * i, n, out->cpumode, chain->swap, false};
            out->left -= n;
            i += n;
            if (i == chain->count || !out->left)
                break;
        }
        uint64_t ip = perfdata_u64_at(chain, i);
        out->cpumode = perfdata_context_cpumode(ip);
        if (out->cpumode == PERFDATA_MISC_CPUMODE_UNKNOWN)
            return false;
        if (ip == PERFDATA_CONTEXT_USER_DEFERRED && !nested && i + 1 < chain->count &&
            !split_deferred(b, perfdata_u64_at(chain, ++i), c, out))
            return false;
    }
    return true;
}

/* Callers first, perf counts from the outermost frame, too: the innermost ones are beyond the limit then. */
static void keep_outermost(struct parts *parts, uint64_t most) {
    uint64_t frames = 0;
    for (unsigned i = 0; i < parts->count; i++)
        frames += parts->list[i].count;
    if (frames <= most)
        return;
    unsigned dropped = 0;
    for (unsigned i = 0; i < parts->count && frames > most; i++) {
        struct part *p = &parts->list[i];
        uint64_t drop = frames - most < p->count ? frames - most : p->count;
        p->at += 8 * drop;
        p->cut = drop < p->count;
        p->count -= drop;
        dropped += !p->count;
        frames -= drop;
    }
    parts->count -= dropped;
    memmove(parts->list, parts->list + dropped, parts->count * sizeof *parts->list);
}

/* A part of a chain, resolved. */
struct link {
    uint32_t part;
    unsigned cpumode;
};

/* More parts than two, or two of the same kind of addresses: the outer part is the outermost run of one kind,
 * the inner one all the others behind each other. */
static bool join(struct profile_builder *b, const struct link *links, unsigned count,
                 struct profile_chain *out) {
    size_t frames = 0, outer = 0;
    uint32_t n;
    bool same = true;
    for (unsigned i = 0; i < count; i++) {
        profile_parts_ids(&b->parts, links[i].part, &n);
        frames += n;
    }
    vec_clear(&b->path);
    if (!vec_reserve(&b->path, frames + 1))
        return false;
    for (unsigned i = count; i-- > 0;) {
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

/* Where the addresses that begin at `p` end. */
static inline const uint8_t *addresses_end(const uint8_t *p, const uint8_t *end) {
    while (p < end && bytes_load64(p, false) < PERFDATA_CONTEXT_MAX)
        p += 8;
    return p;
}

/* A chain that is the kernel's, the user's or the one behind the other. */
struct usual {
    struct part inner, outer; /* inner: with two */
    bool two;
};

/* The parts of a chain of `most` words at most. False: it may be another than usual, split tells. */
static inline bool split_usual(const struct perfdata_u64s *chain, uint64_t most, struct usual *out) {
    out->two = false;
    if (chain->count < 2 || chain->count > most || chain->swap)
        return false;
    const uint8_t *from = chain->data + 8, *end = chain->data + 8 * chain->count;
    uint64_t marker = bytes_load64(chain->data, false);
    const uint8_t *p = addresses_end(from, end);
    if (p == from)
        return false;
    out->outer = (struct part){from, (uint64_t)(p - from) / 8, PERFDATA_MISC_USER, false, false};
    if (marker == PERFDATA_CONTEXT_USER)
        return p == end;
    if (marker != PERFDATA_CONTEXT_KERNEL)
        return false;
    out->outer.cpumode = PERFDATA_MISC_KERNEL;
    if (p == end)
        return true;
    out->inner = out->outer;
    out->two = true;
    from = p + 8;
    if (bytes_load64(p, false) != PERFDATA_CONTEXT_USER || from == end || addresses_end(from, end) != end)
        return false;
    out->outer = (struct part){from, (uint64_t)(end - from) / 8, PERFDATA_MISC_USER, false, false};
    return true;
}

/* The parts of a chain as recorded that count, innermost first; none is empty. */
static inline void find_parts(struct profile_builder *b, const struct chain *c,
                              const struct perfdata_u64s *chain, struct parts *parts) {
    struct usual usual;
    if (split_usual(chain, b->plan->o->max_stack, &usual)) {
        parts->list[0] = usual.two ? usual.inner : usual.outer;
        parts->list[1] = usual.outer;
        parts->count = 1 + usual.two;
        return;
    }
    bool caller = b->plan->o->chain_order == PROFILE_CALLER;
    parts->count = parts->deferred = 0;
    parts->left = caller ? UINT64_MAX : b->plan->o->max_stack;
    parts->cpumode = PERFDATA_MISC_USER;
    if (!split(b, chain, c, parts, false))
        parts->count = 0;
    else if (caller)
        keep_outermost(parts, b->plan->o->max_stack);
}

/* The chain of the parts and, if it is no empty part, of `user` outside of them; c->place where it is known.
 * False: memory. */
static bool take_parts(struct profile_builder *b, struct chain *c, const struct parts *parts, uint32_t user,
                       struct profile_chain *out) {
    struct link links[PARTS_MAX + 1];
    unsigned count = 0;
    *out = (struct profile_chain){PROFILE_EMPTY_PART, PROFILE_EMPTY_PART};
    for (; count < parts->count; count++) {
        const struct part *part = &parts->list[count];
        links[count] = (struct link){
            part_of(b, c, part, !count && c->wants_place && is_own(part, c->cpumode, c->ip)), part->cpumode};
        if (links[count].part == PROFILE_NO_PART)
            return false;
    }
    if (user != PROFILE_EMPTY_PART)
        links[count++] = (struct link){user, PERFDATA_MISC_USER};
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

bool profile_chain_take(struct profile_builder *b, const struct perfdata_sample *s, unsigned cpumode,
                        struct model_when when, struct profile_chain *out, uint32_t *place) {
    struct chain c = chain_of(s, cpumode, when, place);
    struct parts parts;
    struct perfdata_u64s chain =
        b->unwind ? resolve_unwind_chain(b->unwind, s, cpumode, when, b->plan->o->max_stack) : s->callchain;
    uint32_t user = PROFILE_EMPTY_PART;
    if (b->plan->calls && s->have & PERFDATA_SAMPLE_BRANCH_STACK &&
        profile_lbr_chain(b, s, cpumode, when, &chain, &user) && user == PROFILE_NO_PART)
        return false;
    find_parts(b, &c, &chain, &parts);
    if (!take_parts(b, &c, &parts, user, out) || (b->plan->history && !add_history(b, s, when, out)))
        return false;
    if (place)
        *place = c.place;
    return true;
}

/* ---- samples that wait ---- */

static struct profile_later_part later_part(const struct part *part, uint64_t key, bool own) {
    return (struct profile_later_part){.key = key,
                                       .at = part->at,
                                       .count = (uint32_t)part->count,
                                       .cpumode = (uint8_t)part->cpumode,
                                       .swap = part->swap,
                                       .cut = part->cut,
                                       .own = own};
}

/* A sample of one part, or of two that need not be joined (inner: else NULL). */
static inline void ask_parts(struct profile_builder *b, const struct perfdata_sample *s, unsigned cpumode,
                             struct model_when when, const struct part *inner, const struct part *outer,
                             struct profile_pending *p) {
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

static __attribute__((noinline)) enum profile_asked ask_unusual(struct profile_builder *b,
                                                                const struct perfdata_sample *s,
                                                                unsigned cpumode, struct model_when when,
                                                                struct profile_pending *p) {
    struct chain c = chain_of(s, cpumode, when, true);
    struct parts parts;
    find_parts(b, &c, &s->callchain, &parts);
    if (parts.count > 2 || (parts.count == 2 && parts.list[0].cpumode == parts.list[1].cpumode))
        return PROFILE_NOT_ASKED;
    if (parts.count)
        ask_parts(b, s, cpumode, when, parts.count == 2 ? &parts.list[0] : NULL, &parts.list[parts.count - 1],
                  p);
    return PROFILE_ASKED;
}

HOT enum profile_asked profile_chain_ask(struct profile_builder *b, const struct perfdata_sample *s,
                                         unsigned cpumode, struct model_when when,
                                         struct profile_pending *p) {
    struct usual parts;
    p->leaf.key.chain = (struct profile_chain){PROFILE_EMPTY_PART, PROFILE_EMPTY_PART};
    if (!split_usual(&s->callchain, b->plan->o->max_stack, &parts))
        return ask_unusual(b, s, cpumode, when, p);
    if (parts.two)
        ask_parts(b, s, cpumode, when, &parts.inner, &parts.outer, p);
    else
        ask_parts(b, s, cpumode, when, NULL, &parts.outer, p);
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
    const struct part part = {later->at, later->count, later->cpumode, later->swap, later->cut};
    const struct model_state *state = resolve_places_state(&b->places, part.cpumode, c.pid, c.when);
    *id = known_part(b, &c, &part, state, later->key, later->own ? &p->leaf.key.frame : NULL);
    return *id != PROFILE_NO_PART && (!later->own || p->leaf.key.frame != RESOLVE_NO_FRAME);
}

static inline bool answer_part(struct profile_builder *b, struct profile_pending *p,
                               const struct profile_later_part *later, uint32_t *id) {
    struct profile_chain_slot *slot = b->known_parts.slots ? slot_of(&b->known_parts, later->key) : NULL;
    if (!slot || slot->part == NO_PART || (later->own && slot->place == RESOLVE_NO_FRAME))
        return make_part(b, p, later, id);
    if (!slot->wanted)
        slot->wanted = true;
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
