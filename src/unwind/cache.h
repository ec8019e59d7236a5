/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows found before, by place: callers repeat, and equal rows are kept once, so that what is looked at most
 * stays in the processor's own cache.
 *
 *   (image, offset) -> slot {image, offset, row} -> rows[row]
 *
 * One thread each.
 */
#ifndef SONDE_UNWIND_CACHE_H
#define SONDE_UNWIND_CACHE_H

#include "base/hash.h"
#include "base/vec.h"
#include "unwind/step.h"

struct unwind_cache_slot {
    uint64_t offset;
    uint32_t image, row; /* image UINT32_MAX: free */
};

struct unwind_cache {
    struct unwind_cache_slot *slots;
    VEC(struct unwind_row) rows;
    struct hash_map by_content; /* hash -> the last row that has it */
};

/* False: out of memory. */
bool unwind_cache_init(struct unwind_cache *c);
void unwind_cache_fini(struct unwind_cache *c);

enum { UNWIND_CACHE_SLOTS = 1 << 15 };

static inline struct unwind_cache_slot *unwind_cache_at(const struct unwind_cache *c, uint32_t image,
                                                        uint64_t offset) {
    return &c->slots[hash_u64(offset ^ (uint64_t)image << 40) & (UNWIND_CACHE_SLOTS - 1)];
}

/* NULL: not there. Valid until the next unwind_cache_add. */
static inline const struct unwind_row *unwind_cache_find(const struct unwind_cache *c, uint32_t image,
                                                         uint64_t offset) {
    const struct unwind_cache_slot *s = unwind_cache_at(c, image, offset);
    return s->image == image && s->offset == offset ? &c->rows.items[s->row] : NULL;
}

/* Remembers `row` there, in the place of another one. The kept row, as above; NULL: out of memory. */
const struct unwind_row *unwind_cache_add(struct unwind_cache *c, uint32_t image, uint64_t offset,
                                          const struct unwind_row *row);

#endif
