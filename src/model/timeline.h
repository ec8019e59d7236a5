/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many histories in one array: for each owner (a thread, a process...) the
 * values that it had, each from an instant on.
 *
 *   growing: heads[owner] is its newest entry, links lead back in time
 *
 *      heads[A] -------------------------------+      heads[B] ----+
 *      [A t1] <---- [A t4] <------------------ [A t9]              |
 *               [B t2] <-------- [B t7] <--------------------------+
 *
 *   frozen: an owner's entries are contiguous, so that a binary search finds an instant; heads[owner] is its
 *   first entry, heads[owner + 1] their end, and there are no links
 *
 *      [A t1] [A t4] [A t9] | [B t2] [B t7] |
 */
#ifndef SONDE_MODEL_TIMELINE_H
#define SONDE_MODEL_TIMELINE_H

#include "model/order.h"

struct timeline_entry {
    uint64_t time_ns;
    uint32_t order; /* order_get */
    uint32_t value;
};

struct timeline {
    VEC(struct timeline_entry) entries;
    VEC(uint32_t) links; /* growing: each entry's predecessor of the same owner, or MODEL_NONE */
    VEC(uint32_t) heads; /* owners beyond its end have no entries */
    struct order_table orders;
    bool frozen;
};

void timeline_fini(struct timeline *t);

/* Appends to an owner's history. Time must not go back within an owner. False when memory ran out. */
bool timeline_push(struct timeline *t, uint32_t owner, struct model_when when, uint32_t value);

/* Reserves memory for about so many entries and owners, if possible. */
void timeline_room(struct timeline *t, size_t entries, size_t owners);

/* Turns a growing timeline into a frozen one, once. False: out of memory; the timeline can only be freed
 * then. */
bool timeline_freeze(struct timeline *t);

/* The index of the owner's last entry at or before `when`, or MODEL_NONE. Growing: walks back from the
 * newest. */
uint32_t timeline_find(const struct timeline *t, uint32_t owner, struct model_when when);

/* Growing: the owner's entry after `entry` (MODEL_NONE: the first one), or MODEL_NONE. Walks back from the
 * newest. */
uint32_t timeline_after(const struct timeline *t, uint32_t owner, uint32_t entry);

/* timeline_find that tries the entries after `near` first (of the same owner; MODEL_NONE: none). */
uint32_t timeline_find_near(const struct timeline *t, uint32_t owner, uint32_t near, struct model_when when);

/* The entry before `entry` of the same owner, or MODEL_NONE. */
static inline uint32_t timeline_previous(const struct timeline *t, uint32_t owner, uint32_t entry) {
    if (!t->frozen)
        return t->links.items[entry];
    return entry > t->heads.items[owner] ? entry - 1 : MODEL_NONE;
}

static inline struct model_when timeline_when(const struct timeline *t, uint32_t entry) {
    const struct timeline_entry *e = &t->entries.items[entry];
    return (struct model_when){e->time_ns, order_get(&t->orders, e->order)};
}

static inline uint32_t timeline_value(const struct timeline *t, uint32_t entry) {
    return t->entries.items[entry].value;
}

/* The value at an instant, or MODEL_NONE. */
static inline uint32_t timeline_at(const struct timeline *t, uint32_t owner, struct model_when when) {
    uint32_t entry = timeline_find(t, owner, when);
    return entry == MODEL_NONE ? MODEL_NONE : timeline_value(t, entry);
}

/* Growing: the newest entry, or MODEL_NONE; its value, or MODEL_NONE. */
static inline uint32_t timeline_head(const struct timeline *t, uint32_t owner) {
    return owner < t->heads.count ? t->heads.items[owner] : MODEL_NONE;
}
static inline uint32_t timeline_newest(const struct timeline *t, uint32_t owner) {
    uint32_t head = timeline_head(t, owner);
    return head == MODEL_NONE ? MODEL_NONE : timeline_value(t, head);
}

/*
 * Growing: appends the owner's entries from `first` (MODEL_NONE: all) on to new_owner in `to`, which has none
 * yet. With `ids`, values become ids[value], and entries whose value becomes MODEL_NONE are left out. False:
 * memory.
 */
bool timeline_copy(const struct timeline *t, uint32_t owner, uint32_t first, const uint32_t *ids,
                   struct timeline *to, uint32_t new_owner);

#endif
