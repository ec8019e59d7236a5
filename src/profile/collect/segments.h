/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distinct sequences of frames, each with one 32-bit id, and their order.
 *
 * Parts of callchains repeat: what the kernel does is the same in many processes, and many kernel chains go
 * on from the same place in a process. So a chain is two segments, and each distinct one is stored and looked
 * at only once:
 *
 *      main read | entry vfs_read copy          outer segment | inner segment, outermost frame first
 *      main read | entry vfs_read lock
 *      main fork | entry vfs_read copy          -> 2 outer, 2 inner segments, 3 chains
 *
 * The outer segment is the longest beginning whose frames have one cpumode, so that an inner segment's first
 * frame can never belong to the outer segment. Chains in the order of (rank of the outer, rank of the inner
 * segment) are therefore in the order of their frames: those that begin alike are adjacent,
 *
 *      order   chain                nodes of the tree that they make: runs of neighbours
 *        0     main fork entry ...  | main | fork | entry
 *        1     main read            |      | read
 *        2     main read entry ...  |      |      | entry
 *
 * and one walk along them finds every node of the tree, its parents and its sums without any look-up.
 */
#ifndef SONDE_PROFILE_COLLECT_SEGMENTS_H
#define SONDE_PROFILE_COLLECT_SEGMENTS_H

#include "base/idtable.h"
#include "base/vec.h"

enum { PROFILE_NO_SEGMENT = UINT32_MAX, PROFILE_EMPTY_SEGMENT = 0 };

/* Zeroed at first. */
struct profile_segments {
    VEC(uint32_t) ids; /* all sequences, one after the other */
    VEC(uint32_t) at;  /* segment i is ids[at[i] .. at[i + 1]) */
    struct idtable index;
};

/* Returns the id of a sequence, new or known; the empty one is PROFILE_EMPTY_SEGMENT. `ids` is copied and
 * must not point into the container. PROFILE_NO_SEGMENT: out of memory. */
uint32_t profile_segments_add(struct profile_segments *p, const uint32_t *ids, size_t n);
/* Frees what only adding needs. */
void profile_segments_trim(struct profile_segments *p);
void profile_segments_fini(struct profile_segments *p);

static inline uint32_t profile_segments_count(const struct profile_segments *p) {
    return p->at.count ? (uint32_t)p->at.count - 1 : 0;
}
/* Returns the sequence of a segment that exists; PROFILE_EMPTY_SEGMENT always does. */
static inline const uint32_t *profile_segments_ids(const struct profile_segments *p, uint32_t segment,
                                                   uint32_t *n) {
    if (segment == PROFILE_EMPTY_SEGMENT) {
        *n = 0;
        return NULL;
    }
    *n = p->at.items[segment + 1] - p->at.items[segment];
    return p->ids.items + p->at.items[segment];
}

/* Fills in ranks[segment], the position in the order of sequences (of numbers); a prefix comes before what
 * continues it. ranks has room for profile_segments_count, and one at least. False: out of memory. */
bool profile_segments_rank(const struct profile_segments *p, uint32_t *ranks);

#endif
