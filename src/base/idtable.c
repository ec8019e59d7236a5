/* SPDX-License-Identifier: Apache-2.0 */
#include "base/idtable.h"

#include <stdlib.h>

enum { FEWEST = 8 }; /* buckets */

const struct idtable_bucket idtable_no_bucket __attribute__((aligned(64)));

/* The first free slot, of a bucket that has one. */
static unsigned free_slot(const struct idtable_bucket *b) {
    return (unsigned)__builtin_ctz(idtable_like(b, 0));
}

static void put(struct idtable *t, uint32_t tag, uint32_t next_id) {
    struct idtable_bucket *b = &t->buckets[tag & t->mask];
    while (b->tags[IDTABLE_BUCKET - 1]) /* full */
        b = b == t->buckets + t->mask ? t->buckets : b + 1;
    unsigned i = free_slot(b);
    b->tags[i] = tag;
    b->next_ids[i] = next_id;
}

static bool grow(struct idtable *t, size_t n) {
    enum { LINE = sizeof *t->buckets };
    void *room = calloc(n + 1, LINE);
    if (!room)
        return false;
    size_t skip = (LINE - (uintptr_t)room % LINE) % LINE;
    struct idtable bigger = {(struct idtable_bucket *)((char *)room + skip), room, n - 1, t->count};
    for (size_t i = 0; t->buckets && i <= t->mask; i++)
        for (unsigned k = 0; k < IDTABLE_BUCKET && t->buckets[i].tags[k]; k++)
            put(&bigger, t->buckets[i].tags[k], t->buckets[i].next_ids[k]);
    free(t->room);
    *t = bigger;
    return true;
}

static inline bool is_full(const struct idtable *t) {
    return !t->buckets || t->count >= idtable_room(t->mask + 1);
}

bool idtable_add(struct idtable *t, uint64_t hash, uint32_t id) {
    if (is_full(t) && !grow(t, t->buckets ? (t->mask + 1) * 2 : FEWEST))
        return false;
    put(t, idtable_tag(hash), id + 1);
    t->count++;
    return true;
}

bool idtable_add_at(struct idtable *t, const struct idtable_at *at, uint64_t hash, uint32_t id) {
    if (is_full(t))
        return idtable_add(t, hash, id);
    struct idtable_bucket *b = &t->buckets[at->bucket - t->buckets];
    unsigned i = free_slot(b);
    b->tags[i] = at->tag;
    b->next_ids[i] = id + 1;
    t->count++;
    return true;
}

void idtable_fini(struct idtable *t) {
    free(t->room);
    *t = (struct idtable){0};
}
