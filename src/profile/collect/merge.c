/* SPDX-License-Identifier: Apache-2.0 */
/* Merges what two builders made of consecutive records: texts, group keys, frames, segments and stack samples
 * of the second one get the ids that they have, or would have had, in the first.
 */
#include <stdlib.h>

#include "profile/profile_internal.h"

/* By id in `from`: the id in `to`. */
struct maps {
    uint32_t *texts, *frames, *group_keys, *segments, *stacks;
};

static uint32_t *new_map(size_t n) {
    return malloc((n + 1) * sizeof(uint32_t));
}

static bool merge_texts(struct profile_builder *to, const struct profile_builder *from, uint32_t *map) {
    for (uint32_t i = 0; i < from->texts.entries.count; i++) {
        map[i] = strpool_add(&to->texts, strpool_text(&from->texts, i), strpool_len(&from->texts, i));
        if (map[i] == STRPOOL_NONE)
            return false;
    }
    return true;
}

/* Maps one value of a group key. */
static uint64_t map_value(const struct maps *maps, enum profile_column_kind kind, uint64_t value) {
    if (kind == PROFILE_KEY_TEXTS)
        return (uint64_t)maps->texts[value >> 32] << 32 | maps->texts[(uint32_t)value];
    if (kind == PROFILE_KEY_TEXT)
        return maps->texts[value];
    return kind == PROFILE_KEY_ADDRESS ? maps->frames[value] : value;
}

static bool merge_group_keys(struct profile_builder *to, const struct profile_builder *from,
                             const struct maps *maps) {
    const struct profile_plan *plan = to->plan;
    uint64_t values[PROFILE_GROUP_KEY_MAX];
    for (uint32_t i = 0; i < from->group_key_total; i++) {
        const uint64_t *old = from->group_key_values.items + (size_t)i * plan->group_key_count;
        values[0] = old[0];
        for (uint32_t k = 1; k < plan->group_key_count; k++)
            values[k] = k == plan->level_at ? old[k] : map_value(maps, plan->slots[k]->key->kind, old[k]);
        maps->group_keys[i] = profile_group_key_add(to, values);
        if (maps->group_keys[i] == PROFILE_NONE)
            return false;
    }
    return true;
}

/* Puts a segment's frames, mapped to the ids in `to`, into to->path. False: out of memory. */
static bool map_segment(struct profile_builder *to, const struct profile_builder *from,
                        const struct maps *maps, uint32_t segment) {
    uint32_t n;
    const uint32_t *ids = profile_segments_ids(&from->segments, segment, &n);
    if (!vec_reserve(&to->path, to->path.count + n))
        return false;
    for (uint32_t i = 0; i < n; i++)
        to->path.items[to->path.count++] = maps->frames[ids[i]];
    return true;
}

static bool join_segments(struct profile_builder *to, const struct profile_builder *from,
                          const struct maps *maps) {
    maps->segments[PROFILE_EMPTY_SEGMENT] = PROFILE_EMPTY_SEGMENT;
    for (uint32_t i = 1; i < profile_segments_count(&from->segments); i++) {
        vec_clear(&to->path);
        if (!map_segment(to, from, maps, i))
            return false;
        maps->segments[i] = profile_segments_add(&to->segments, to->path.items, to->path.count);
        if (maps->segments[i] == PROFILE_NO_SEGMENT)
            return false;
    }
    return true;
}

static inline struct profile_stack map_stack(const struct profile_builder *from, const struct maps *maps,
                                             size_t i) {
    struct profile_stack stack = from->stacks.items[i];
    stack.key.group_key = maps->group_keys[stack.key.group_key];
    stack.key.frame = maps->frames[stack.key.frame];
    stack.key.chain.outer = maps->segments[stack.key.chain.outer];
    stack.key.chain.inner = maps->segments[stack.key.chain.inner];
    return stack;
}

static bool join_stacks(struct profile_builder *to, const struct profile_builder *from,
                        const struct maps *maps) {
    for (size_t i = 0; i < from->stacks.count; i++) {
        struct profile_stack stack = map_stack(from, maps, i);
        maps->stacks[i] = profile_stack_add(to, &stack, to->plan->extras ? &from->weights.items[i] : NULL);
        if (maps->stacks[i] == PROFILE_NONE)
            return false;
    }
    return true;
}

static bool merge_counts(struct profile_builder *to, const struct profile_builder *from) {
    for (size_t i = 0; i < from->tally.count; i++) {
        const struct profile_tally *x = &from->tally.items[i];
        struct profile_tally *t = &to->tally.items[i];
        t->read += x->read;
        t->filtered += x->filtered;
        t->dropped += x->dropped;
        t->period += x->period;
        t->samples += x->samples;
        t->latency += x->latency;
    }
    if (!vec_reserve(&to->bad, to->bad.count + from->bad.count + 1) ||
        !resolve_unwind_tally_add(&to->unwound, &from->unwound))
        return false;
    for (size_t i = 0; i < from->bad.count; i++)
        to->bad.items[to->bad.count++] = from->bad.items[i];
    return true;
}

bool profile_builder_merge(struct profile_builder *to, struct profile_builder *from) {
    profile_builder_trim(from);
    struct maps m = {.texts = new_map(from->texts.entries.count),
                     .frames = new_map(from->frames.list.count),
                     .group_keys = new_map(from->group_key_total),
                     .segments = new_map(profile_segments_count(&from->segments)),
                     .stacks = new_map(from->stacks.count)};
    bool ok = m.texts && m.frames && m.group_keys && m.segments && m.stacks &&
              merge_texts(to, from, m.texts) && resolve_frames_append(&to->frames, &from->frames, m.frames) &&
              merge_group_keys(to, from, &m) && join_segments(to, from, &m) && join_stacks(to, from, &m) &&
              profile_runs_merge(&to->runs, &from->runs, m.frames) &&
              profile_streams_merge(&to->streams, &from->streams, m.frames) && merge_counts(to, from) &&
              profile_moments_merge(&to->moments, &from->moments, m.stacks) &&
              profile_ticks_merge(&to->ticks, &from->ticks, m.stacks);
    free(m.texts);
    free(m.frames);
    free(m.group_keys);
    free(m.segments);
    free(m.stacks);
    return ok;
}
