/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where modules end. /proc/modules has their sizes, but perfs before 4.13 did not read these: their modules
 * reach to the next one, and the last one to the end of all addresses, even across the kernel if that lies
 * higher (arm64, s390x). What lies after a module is not part of it.
 *
 * A module without an end gets the one that is proved (model_end_module), and does not reach what was ever
 * mapped above it. If nothing is proved its size is guessed, rather too small than too large:
 *
 *     start        guess                          next
 *     |-- its own --|.......... nobody's ..........|-- a module, BPF program, the kernel
 */
#include "base/sorted.h"
#include "model/model_internal.h"

enum {
    CONSIDERED_MAX = 4096,         /* modules: real machines have some hundreds; more are not compared */
    GUESSED_BYTES = 16 << 20,      /* the longest module of Linux 6.18 (amdgpu) is about this long */
    GUESSED_ALONE_BYTES = 1 << 20, /* if the recording has too few others to compare with */
    GUESSED_LEAST_BYTES = 1 << 16,
    COMPARED_LEAST = 8,
    PLAUSIBLE_BYTES = 256 << 20, /* if the recorded end makes a module longer, it is ignored */
    ENDLESS_MAX = 64             /* how many get ends: old perfs wrote one for each kernel */
};

/* Whether the recorded end is credible: not the end of all addresses, which are fewer in a 32-bit kernel. */
static bool has_end(uint64_t start, uint64_t last) {
    return last - start < PLAUSIBLE_BYTES && last < UINT64_MAX - 1 && (last | 1) != UINT32_MAX;
}

uint64_t model_module_last(struct model *m, uint32_t space, uint32_t mapping, struct model_when when) {
    const struct model_mapping map = mapping_get(&m->mappings, mapping);
    uint64_t last = map.last, start = map.start;
    /* Addresses that were hidden from the recorder (kernel.kptr_restrict) are 0: then no end can be known. */
    bool is_module = start && m->images.list.items[map.image].kind == MODEL_IMAGE_MODULE;
    bool endless = is_module && !has_end(start, last);
    /* A module ends at the latest where the next one recorded at the same moment begins; one of another
     * moment may have replaced it. A module without an end ends there in any case. */
    for (size_t i = 0; is_module && i < m->kernel_maps.count; i++) {
        const struct model_kernel_map *other = &m->kernel_maps.items[i];
        if (other->space == space && other->start > start && other->start <= last &&
            (other->time_ns == when.time_ns || endless))
            last = other->start - 1;
    }
    if (endless) {
        last = last - start < GUESSED_BYTES ? last : start + GUESSED_BYTES - 1;
        struct model_endless *e = m->endless.count < CONSIDERED_MAX ? vec_push(&m->endless) : NULL;
        if (e)
            *e = (struct model_endless){mapping, space, false};
    }
    if (m->kernel_maps.count >= CONSIDERED_MAX)
        return last;
    struct model_kernel_map *to = vec_push(&m->kernel_maps);
    if (to) /* if memory ran out there is one less to compare with */
        *to = (struct model_kernel_map){start, when.time_ns, space};
    return last;
}

uint32_t model_endless_count(const struct model *m) {
    return (uint32_t)m->endless.count;
}

uint32_t model_endless(const struct model *m, uint32_t i) {
    return m->endless.items[i].mapping;
}

void model_end_module(struct model *m, uint32_t i, uint64_t last) {
    struct model_endless *e = &m->endless.items[i];
    if (m->frozen || m->options.streaming || last < mapping_start(&m->mappings, e->mapping))
        return;
    e->ended = true;
    if (last < mapping_last(&m->mappings, e->mapping))
        mapping_end(&m->mappings, e->mapping, last);
}

/* Whether it is in m->endless, which is sorted by mapping. */
static bool is_endless(const struct model *m, uint32_t mapping) {
    size_t at = sorted_below(&m->endless, mapping, mapping);
    return at < m->endless.count && m->endless.items[at].mapping == mapping;
}

/* The guessed size: that of the longest other module, although each may have been recorded up to the next. */
static uint64_t guess(const struct model *m, uint32_t space) {
    uint64_t longest = GUESSED_LEAST_BYTES, compared = 0;
    for (size_t i = 0; i < m->pending.count && compared < CONSIDERED_MAX; i++) {
        const struct model_event *e = pending_at(&m->pending, i);
        uint32_t image = e->kind == EVENT_MAP_SPACE ? mapping_image(&m->mappings, e->arg) : MODEL_NONE;
        if (image == MODEL_NONE || e->task != space ||
            m->images.list.items[image].kind != MODEL_IMAGE_MODULE || is_endless(m, e->arg))
            continue;
        uint64_t bytes = mapping_last(&m->mappings, e->arg) - mapping_start(&m->mappings, e->arg) + 1;
        longest = bytes > longest ? bytes : longest;
        compared++;
    }
    longest = compared < COMPARED_LEAST && longest < GUESSED_ALONE_BYTES ? GUESSED_ALONE_BYTES : longest;
    return longest < GUESSED_BYTES ? longest : GUESSED_BYTES;
}

void model_settle_ends(struct model *m) {
    uint64_t bytes = 0;
    uint32_t space = MODEL_NONE; /* for which `bytes` was guessed */
    if (m->options.streaming)
        return;
    for (size_t i = 0; i < m->endless.count && i < ENDLESS_MAX; i++) {
        const struct model_endless *e = &m->endless.items[i];
        struct model_mapping map = mapping_get(&m->mappings, e->mapping);
        if (!e->ended && e->space != space) {
            space = e->space;
            bytes = guess(m, space);
        }
        if (!e->ended && map.last - map.start >= bytes)
            map.last = map.start + bytes - 1;
        for (size_t j = 0; j < m->pending.count; j++) {
            const struct model_event *other = pending_at(&m->pending, j);
            uint64_t start = other->kind == EVENT_MAP_SPACE ? mapping_start(&m->mappings, other->arg) : 0;
            if (start > map.start && start <= map.last && other->task == e->space)
                map.last = start - 1;
        }
        mapping_end(&m->mappings, e->mapping, map.last);
    }
}
