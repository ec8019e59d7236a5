/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What two builders made of records that follow each other, together. Texts, classes and frames are interned
 * anew; parts and leaves, of which there are the most, are put behind each other. They are added up later
 * anyway, in the order of callchains.
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

/* One value of a class, which is kept under the name `id`. */
static uint64_t map_value(const struct maps *maps, enum profile_column_id id, uint64_t value) {
    if (id == PROFILE_COMM_NODIGIT || profile_column_is_field(id)) /* two texts */
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

/* Behind the parts that are there, whether they are equal or not: see profile_parts_rank. */
static bool merge_parts(struct profile_builder *to, const struct profile_builder *from,
                        const struct maps *maps) {
    uint32_t first = profile_parts_append(&to->parts, &from->parts, maps->frames);
    for (uint32_t i = 1; i < profile_parts_count(&from->parts); i++)
        maps->parts[i] = first + i - 1;
    maps->parts[PROFILE_EMPTY_PART] = PROFILE_EMPTY_PART;
    return first != PROFILE_NO_PART;
}

/* Behind the leaves that are there: leaves with equal keys are added up where the rows are made. */
static bool merge_leaves(struct profile_builder *to, const struct profile_builder *from,
                         const struct maps *maps) {
    size_t count = from->leaves.count, had = to->leaves.count;
    if (had + count >= PROFILE_NONE || !vec_reserve(&to->leaves, had + count) ||
        (to->plan->extras && !vec_reserve(&to->weights, had + count)))
        return false;
    for (size_t i = 0; i < count; i++) {
        struct profile_leaf leaf = from->leaves.items[i];
        leaf.key.klass = maps->classes[leaf.key.klass];
        leaf.key.frame = maps->frames[leaf.key.frame];
        leaf.key.chain.outer = maps->parts[leaf.key.chain.outer];
        leaf.key.chain.inner = maps->parts[leaf.key.chain.inner];
        to->leaves.items[had + i] = leaf;
        if (to->plan->extras)
            to->weights.items[had + i] = from->weights.items[i];
    }
    to->leaves.count = had + count;
    to->weights.count = to->plan->extras ? to->leaves.count : 0;
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
    idtable_fini(&to->leaf_index); /* nothing is looked for any more */
    profile_parts_trim(&to->parts);
    struct maps m = {.texts = new_map(from->texts.entries.count),
                     .frames = new_map(from->frames.list.count),
                     .classes = new_map(from->class_total),
                     .parts = new_map(profile_parts_count(&from->parts))};
    bool ok = m.texts && m.frames && m.classes && m.parts && merge_texts(to, from, m.texts) &&
              resolve_frames_append(&to->frames, &from->frames, m.frames) && merge_classes(to, from, &m) &&
              merge_parts(to, from, &m) && merge_leaves(to, from, &m) &&
              profile_runs_merge(&to->runs, &from->runs, m.frames) && merge_counts(to, from);
    free(m.texts);
    free(m.frames);
    free(m.classes);
    free(m.parts);
    return ok;
}
