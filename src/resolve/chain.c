/* SPDX-License-Identifier: Apache-2.0 */
#include "resolve/chain.h"

void resolve_chain_fini(struct resolve_chain *c) {
    vec_fini(&c->segments);
    vec_fini(&c->calls);
    resolve_unwind_free(c->unwind);
    c->unwind = NULL;
}

unsigned resolve_chain_limit(const struct perfdata_attr *attr) {
    if (attr->sample_type & PERFDATA_SAMPLE_STACK_USER)
        return UINT32_MAX;
    return attr->sample_max_stack ? attr->sample_max_stack : RESOLVE_CHAIN_USUAL;
}

/* ---- markers ---- */

/* The state of splitting a callchain into segments. */
struct split {
    struct resolve_chain *c;
    const struct perfdata_attr *attr; /* NULL: the chain is not a sample's */
    struct model_when when;
    uint32_t tid;
    uint64_t left; /* addresses that may still be taken */
    unsigned cpumode;
    unsigned deferred; /* deferred chains looked up so far */
};

/* BROKEN: the chain is unusable as a whole. */
enum outcome { WHOLE, BROKEN, NO_MEMORY };

static struct resolve_segment *add_segment(struct resolve_chain *c, const uint8_t *at, uint64_t count,
                                           unsigned cpumode, enum resolve_segment_kind kind, bool swap) {
    struct resolve_segment *s = vec_push(&c->segments);
    if (s)
        *s = (struct resolve_segment){
            .at = at, .count = count, .cpumode = (uint8_t)cpumode, .kind = (uint8_t)kind, .swap = swap};
    return s;
}

/* How many addresses there are from word i to the next marker; at most `most`. */
static uint64_t addresses_from(const struct perfdata_u64s *chain, uint64_t i, uint64_t most) {
    uint64_t left = chain->count - i, end = i + (most < left ? most : left), from = i;
    while (i < end && perfdata_u64_at(chain, i) < PERFDATA_CONTEXT_MAX)
        i++;
    return i - from;
}

/* Whether the chain has as many addresses as its event allows, so that callers may be missing. */
static bool ends_early(const struct perfdata_attr *attr, const struct perfdata_u64s *chain) {
    unsigned most = attr ? resolve_chain_limit(attr) : UINT32_MAX;
    uint64_t addresses = 0;
    if (chain->count < most)
        return false;
    for (uint64_t i = 0; i < chain->count; i++)
        addresses += perfdata_u64_at(chain, i) < PERFDATA_CONTEXT_MAX;
    return addresses >= most;
}

static enum outcome split(struct split *x, const struct perfdata_u64s *chain, bool nested);

/* Appends the chain that was recorded later under the cookie at word i, or the cookie if there is none. */
static enum outcome split_deferred(struct split *x, const struct perfdata_u64s *chain, uint64_t i) {
    const struct resolve_chain_options *o = &x->c->o;
    struct perfdata_u64s later = {0};
    if (x->deferred++ == RESOLVE_DEFERRED_MOST)
        return BROKEN;
    if (o->deferred)
        later = resolve_deferred_find(o->deferred, o->stream, o->events, perfdata_u64_at(chain, i), x->tid,
                                      x->when.order);
    if (later.count)
        return split(x, &later, true);
    return add_segment(x->c, chain->data + 8 * i, 1, x->cpumode, RESOLVE_SEGMENT_COOKIE, chain->swap)
               ? WHOLE
               : NO_MEMORY;
}

/* A user marker after the user's last address: the chain was unwound while recording, from a dump that was
 * too short (record/unwind). */
static void note_cut(struct resolve_chain *c) {
    struct resolve_segment *last = c->segments.count ? &c->segments.items[c->segments.count - 1] : NULL;
    if (last && last->cpumode == PERFDATA_MISC_USER)
        last->ends_early = c->cut = true;
}

/* Splits the chain at its markers until x->left addresses are taken. */
static enum outcome split(struct split *x, const struct perfdata_u64s *chain, bool nested) {
    for (uint64_t i = 0; i < chain->count && x->left; i++) {
        uint64_t n = addresses_from(chain, i, x->left);
        if (n) {
            struct resolve_segment *s =
                add_segment(x->c, chain->data + 8 * i, n, x->cpumode, RESOLVE_SEGMENT_CALLS, chain->swap);
            if (!s)
                return NO_MEMORY;
            x->left -= n;
            i += n;
            s->ends_early = i == chain->count && ends_early(x->attr, chain);
            if (i == chain->count || !x->left)
                break;
        }
        uint64_t marker = perfdata_u64_at(chain, i);
        if (marker == PERFDATA_CONTEXT_USER && i + 1 == chain->count)
            note_cut(x->c);
        x->cpumode = perfdata_context_cpumode(marker);
        if (x->cpumode == PERFDATA_MISC_CPUMODE_UNKNOWN)
            return BROKEN;
        if (marker != PERFDATA_CONTEXT_USER_DEFERRED || nested || i + 1 >= chain->count)
            continue;
        enum outcome later = split_deferred(x, chain, ++i);
        if (later != WHOLE)
            return later;
    }
    return WHOLE;
}

/* ---- other sources ---- */

/* The index of the marker that begins the user's part; chain->count: none. */
static uint64_t user_at(const struct perfdata_u64s *chain) {
    uint64_t i = 0;
    while (i < chain->count && perfdata_u64_at(chain, i) != PERFDATA_CONTEXT_USER)
        i++;
    return i;
}

/* The address at which the user's code was left: the callchain's, or else the target of the last call. */
static uint64_t user_leaf(const struct perfdata_sample *s, unsigned cpumode, uint64_t user) {
    if (cpumode != PERFDATA_MISC_USER && user + 1 < s->callchain.count)
        return perfdata_u64_at(&s->callchain, user + 1);
    if (cpumode != PERFDATA_MISC_USER && s->branch_count)
        return perfdata_branch_at(s, 0).to;
    return s->ip;
}

/*
 * Appends a call stack that the processor recorded: its branches are the calls that have not returned yet,
 * innermost first. They replace the user's part of the callchain, which begins at word `user`.
 *
 *   callchain  [KERNEL] k0 k1 [USER] u0 ...       branches  outer+4 -> leaf, main+8 -> outer
 *   segments   {kernel: k0 k1} {user: u0 outer+4 main+8}
 */
static enum outcome add_calls(struct split *x, const struct perfdata_sample *s, unsigned cpumode,
                              uint64_t user) {
    struct resolve_chain *c = x->c;
    vec_clear(&c->calls);
    /* With callers first, perf shows nothing of the user's part if there is no call. */
    if (!x->left || (c->o.outermost && !s->branch_count))
        return WHOLE;
    if (!vec_reserve(&c->calls, s->branch_count + 1))
        return NO_MEMORY;
    c->calls.items[c->calls.count++] = user_leaf(s, cpumode, user);
    for (uint64_t i = 0; i < s->branch_count && c->calls.count < x->left; i++)
        c->calls.items[c->calls.count++] = perfdata_branch_at(s, i).from;
    c->own_memory = true;
    return add_segment(c, (const uint8_t *)c->calls.items, c->calls.count, PERFDATA_MISC_USER,
                       RESOLVE_SEGMENT_BRANCHES, false)
               ? WHOLE
               : NO_MEMORY;
}

/* Whether it is the next dumped stack's turn to be unwound. */
static bool is_unwound(struct resolve_chain *c) {
    const struct resolve_chain_options *o = &c->o;
    if (!o->unwind_of || o->unwind_most >= o->unwind_of)
        return true;
    c->unwind_due += o->unwind_most;
    if (c->unwind_due < o->unwind_of)
        return false;
    c->unwind_due -= o->unwind_of;
    return true;
}

/* Appends the callers found by unwinding the dump of the user's stack. */
static enum outcome add_dumped(struct split *x, const struct perfdata_sample *s, unsigned cpumode) {
    struct resolve_chain *c = x->c;
    if (!c->unwind && !(c->unwind = resolve_unwind_new(c->o.names, c->o.header, NULL)))
        return NO_MEMORY;
    bool whole = is_unwound(c);
    struct perfdata_u64s stack = whole ? resolve_unwind_stack(c->unwind, s, cpumode, x->when, x->left)
                                       : resolve_unwind_leaf(c->unwind, s, cpumode, x->when);
    if (!stack.count)
        return WHOLE;
    struct resolve_segment *made =
        add_segment(c, stack.data, stack.count, PERFDATA_MISC_USER, RESOLVE_SEGMENT_CALLS, stack.swap);
    if (!made)
        return NO_MEMORY;
    made->ends_early = c->cut = !whole || resolve_unwind_was_cut(c->unwind);
    c->own_memory = true;
    return WHOLE;
}

/* ---- cutting a chain to the number of addresses wanted ---- */

/* How many addresses a segment has: a cookie does not count. */
static uint64_t addresses_of(const struct resolve_segment *s) {
    return s->kind == RESOLVE_SEGMENT_COOKIE ? 0 : s->count;
}

/* Drops the innermost addresses until `most` are left. */
static void keep_outermost(struct resolve_chain *c) {
    uint64_t addresses = 0;
    size_t dropped = 0;
    for (size_t i = 0; i < c->segments.count; i++)
        addresses += addresses_of(&c->segments.items[i]);
    for (size_t i = 0; i < c->segments.count && addresses > c->o.most; i++) {
        struct resolve_segment *s = &c->segments.items[i];
        uint64_t has = addresses_of(s), drop = addresses - c->o.most < has ? addresses - c->o.most : has;
        s->at += 8 * drop;
        s->inner = drop < has;
        s->count -= drop;
        dropped += drop == has;
        addresses -= drop;
    }
    c->segments.count -= dropped;
    memmove(c->segments.items, c->segments.items + dropped, c->segments.count * sizeof *c->segments.items);
}

/* ---- the usual case ---- */

/* The end of the addresses that begin at `p`: the next marker, or `end`. */
static inline const uint8_t *addresses_end(const uint8_t *p, const uint8_t *end) {
    while (p < end && bytes_load64(p, false) < PERFDATA_CONTEXT_MAX)
        p += 8;
    return p;
}

/* Reads a chain of the kernel's part, the user's, or both in this order, if all of it is wanted: nearly all
 * chains are like this. False: it may be something else, nothing has been done. */
static inline bool read_usual(struct resolve_chain *c, const struct perfdata_u64s *chain,
                              const struct perfdata_attr *attr) {
    if (chain->count < 2 || chain->count > c->o.most || chain->swap ||
        chain->count >= resolve_chain_limit(attr))
        return false;
    const uint8_t *from = chain->data + 8, *end = chain->data + 8 * chain->count;
    uint64_t marker = bytes_load64(chain->data, false);
    const uint8_t *p = addresses_end(from, end);
    bool kernel = marker == PERFDATA_CONTEXT_KERNEL, both = kernel && p != end;
    if (p == from || !(kernel || (marker == PERFDATA_CONTEXT_USER && p == end)))
        return false;
    if (both &&
        (bytes_load64(p, false) != PERFDATA_CONTEXT_USER || p + 8 == end || addresses_end(p + 8, end) != end))
        return false;
    struct resolve_segment *s = c->segments.items;
    s[0] = (struct resolve_segment){.at = from,
                                    .count = (uint64_t)(p - from) / 8,
                                    .cpumode = kernel ? PERFDATA_MISC_KERNEL : PERFDATA_MISC_USER};
    if (both)
        s[1] = (struct resolve_segment){
            .at = p + 8, .count = (uint64_t)(end - p) / 8 - 1, .cpumode = PERFDATA_MISC_USER};
    c->segments.count = 1 + both;
    return true;
}

/* ---- reading ---- */

static bool begin(struct resolve_chain *c) {
    vec_clear(&c->segments);
    c->own_memory = c->cut = false;
    c->known = NULL;
    return vec_reserve(&c->segments, 2);
}

static bool finish(struct resolve_chain *c, enum outcome outcome) {
    if (outcome == BROKEN)
        vec_clear(&c->segments);
    else if (outcome == WHOLE && c->o.outermost)
        keep_outermost(c);
    return outcome != NO_MEMORY;
}

bool resolve_chain_read(struct resolve_chain *c, const struct perfdata_sample *s,
                        const struct perfdata_attr *attr, unsigned cpumode, struct model_when when) {
    bool has = s->have & PERFDATA_SAMPLE_CALLCHAIN;
    if (has && c->known == s->callchain.data && c->known_order == when.order)
        return true;
    if (!begin(c))
        return false;
    if (!has)
        return true;
    bool dumped = c->o.names && resolve_unwind_has(s);
    bool calls = !c->o.no_calls && s->have & PERFDATA_SAMPLE_BRANCH_STACK && resolve_chain_has_calls(attr);
    if (!dumped && !calls && read_usual(c, &s->callchain, attr))
        return true;
    struct perfdata_u64s recorded = s->callchain;
    uint64_t user = calls ? user_at(&recorded) : recorded.count;
    calls = user < recorded.count;
    recorded.count = user;
    struct split x = {.c = c,
                      .attr = attr,
                      .when = when,
                      .tid = s->tid,
                      .left = c->o.outermost ? UINT64_MAX : c->o.most,
                      .cpumode = PERFDATA_MISC_USER};
    enum outcome outcome = split(&x, &recorded, false);
    c->known = s->callchain.data;
    c->known_order = when.order;
    if (outcome == WHOLE && calls)
        outcome = add_calls(&x, s, cpumode, user);
    else if (outcome == WHOLE && dumped && x.left)
        outcome = add_dumped(&x, s, cpumode);
    return finish(c, outcome);
}

bool resolve_chain_read_words(struct resolve_chain *c, const struct perfdata_u64s *words) {
    if (!begin(c))
        return false;
    struct split x = {.c = c, .left = c->o.outermost ? UINT64_MAX : c->o.most, .cpumode = PERFDATA_MISC_USER};
    return finish(c, split(&x, words, true));
}
