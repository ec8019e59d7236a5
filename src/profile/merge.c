/* SPDX-License-Identifier: Apache-2.0 */
/* What two builders made of records that follow each other, together: texts, classes, frames, parts and
 * leaves are interned anew.
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

/* One value of a class. */
static uint64_t map_value(const struct maps *maps, enum profile_column_kind kind, uint64_t value) {
    if (kind == PROFILE_KEY_TEXTS)
        return (uint64_t)maps->texts[value >> 32] << 32 | maps->texts[(uint32_t)value];
    if (kind == PROFILE_KEY_TEXT)
        return maps->texts[value];
    return kind == PROFILE_KEY_ADDRESS ? maps->frames[value] : value;
}

static bool merge_classes(struct profile_builder *to, const struct profile_builder *from,
                          const struct maps *maps) {
    const struct profile_plan *plan = to->plan;
    uint64_t values[PROFILE_CLASS_MAX];
    for (uint32_t i = 0; i < from->class_total; i++) {
        const uint64_t *old = from->class_values.items + (size_t)i * plan->class_count;
        values[0] = old[0];
        for (uint32_t k = 1; k < plan->class_count; k++)
            values[k] = k == plan->level_at ? old[k] : map_value(maps, plan->slots[k]->key->kind, old[k]);
        maps->classes[i] = profile_class_add(to, values);
        if (maps->classes[i] == PROFILE_NONE)
            return false;
    }
    return true;
}

/* Puts a part's frames, as they are known in the other builder, into its path. */
static bool map_part(struct profile_builder *to, const struct profile_builder *from, const struct maps *maps,
                     uint32_t part) {
    uint32_t n;
    const uint32_t *ids = profile_parts_ids(&from->parts, part, &n);
    if (!vec_reserve(&to->path, to->path.count + n))
        return false;
    for (uint32_t i = 0; i < n; i++)
        to->path.items[to->path.count++] = maps->frames[ids[i]];
    return true;
}

static bool join_parts(struct profile_builder *to, const struct profile_builder *from,
                       const struct maps *maps) {
    for (uint32_t i = 1; i < profile_parts_count(&from->parts); i++) {
        vec_clear(&to->path);
        if (!map_part(to, from, maps, i))
            return false;
        maps->parts[i] = profile_parts_add(&to->parts, to->path.items, to->path.count);
        if (maps->parts[i] == PROFILE_NO_PART)
            return false;
    }
    return true;
}

static inline struct profile_leaf map_leaf(const struct profile_builder *from, const struct maps *maps,
                                           size_t i) {
    struct profile_leaf leaf = from->leaves.items[i];
    leaf.key.klass = maps->classes[leaf.key.klass];
    leaf.key.frame = maps->frames[leaf.key.frame];
    leaf.key.chain.outer = maps->parts[leaf.key.chain.outer];
    leaf.key.chain.inner = maps->parts[leaf.key.chain.inner];
    return leaf;
}

static bool join_leaves(struct profile_builder *to, const struct profile_builder *from,
                        const struct maps *maps) {
    for (size_t i = 0; i < from->leaves.count; i++) {
        struct profile_leaf leaf = map_leaf(from, maps, i);
        if (!profile_leaf_add(to, &leaf, to->plan->extras ? &from->weights.items[i] : NULL))
            return false;
    }
    return true;
}

static bool merge_chains(struct profile_builder *to, const struct profile_builder *from,
                         const struct maps *maps) {
    maps->parts[PROFILE_EMPTY_PART] = PROFILE_EMPTY_PART;
    return join_parts(to, from, maps) && join_leaves(to, from, maps);
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
              resolve_frames_append(&to->frames, &from->frames, m.frames) && merge_classes(to, from, &m) &&
              merge_chains(to, from, &m) && profile_runs_merge(&to->runs, &from->runs, m.frames) &&
              merge_counts(to, from);
    free(m.texts);
    free(m.frames);
    free(m.classes);
    free(m.parts);
    return ok;
}
