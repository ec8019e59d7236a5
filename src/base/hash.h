/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open-addressing map from 64-bit keys to 32-bit values, and the string hash.
 * Any key is allowed; hostile keys cost time linear in the cluster, never memory.
 */
#ifndef SONDE_BASE_HASH_H
#define SONDE_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HASH_ABSENT UINT32_MAX

struct hash_slot {
    uint64_t key;
    uint32_t value; /* HASH_ABSENT: the slot is free */
};

struct hash_map {
    struct hash_slot *slots;
    size_t mask, count; /* mask + 1 slots, a power of two, when slots is not NULL */
};

static inline uint64_t hash_u64(uint64_t x) {
    /* The finaliser of splitmix64 (Steele, Lea, Flood 2014): full avalanche, three multiplications. */
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

uint64_t hash_bytes(const void *p, size_t n);

void hash_map_fini(struct hash_map *m);
/* Sets key to value (not HASH_ABSENT), replacing an older one; false when memory ran out. */
bool hash_map_set(struct hash_map *m, uint64_t key, uint32_t value);

/* The value of key, or HASH_ABSENT. */
static inline uint32_t hash_map_get(const struct hash_map *m, uint64_t key) {
    if (!m->slots)
        return HASH_ABSENT;
    for (size_t i = hash_u64(key) & m->mask;; i = (i + 1) & m->mask) {
        const struct hash_slot *s = &m->slots[i];
        if (s->value == HASH_ABSENT)
            return HASH_ABSENT;
        if (s->key == key)
            return s->value;
    }
}

#endif
