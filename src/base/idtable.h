/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An index over things that lie elsewhere, in an array of the owner: from a hash to the ids of those that
 * have it. Eight bytes per slot; the owner compares the things themselves.
 *
 *   struct idtable_at at = idtable_first(&t, hash);
 *   for (uint32_t id; (id = idtable_next(&t, &at)) != IDTABLE_NONE;)
 *       if (things[id] is the one) return id;
 *   idtable_add_at(&t, &at, hash, new_id);
 */
#ifndef SONDE_BASE_IDTABLE_H
#define SONDE_BASE_IDTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/prefetch.h"

#define IDTABLE_NONE UINT32_MAX

struct idtable_slot {
    uint32_t id, tag;
};

/* Zeroed at first. */
struct idtable {
    struct idtable_slot *slots;
    size_t mask, count; /* mask + 1 slots when slots is not NULL */
};

struct idtable_at {
    size_t i;
    uint32_t tag;
};

static inline struct idtable_at idtable_first(const struct idtable *t, uint64_t hash) {
    uint32_t tag = (uint32_t)(hash >> 32);
    return (struct idtable_at){tag & t->mask, tag};
}

/* Has the slot of a hash brought into the cache, for a question soon to come. */
static inline void idtable_prefetch(const struct idtable *t, uint64_t hash) {
    if (t->slots)
        prefetch(&t->slots[(uint32_t)(hash >> 32) & t->mask]);
}

/* The next candidate, or IDTABLE_NONE. */
static inline uint32_t idtable_next(const struct idtable *t, struct idtable_at *at) {
    if (!t->slots)
        return IDTABLE_NONE;
    for (;;) {
        struct idtable_slot s = t->slots[at->i];
        at->i = (at->i + 1) & t->mask;
        if (s.id == IDTABLE_NONE || s.tag == at->tag)
            return s.id;
    }
}

/* Makes room for `n` ids in all. False: memory; nothing has changed. */
bool idtable_reserve(struct idtable *t, size_t n);
/* Notes an id that is not there yet. False: memory; nothing has changed. */
bool idtable_add(struct idtable *t, uint64_t hash, uint32_t id);

/* How many ids so many slots may hold. A question for what is not there looks at 15 slots then, two lines. */
static inline size_t idtable_room(size_t slots) {
    return slots / 16 * 13;
}

/* The same right behind a question with that hash for which idtable_next had nothing more: it ended at the
 * slot that is free. */
static inline bool idtable_add_at(struct idtable *t, const struct idtable_at *at, uint64_t hash,
                                  uint32_t id) {
    if (!t->slots || t->count >= idtable_room(t->mask + 1))
        return idtable_add(t, hash, id);
    t->slots[(at->i - 1) & t->mask] = (struct idtable_slot){id, at->tag};
    t->count++;
    return true;
}

void idtable_fini(struct idtable *t);

#endif
