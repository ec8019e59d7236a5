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
#include <string.h>

#define HASH_ABSENT UINT32_MAX

struct hash_slot {
    uint64_t key;
    uint32_t value; /* HASH_ABSENT: the slot is free */
};

struct hash_map {
    struct hash_slot *slots;
    size_t mask, count; /* mask + 1 slots, a power of two, when slots is not NULL */
};

/* 2^64 by the golden ratio. */
#define HASH_ODD 0x9e3779b97f4a7c15u

static inline uint64_t hash_u64(uint64_t x) {
    /* The finaliser of splitmix64 (Steele, Lea, Flood 2014): full avalanche, three multiplications. */
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

uint64_t hash_bytes(const void *p, size_t n);

/* A 64 x 64 -> 128 bit product, folded: one step takes in two words. */
static inline uint64_t hash_fold(uint64_t a, uint64_t b) {
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Of `count` words of 8 bytes as they lie there, at any address. Seeds that differ little will do. */
static inline uint64_t hash_words(const uint8_t *p, uint64_t count, uint64_t seed) {
    uint64_t h = (seed ^ count << 56) * HASH_ODD, words[2] = {0};
    for (; count > 1; count -= 2, p += sizeof words) {
        memcpy(words, p, sizeof words);
        h = hash_fold(words[0] ^ h, words[1] ^ 0x8bb84b93962eacc9u);
    }
    if (count) {
        memcpy(words, p, sizeof *words);
        h ^= words[0];
    }
    return hash_fold(h, 0x2d358dccaa6c78a5u);
}

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
