/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An index over things that lie elsewhere, in an array of the owner: from a hash to the ids of those that
 * have it. Eight bytes per slot; the owner compares the things themselves.
 *
 *   struct idtable_at at = idtable_first(&t, hash);
 *   for (uint32_t id; (id = idtable_next(&t, &at)) != IDTABLE_NONE;)
 *       if (things[id] is the one) return id;
 *   idtable_add_at(&t, &at, hash, new_id);
 *
 * Eight slots are a bucket, a line of the cache, and all of them are compared at once: where in it an id lies
 * costs nothing, above all no branch that nobody can predict. What a bucket has no room for lies in the next.
 */
#ifndef SONDE_BASE_IDTABLE_H
#define SONDE_BASE_IDTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/threads/prefetch.h"

#define IDTABLE_NONE UINT32_MAX

enum { IDTABLE_BUCKET = 8 };

/* Its slots are taken from the first one on; what is free is 0. */
struct idtable_bucket {
    uint32_t tags[IDTABLE_BUCKET];
    uint32_t next_ids[IDTABLE_BUCKET]; /* id + 1 */
};
_Static_assert(sizeof(struct idtable_bucket) == 64, "a line");

/* Zeroed at first. */
struct idtable {
    struct idtable_bucket *buckets; /* mask + 1 when not NULL */
    void *room;                     /* that they lie in */
    size_t mask, count;             /* count: ids */
};

/* A bucket, and its slots that may hold the id or are free. */
struct idtable_at {
    const struct idtable_bucket *bucket;
    uint32_t tag, left;
};

/* What a table without buckets has in place of them. */
extern const struct idtable_bucket idtable_no_bucket;

/* Never 0. */
static inline uint32_t idtable_tag(uint64_t hash) {
    return (uint32_t)(hash >> 32) | 1u << 31;
}

static inline uint32_t idtable_like(const struct idtable_bucket *b, uint32_t tag) {
#ifdef __SSE2__
    const __m128i wanted = _mm_set1_epi32((int)tag), none = _mm_setzero_si128(),
                  low = _mm_load_si128((const __m128i *)b->tags),
                  high = _mm_load_si128((const __m128i *)b->tags + 1);
    __m128i halves =
        _mm_packs_epi32(_mm_or_si128(_mm_cmpeq_epi32(low, wanted), _mm_cmpeq_epi32(low, none)),
                        _mm_or_si128(_mm_cmpeq_epi32(high, wanted), _mm_cmpeq_epi32(high, none)));
    return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(halves, none));
#else
    uint32_t like = 0;
    for (unsigned i = 0; i < IDTABLE_BUCKET; i++)
        like |= (uint32_t)(b->tags[i] == tag || !b->tags[i]) << i;
    return like;
#endif
}

static inline struct idtable_at idtable_first(const struct idtable *t, uint64_t hash) {
    uint32_t tag = idtable_tag(hash);
    const struct idtable_bucket *b = t->buckets ? &t->buckets[tag & t->mask] : &idtable_no_bucket;
    return (struct idtable_at){b, tag, idtable_like(b, tag)};
}

/* Has the bucket of a hash brought into the cache, for a question soon to come. */
static inline void idtable_prefetch(const struct idtable *t, uint64_t hash) {
    if (t->buckets)
        prefetch(&t->buckets[idtable_tag(hash) & t->mask]);
}

/* The next candidate, or IDTABLE_NONE, after which there is none. */
static inline uint32_t idtable_next(const struct idtable *t, struct idtable_at *at) {
    while (__builtin_expect(!at->left, 0)) {
        at->bucket = at->bucket == t->buckets + t->mask ? t->buckets : at->bucket + 1;
        at->left = idtable_like(at->bucket, at->tag);
    }
    unsigned i = (unsigned)__builtin_ctz(at->left);
    at->left &= at->left - 1;
    return at->bucket->next_ids[i] - 1;
}

/* Notes an id that is not there yet. False: out of memory; nothing has changed. */
bool idtable_add(struct idtable *t, uint64_t hash, uint32_t id);

/* How many ids so many buckets may hold. A question for what is not there looks at two of them then. */
static inline size_t idtable_room(size_t buckets) {
    return buckets * IDTABLE_BUCKET / 16 * 13;
}

/* The same right after a question with that hash for which idtable_next had nothing more: it ended at the
 * slot that is free. */
bool idtable_add_at(struct idtable *t, const struct idtable_at *at, uint64_t hash, uint32_t id);

void idtable_fini(struct idtable *t);

#endif
