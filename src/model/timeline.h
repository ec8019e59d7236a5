/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many histories in one array: for each owner (a thread, a process...) the
 * values that it took, each from an instant on.
 *
 *   growing: an owner's head is its newest entry, links lead back in time
 *
 *      head of A ------------------------------+      head of B ---+
 *      [A t1] <---- [A t4] <------------------ [A t9]              |
 *               [B t2] <-------- [B t7] <--------------------------+
 *
 *   frozen: an owner's entries lie together, so that a binary search finds an instant; link is the entry's
 *   rank among them, and head stays the newest
 *
 *      [A t1 0] [A t4 1] [A t9 2] | [B t2 0] [B t7 1]
 */
#ifndef SONDE_MODEL_TIMELINE_H
#define SONDE_MODEL_TIMELINE_H

#include "model/model.h"

struct timeline_entry {
    struct model_when when;
    uint32_t value;
    uint32_t link;
};

struct timeline {
    VEC(struct timeline_entry) entries;
    bool frozen;
};

void timeline_fini(struct timeline *t);

/* Appends to the owner whose head is *head (MODEL_NONE at first). Time must not go back within an owner.
 * False when memory ran out. */
bool timeline_push(struct timeline *t, uint32_t *head, struct model_when when, uint32_t value);

/* Makes each owner's entries contiguous. The heads lie `stride` bytes apart. False: memory, nothing changed.
 */
bool timeline_freeze(struct timeline *t, uint32_t *heads, size_t count, size_t stride);

/* The owner's last entry at or before `when`, or MODEL_NONE. Growing: walks back from the newest. */
uint32_t timeline_find(const struct timeline *t, uint32_t head, struct model_when when);

/* The entry before `entry` of the same owner, or MODEL_NONE. */
static inline uint32_t timeline_previous(const struct timeline *t, uint32_t entry) {
    uint32_t link = t->entries.items[entry].link;
    return t->frozen ? (link ? entry - 1 : MODEL_NONE) : link;
}

/* The newest value of an owner with at least one entry. */
static inline uint32_t timeline_newest(const struct timeline *t, uint32_t head) {
    return t->entries.items[head].value;
}

#endif
