/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Callchains to nodes. Chains repeat in parts: the kernel's is the same in all processes. A part is
 * remembered by a hash of its bytes, and only one that was not seen in that state of the address space is
 * resolved frame by frame.
 *
 *   sample: [KERNEL] k0 k1 k2 [USER] u0 u1        innermost first
 *            `-- part: k2 k1 k0 --'  `-- node: class > u1 > u0
 *   together: class > u1 > u0 > k2 > k1 > k0
 */
#include "profile/profile_internal.h"

/* So many children of a node are listed. */
enum { LISTED = 8 };

static uint32_t make_node(struct profile_builder *b, uint32_t parent, uint32_t frame) {
    uint32_t id = (uint32_t)b->nodes.count;
    struct profile_chain_node *node = id < PROFILE_NONE ? vec_push(&b->nodes) : NULL;
    if (!node)
        return PROFILE_NONE;
    *node = (struct profile_chain_node){parent, frame, PROFILE_NONE, PROFILE_NONE, PROFILE_NONE};
    return id;
}

static uint32_t find_further(struct profile_builder *b, uint32_t parent, uint32_t frame) {
    uint64_t hash = hash_u64((uint64_t)parent << 32 | frame);
    struct idtable_at at = idtable_first(&b->node_index, hash);
    for (uint32_t id; (id = idtable_next(&b->node_index, &at)) != IDTABLE_NONE;)
        if (b->nodes.items[id].parent == parent && b->nodes.items[id].frame == frame)
            return id;
    uint32_t id = make_node(b, parent, frame);
    return id != PROFILE_NONE && idtable_add(&b->node_index, hash, id) ? id : PROFILE_NONE;
}

uint32_t profile_chain_step(struct profile_builder *b, uint32_t parent, uint32_t frame) {
    const struct profile_chain_node *nodes = b->nodes.items;
    unsigned listed = 0;
    for (uint32_t id = nodes[parent].child; id != PROFILE_NONE; id = nodes[id].next, listed++)
        if (nodes[id].frame == frame)
            return id;
    if (listed == LISTED)
        return find_further(b, parent, frame);
    uint32_t id = make_node(b, parent, frame);
    if (id == PROFILE_NONE)
        return id;
    b->nodes.items[id].next = b->nodes.items[parent].child;
    b->nodes.items[parent].child = id;
    return id;
}

uint32_t profile_chain_root(struct profile_builder *b, uint32_t klass) {
    uint32_t root = b->class_roots.items[klass];
    if (root != PROFILE_NONE)
        return root;
    root = make_node(b, PROFILE_NONE, klass);
    b->class_roots.items[klass] = root;
    return root;
}

/* A 64 x 64 -> 128 bit product, folded: one step takes in a word. Two parts that collide would be taken for
 * one; at 64 bits that is once in some ten thousand recordings of a million distinct parts each. */
static inline uint64_t fold(uint64_t a, uint64_t b) {
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t hash_words(const uint8_t *p, uint64_t count, bool swap, uint64_t seed) {
    uint64_t h = seed ^ 0x2d358dccaa6c78a5u ^ count;
    for (uint64_t i = 0; i < count; i++)
        h = fold(h ^ bytes_load64(p + 8 * i, swap), 0x9e3779b97f4a7c15u ^ i << 1) + (h << 7 | h >> 57);
    return hash_u64(h);
}

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
};

static const struct model_state *state_of(struct profile_builder *b, const struct chain *c,
                                          unsigned cpumode) {
    return resolve_places_state(&b->places, cpumode, c->pid, c->when);
}

/* The part's frames, innermost first, until the next call; NULL: memory. */
static const uint32_t *frames_of(struct profile_builder *b, const struct chain *c, const struct part *part) {
    struct resolve_run run = {.state = state_of(b, c, part->cpumode),
                              .at = part->at,
                              .count = part->count,
                              .swap = part->swap,
                              .cut = part->cut,
                              .cpumode = (uint8_t)part->cpumode,
                              .kind = (uint8_t)b->plan->frame_kind,
                              .before_exec = c->in_kernel && part->cpumode == PERFDATA_MISC_USER};
    bool ok =
        vec_reserve(&b->run_frames, part->count) && resolve_frames_run(&b->frames, &run, b->run_frames.items);
    return ok ? b->run_frames.items : NULL;
}

static uint32_t walk(struct profile_builder *b, const struct chain *c, const struct part *part,
                     uint32_t node) {
    const uint32_t *frames = frames_of(b, c, part);
    if (!frames)
        return PROFILE_NONE;
    for (uint64_t i = part->count; i-- > 0 && node != PROFILE_NONE;)
        node = profile_chain_step(b, node, frames[i]);
    return node;
}

static uint64_t part_key(struct profile_builder *b, const struct chain *c, const struct part *part) {
    const struct model_state *state = state_of(b, c, part->cpumode);
    uint64_t seed = (uint64_t)state->id << 8 | part->cpumode << 1 | c->in_kernel;
    if (part->cut) /* what lies inside of an address is part of what it means */
        seed ^= hash_u64(bytes_load64(part->at - 8, part->swap));
    return hash_words(part->at, part->count, part->swap, hash_u64(seed));
}

/* Up to here a part is as quickly walked as looked up. */
enum { SHORT_PART = 4 };

/* The node of the outer part, under the class's root. */
static uint32_t outer_node(struct profile_builder *b, const struct chain *c, const struct part *part,
                           uint32_t root) {
    if (part->count <= SHORT_PART)
        return walk(b, c, part, root);
    uint64_t key = part_key(b, c, part) ^ hash_u64(root);
    uint32_t node = hash_map_get(&b->user_by_hash, key);
    if (node != HASH_ABSENT)
        return node;
    node = walk(b, c, part, root);
    return node != PROFILE_NONE && hash_map_set(&b->user_by_hash, key, node) ? node : PROFILE_NONE;
}

static uint32_t inner_part(struct profile_builder *b, const struct chain *c, const struct part *part) {
    uint64_t key = part_key(b, c, part);
    uint32_t id = hash_map_get(&b->part_by_hash, key);
    if (id != HASH_ABSENT)
        return id;
    const uint32_t *frames = frames_of(b, c, part);
    struct profile_part *made = frames ? vec_push(&b->parts) : NULL;
    if (!made || !vec_reserve(&b->part_frames, b->part_frames.count + part->count))
        return PROFILE_NONE;
    *made = (struct profile_part){(uint32_t)b->part_frames.count, (uint32_t)part->count};
    for (uint64_t i = part->count; i-- > 0;)
        *vec_push(&b->part_frames) = frames[i];
    id = (uint32_t)(b->parts.count - 1);
    return hash_map_set(&b->part_by_hash, key, id) ? id : PROFILE_NONE;
}

static uint32_t join(struct profile_builder *b, const struct chain *c, const struct part *inner,
                     uint32_t node) {
    if (!inner->count || node == PROFILE_NONE)
        return node;
    uint32_t part = inner_part(b, c, inner);
    if (part == PROFILE_NONE)
        return PROFILE_NONE;
    const struct profile_part *p = &b->parts.items[part];
    for (uint32_t i = 0; i < p->count && node != PROFILE_NONE; i++)
        node = profile_chain_step(b, node, b->part_frames.items[p->first + i]);
    return node;
}

/* ---- what the entries of a chain mean ---- */

enum { PARTS_MAX = 16 };

struct parts {
    struct part list[PARTS_MAX]; /* innermost first */
    unsigned count;
    uint64_t left; /* frames that may still be taken */
    unsigned cpumode;
};

/* Splits at the markers. False: an unknown marker within what would be shown, so that none of the chain can
 * be trusted (perf drops it too), or more parts than any chain has. */
static bool split(struct profile_builder *b, const struct perfdata_u64s *chain, const struct chain *c,
                  struct parts *out, bool nested) {
    const struct profile_input *in = b->plan->in;
    struct part *open = NULL;
    for (uint64_t i = 0; i < chain->count && out->left; i++) {
        uint64_t ip = perfdata_u64_at(chain, i);
        if (ip < PERFDATA_CONTEXT_MAX) {
            if (!open) {
                if (out->count == PARTS_MAX)
                    return false;
                open = &out->list[out->count++];
                *open = (struct part){chain->data + 8 * i, 0, out->cpumode, chain->swap, false};
            }
            open->count++;
            out->left--;
            continue;
        }
        open = NULL;
        out->cpumode = perfdata_context_cpumode(ip);
        if (out->cpumode == PERFDATA_MISC_CPUMODE_UNKNOWN)
            return false;
        if (ip != PERFDATA_CONTEXT_USER_DEFERRED || nested || i + 1 >= chain->count)
            continue;
        uint64_t cookie = perfdata_u64_at(chain, ++i);
        struct perfdata_u64s later = {0};
        if (in->deferred)
            later =
                resolve_deferred_find(in->deferred, in->stream, in->events, cookie, c->tid, c->when.order);
        if (later.count && !split(b, &later, c, out, true))
            return false;
    }
    return true;
}

/* Callers first, perf counts from the outermost frame, too: the innermost ones are beyond the limit then. */
static void keep_outermost(struct parts *parts, uint64_t most) {
    uint64_t frames = 0;
    for (unsigned i = 0; i < parts->count; i++)
        frames += parts->list[i].count;
    for (unsigned i = 0; i < parts->count && frames > most; i++) {
        struct part *p = &parts->list[i];
        uint64_t drop = frames - most < p->count ? frames - most : p->count;
        p->at += 8 * drop;
        p->cut = drop && drop < p->count;
        p->count -= drop;
        frames -= drop;
    }
}

uint32_t profile_chain_node(struct profile_builder *b, uint32_t klass, const struct perfdata_sample *s,
                            unsigned cpumode, struct model_when when) {
    uint32_t root = profile_chain_root(b, klass), user;
    struct perfdata_u64s kernel;
    if (root == PROFILE_NONE || !b->plan->calls || !(s->have & PERFDATA_SAMPLE_BRANCH_STACK) ||
        !profile_lbr_chain(b, root, s, cpumode, when, &kernel, &user))
        return profile_chain_extend(b, root, s, &s->callchain, cpumode, when);
    return profile_chain_extend(b, user, s, &kernel, cpumode, when);
}

uint32_t profile_chain_extend(struct profile_builder *b, uint32_t node, const struct perfdata_sample *s,
                              const struct perfdata_u64s *chain, unsigned cpumode, struct model_when when) {
    struct chain c = {s->pid, s->tid, when, cpumode == PERFDATA_MISC_KERNEL};
    bool caller = b->plan->o->chain_order == PROFILE_CALLER;
    struct parts parts = {
        .count = 0, .left = caller ? UINT64_MAX : b->plan->o->max_stack, .cpumode = PERFDATA_MISC_USER};
    if (node == PROFILE_NONE || !chain->count || !split(b, chain, &c, &parts, false))
        return node;
    if (caller)
        keep_outermost(&parts, b->plan->o->max_stack);
    if (!parts.count)
        return node;
    node = parts.count > 1 || parts.list[0].cpumode != PERFDATA_MISC_KERNEL
               ? outer_node(b, &c, &parts.list[parts.count - 1], node)
               : join(b, &c, &parts.list[0], node);
    for (unsigned i = parts.count - 1; i-- > 0;)
        node = join(b, &c, &parts.list[i], node);
    return node;
}
