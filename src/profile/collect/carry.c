/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes over what an older profile counted, faded: of its samples only so many eighths, evenly spread over
 * its stack samples, so that each sample left stands for itself with its own period, and sums stay in
 * proportion. Frames, segments and group keys of which no sample is left are left behind, which bounds them.
 * Callchains have the frames of inlined functions already, so this comes after those of new samples got
 * theirs.
 */
#include <stdlib.h>

#include "profile/profile_internal.h"
#include "recording/live.h"

enum { EIGHTHS = 8 };

/* By id in the older profile: the id here, or PROFILE_NONE: not taken over yet. */
struct carry {
    const struct profile_before *before;
    const struct profile_builder *from;
    struct profile_builder *to;
    uint32_t *texts, *frames, *group_keys, *segments;
    struct idtable inlined; /* frames here in `to->inlined`, by hash_inlined */
    VEC(uint32_t) path;
    uint64_t owed; /* eighths of samples left over by the stack samples so far */
};

static uint32_t *new_map(size_t n) {
    uint32_t *map = malloc((n + 1) * sizeof *map);
    for (size_t i = 0; map && i <= n; i++)
        map[i] = PROFILE_NONE;
    return map;
}

static uint32_t carry_text(struct carry *c, uint32_t id) {
    if (c->texts[id] == PROFILE_NONE)
        c->texts[id] =
            strpool_add(&c->to->texts, strpool_text(&c->from->texts, id), strpool_len(&c->from->texts, id));
    return c->texts[id];
}

/* ---- frames of inlined functions ---- */

static bool is_special(const struct profile_inlined *what) {
    return what && (what->name != PROFILE_NONE || what->placed);
}

static uint64_t hash_inlined(const struct resolve_frame *f, const struct profile_inlined *what) {
    return hash_u64(((uint64_t)f->image << 32 | f->symbol) ^
                    hash_u64((uint64_t)what->name << 8 | f->cpumode));
}

static bool is_same(const struct profile_builder *b, uint32_t id, const struct resolve_frame *f,
                    const struct profile_inlined *what) {
    const struct resolve_frame *have = &b->frames.list.items[id];
    const struct profile_inlined *is = &b->inlined.items[id];
    bool one = f->kind == RESOLVE_FUNCTION; /* one for all places */
    return have->image == f->image && have->symbol == f->symbol && have->cpumode == f->cpumode &&
           have->kind == f->kind && is->name == what->name &&
           (one || (have->offset == f->offset && have->address == f->address && is->line == what->line));
}

/* Adds nothing to frames up to the last one. False: out of memory. */
static bool fill_inlined(struct profile_builder *b) {
    while (b->inlined.count < b->frames.list.count) {
        struct profile_inlined *made = vec_push(&b->inlined);
        if (!made)
            return false;
        *made = (struct profile_inlined){.name = PROFILE_NONE};
    }
    return true;
}

static bool list_inlined(struct carry *c) {
    for (uint32_t i = 0; i < c->to->inlined.count; i++) {
        const struct profile_inlined *what = &c->to->inlined.items[i];
        if (is_special(what) &&
            !idtable_add(&c->inlined, hash_inlined(&c->to->frames.list.items[i], what), i))
            return false;
    }
    return true;
}

static uint32_t carry_inlined(struct carry *c, const struct resolve_frame *f, struct profile_inlined what) {
    struct profile_builder *b = c->to;
    if (c->before->images) /* the file's name lies with the old lines */
        what.file = NULL;
    if (what.name != PROFILE_NONE && (what.name = carry_text(c, what.name)) == STRPOOL_NONE)
        return RESOLVE_NO_FRAME;
    uint64_t hash = hash_inlined(f, &what);
    struct idtable_at at = idtable_first(&c->inlined, hash);
    for (uint32_t have; (have = idtable_next(&c->inlined, &at)) != IDTABLE_NONE;)
        if (is_same(b, have, f, &what))
            return have;
    uint32_t id = (uint32_t)b->frames.list.count;
    struct resolve_frame *made = id < RESOLVE_NO_FRAME - 1 ? vec_push(&b->frames.list) : NULL;
    if (!made)
        return RESOLVE_NO_FRAME;
    *made = *f;
    made->place = RESOLVE_NO_FRAME;
    if (!fill_inlined(b) || !idtable_add(&c->inlined, hash, id))
        return RESOLVE_NO_FRAME;
    b->inlined.items[id] = what;
    return id;
}

/* ---- the rest ---- */

static uint32_t carry_frame(struct carry *c, uint32_t id) {
    if (c->frames[id] != PROFILE_NONE)
        return c->frames[id];
    struct resolve_frame frame = c->from->frames.list.items[id];
    const struct profile_inlined *what = profile_inlined_at(c->from, id);
    bool moved = c->before->images && frame.image != MODEL_NONE;
    if (moved)
        frame.image = c->before->images[frame.image];
    if (is_special(what))
        return c->frames[id] = carry_inlined(c, &frame, *what);
    return c->frames[id] = resolve_frames_carry(&c->to->frames, &frame, moved);
}

/* Takes one value of a group key over. False: out of memory. */
static bool carry_value(struct carry *c, enum profile_column_kind kind, uint64_t *value) {
    uint32_t low = (uint32_t)*value;
    switch (kind) {
    case PROFILE_KEY_TEXTS: {
        uint32_t high = carry_text(c, (uint32_t)(*value >> 32));
        low = carry_text(c, low);
        *value = (uint64_t)high << 32 | low;
        return high != STRPOOL_NONE && low != STRPOOL_NONE;
    }
    case PROFILE_KEY_TEXT:
        *value = carry_text(c, low);
        return *value != STRPOOL_NONE;
    case PROFILE_KEY_ADDRESS:
        *value = low == RESOLVE_NO_FRAME ? RESOLVE_NO_FRAME : carry_frame(c, low);
        return low == RESOLVE_NO_FRAME || *value != RESOLVE_NO_FRAME;
    default:
        return true;
    }
}

static uint32_t carry_group_key(struct carry *c, uint32_t id) {
    const struct profile_plan *plan = c->to->plan;
    uint64_t values[PROFILE_GROUP_KEY_MAX];
    if (c->group_keys[id] != PROFILE_NONE)
        return c->group_keys[id];
    const uint64_t *old = c->from->group_key_values.items + (size_t)id * plan->group_key_count;
    values[0] = old[0];
    for (uint32_t k = 1; k < plan->group_key_count; k++) {
        values[k] = old[k];
        if (k != plan->level_at && !carry_value(c, plan->slots[k]->key->kind, &values[k]))
            return PROFILE_NONE;
    }
    return c->group_keys[id] = profile_group_key_add(c->to, values);
}

static uint32_t carry_segment(struct carry *c, uint32_t id) {
    uint32_t n;
    if (id == PROFILE_EMPTY_SEGMENT)
        return profile_segments_add(&c->to->segments, NULL, 0);
    if (c->segments[id] != PROFILE_NONE)
        return c->segments[id];
    const uint32_t *ids = profile_segments_ids(&c->from->segments, id, &n);
    vec_clear(&c->path);
    if (!vec_reserve(&c->path, n))
        return PROFILE_NO_SEGMENT;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t frame = carry_frame(c, ids[i]);
        if (frame == RESOLVE_NO_FRAME)
            return PROFILE_NO_SEGMENT;
        c->path.items[c->path.count++] = frame;
    }
    return c->segments[id] = profile_segments_add(&c->to->segments, c->path.items, n);
}

/* Of a sum of `of` samples the share of `n`. */
static uint64_t part(uint64_t sum, uint64_t n, uint64_t of) {
    return (uint64_t)((unsigned __int128)sum * n / of);
}

static void part_weights(struct profile_weights *w, uint64_t n, uint64_t of) {
    for (unsigned i = 0; i < 3; i++)
        w->w[i] = part(w->w[i], n, of);
    for (unsigned i = 0; i < PROFILE_OWN_SUMS; i++)
        w->own[i] = part(w->own[i], n, of);
    w->latency = part(w->latency, n, of);
    w->cut = part(w->cut, n, of);
}

static bool carry_stack(struct carry *c, size_t i) {
    struct profile_stack stack = c->from->stacks.items[i];
    struct profile_weights weights = {.latency = 0};
    uint64_t of = stack.samples, eighths = of * c->before->eighths + c->owed, n = eighths / EIGHTHS;
    n = n < of ? n : of;
    c->owed = eighths - n * EIGHTHS;
    if (!n)
        return true;
    if (c->to->plan->extras) {
        weights = c->from->weights.items[i];
        part_weights(&weights, n, of);
    }
    stack.samples = (uint32_t)n;
    stack.period = part(stack.period, n, of);
    stack.thread = MODEL_NONE; /* its number may be another one by now */
    stack.key.group_key = carry_group_key(c, stack.key.group_key);
    stack.key.frame = carry_frame(c, stack.key.frame);
    stack.key.chain.outer = carry_segment(c, stack.key.chain.outer);
    stack.key.chain.inner = carry_segment(c, stack.key.chain.inner);
    if (stack.key.group_key == PROFILE_NONE || stack.key.frame == RESOLVE_NO_FRAME ||
        stack.key.chain.outer == PROFILE_NO_SEGMENT || stack.key.chain.inner == PROFILE_NO_SEGMENT ||
        profile_stack_add(c->to, &stack, &weights) == PROFILE_NONE)
        return false;
    uint64_t event =
        c->to->group_key_values.items[(size_t)stack.key.group_key * c->to->plan->group_key_count];
    struct profile_tally *t = &c->to->tally.items[event];
    t->read += n;
    t->samples += n;
    t->period += stack.period;
    t->latency += weights.latency;
    return true;
}

/* What filters left out, but counts in the totals: the tally holds more than the stack samples do. */
static bool carry_filtered(struct carry *c) {
    const struct profile_builder *from = c->from;
    struct profile_tally *kept = calloc(from->tally.count + 1, sizeof *kept);
    for (size_t i = 0; kept && i < from->stacks.count; i++) {
        const struct profile_stack *s = &from->stacks.items[i];
        uint64_t event = from->group_key_values.items[(size_t)s->key.group_key * from->plan->group_key_count];
        kept[event].samples += s->samples;
        kept[event].period += s->period;
    }
    for (size_t i = 0; kept && i < from->tally.count; i++) {
        const struct profile_tally *old = &from->tally.items[i];
        struct profile_tally *t = &c->to->tally.items[i];
        uint64_t filtered = part(old->filtered, c->before->eighths, EIGHTHS),
                 dropped = part(old->dropped, c->before->eighths, EIGHTHS);
        t->read += filtered + dropped;
        t->filtered += filtered;
        t->dropped += dropped;
        if (old->samples > kept[i].samples)
            t->samples += part(old->samples - kept[i].samples, c->before->eighths, EIGHTHS);
        if (old->period > kept[i].period)
            t->period += part(old->period - kept[i].period, c->before->eighths, EIGHTHS);
    }
    free(kept);
    return kept;
}

bool profile_carry(struct profile_builder *to, const struct profile_before *before, struct err *err) {
    const struct profile_builder *from = before->profile ? &before->profile->b : NULL;
    if (!from || !before->eighths || to->plan->o->branch) /* rows of branches count branches, not samples */
        return true;
    struct carry c = {.before = before,
                      .from = from,
                      .to = to,
                      .texts = new_map(from->texts.entries.count),
                      .frames = new_map(from->frames.list.count),
                      .group_keys = new_map(from->group_key_total),
                      .segments = new_map(profile_segments_count(&from->segments))};
    bool ok = c.texts && c.frames && c.group_keys && c.segments && list_inlined(&c) && carry_filtered(&c);
    for (size_t i = 0; ok && i < from->stacks.count; i++)
        ok = carry_stack(&c, i);
    ok = ok && (!to->inlined.count || fill_inlined(to));
    idtable_fini(&c.inlined);
    free(c.texts);
    free(c.frames);
    free(c.group_keys);
    free(c.segments);
    vec_fini(&c.path);
    return ok || err_memory(err, "profile");
}

bool profile_read_listed(struct profile *p, struct err *err) {
    const struct profile_input *in = p->plan.in;
    for (size_t i = 0; i < in->listed_count && !p->b.failed; i++) {
        struct stream_record r = stream_record_at(in->stream, in->listed[i].loc);
        struct stream_sample s = {r.raw.body, r.loc, in->listed[i].time_ns, r.event, r.raw.misc};
        profile_builder_add_samples(&p->b, &s, 1);
    }
    profile_pending_flush(&p->b);
    return !p->b.failed || err_memory(err, "profile");
}
