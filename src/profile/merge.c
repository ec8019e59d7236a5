/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What two builders made of records that follow each other, together. All that is interned has ids in the
 * order of its first appearance, so that adding the second one's things in their order gives the ids that one
 * builder would have given.
 */
#include <stdlib.h>

#include "profile/profile_internal.h"

/* From ids in one builder to ids in the other. */
struct maps {
    uint32_t *texts, *frames, *classes, *parts;
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

static bool merge_frames(struct profile_builder *to, const struct profile_builder *from, uint32_t *map) {
    for (uint32_t i = 0; i < from->frames.list.count; i++) {
        map[i] = resolve_frames_add(&to->frames, &from->frames.list.items[i]);
        if (map[i] == RESOLVE_NO_FRAME)
            return false;
    }
    return true;
}

/* One value of a class, which is kept under the name `id`. */
static uint64_t map_value(const struct maps *maps, enum profile_column_id id, uint64_t value) {
    if (id == PROFILE_COMM_NODIGIT) /* two texts */
        return (uint64_t)maps->texts[value >> 32] << 32 | maps->texts[(uint32_t)value];
    if (profile_key_is_text(id))
        return maps->texts[value];
    return profile_key_is_frame(id) ? maps->frames[value] : value;
}

static bool merge_classes(struct profile_builder *to, const struct profile_builder *from,
                          const struct maps *maps) {
    const struct profile_plan *plan = to->plan;
    uint64_t values[PROFILE_CLASS_MAX];
    for (uint32_t i = 0; i < from->class_total; i++) {
        const uint64_t *old = from->class_values.items + (size_t)i * plan->class_count;
        values[0] = old[0];
        for (uint32_t k = 1; k < plan->class_count; k++)
            values[k] = k == plan->level_at ? old[k]
                                            : map_value(maps, (enum profile_column_id)plan->slots[k], old[k]);
        maps->classes[i] = profile_class_add(to, values);
        if (maps->classes[i] == PROFILE_NONE)
            return false;
    }
    return true;
}

/* The parts' numbers become those of the other's frames where they are: the builder is used up. */
static bool merge_parts(struct profile_builder *to, struct profile_builder *from, const struct maps *maps) {
    struct profile_parts *parts = &from->parts;
    uint32_t n, *ids = parts->ids.items;
    for (size_t i = 0; i < parts->ids.count; i++)
        ids[i] = maps->frames[ids[i]];
    maps->parts[PROFILE_EMPTY_PART] = PROFILE_EMPTY_PART;
    for (uint32_t i = 1; i < profile_parts_count(parts); i++) {
        const uint32_t *part = profile_parts_ids(parts, i, &n);
        maps->parts[i] = profile_parts_add(&to->parts, part, n);
        if (maps->parts[i] == PROFILE_NO_PART)
            return false;
    }
    return true;
}

static bool merge_leaves(struct profile_builder *to, struct profile_builder *from, const struct maps *maps) {
    enum { AHEAD = 16 };
    struct profile_leaf *leaves = from->leaves.items;
    size_t count = from->leaves.count;
    uint64_t hashes[AHEAD];
    for (size_t i = 0; i < count + AHEAD; i++) {
        if (i >= AHEAD) {
            size_t at = i - AHEAD;
            const struct profile_weights *w = to->plan->extras ? &from->weights.items[at] : NULL;
            if (!profile_leaf_add(to, &leaves[at], w, hashes[at % AHEAD]))
                return false;
        }
        if (i >= count)
            continue;
        struct profile_leaf_key *k = &leaves[i].key;
        k->klass = maps->classes[k->klass];
        k->frame = maps->frames[k->frame];
        k->chain.outer = maps->parts[k->chain.outer];
        k->chain.inner = maps->parts[k->chain.inner];
        hashes[i % AHEAD] = profile_leaf_hash(k);
        idtable_prefetch(&to->leaf_index, hashes[i % AHEAD]);
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
        t->lost += x->lost;
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
                     .classes = new_map(from->class_total),
                     .parts = new_map(profile_parts_count(&from->parts))};
    bool ok = m.texts && m.frames && m.classes && m.parts && merge_texts(to, from, m.texts) &&
              merge_frames(to, from, m.frames) && merge_classes(to, from, &m) && merge_parts(to, from, &m) &&
              merge_leaves(to, from, &m) && profile_runs_merge(&to->runs, &from->runs, m.frames) &&
              merge_counts(to, from);
    free(m.texts);
    free(m.frames);
    free(m.classes);
    free(m.parts);
    return ok;
}
