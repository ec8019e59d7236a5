/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where modules end. /proc/modules says how long each is, but perfs before 4.13 did not read that: their
 * modules reach to the next one, and the last one, wherever it lies, to the end of all addresses, over the
 * kernel too where that lies higher (arm64, s390x). What lies behind a module is not its own.
 */
#include "model/model_internal.h"

enum {
    CONSIDERED_MAX = 4096,      /* modules: real machines have some hundreds; more are not compared */
    GUESSED_BYTES = 16 << 20,   /* the longest module of Linux 6.18 (amdgpu) is about this long */
    PLAUSIBLE_BYTES = 256 << 20 /* a longer one is nobody's measure */
};

/* A kernel of 32 bits has fewer addresses to run to the end of. */
static bool has_end(uint64_t start, uint64_t last) {
    return last - start < PLAUSIBLE_BYTES && last < UINT64_MAX - 1 && (last | 1) != UINT32_MAX;
}

uint64_t model_module_last(struct model *m, uint32_t space, const struct model_mapping *map,
                           struct model_when when) {
    uint64_t last = map->last, start = map->start;
    /* Addresses that were hidden from the recorder (kernel.kptr_restrict) are 0: of such there is nothing to
     * know, an end neither. */
    bool is_module = start && m->images.list.items[map->image].kind == MODEL_IMAGE_MODULE;
    /* A module of the same moment ends where the next one begins; of others one may have come in the other's
     * place. One without an end ends there in any case. */
    for (size_t i = 0; is_module && i < m->kernel_maps.count; i++) {
        const struct model_kernel_map *other = &m->kernel_maps.items[i];
        if (other->space == space && other->start > start && other->start <= last &&
            (other->time_ns == when.time_ns || !has_end(start, map->last)))
            last = other->start - 1;
    }
    if (is_module && !has_end(start, last)) {
        last = start + GUESSED_BYTES - 1;
        uint32_t *id = m->endless.count < CONSIDERED_MAX ? vec_push(&m->endless) : NULL;
        if (id)
            *id = (uint32_t)(map - m->mappings.items);
    }
    if (m->kernel_maps.count >= CONSIDERED_MAX)
        return last;
    struct model_kernel_map *to = vec_push(&m->kernel_maps);
    if (to) /* without memory there is one less to compare with */
        *to = (struct model_kernel_map){start, when.time_ns, space};
    return last;
}

uint32_t model_endless_count(const struct model *m) {
    return (uint32_t)m->endless.count;
}

uint32_t model_endless(const struct model *m, uint32_t i) {
    return m->endless.items[i];
}

void model_end_module(struct model *m, uint32_t i, uint64_t last) {
    struct model_mapping *map = &m->mappings.items[m->endless.items[i]];
    if (!m->frozen && !m->options.streaming && last >= map->start && last < map->last)
        map->last = last;
}
