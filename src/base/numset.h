/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A set of numbers below n that finds the next lower and the next higher member: a bit for each number, and
 * above every 64 bits one that tells whether any of them is set, up to a single word. 50 KB hold 400,000
 * numbers.
 *
 *   1                    is a bit set below?     {3, 70}: before 70 comes 3, which the upper word finds
 *   1000 0000 0100 ...
 */
#ifndef SONDE_BASE_NUMSET_H
#define SONDE_BASE_NUMSET_H

#include <stdbool.h>
#include <stdint.h>

enum { NUMSET_LEVELS = 6, NUMSET_NONE = UINT32_MAX }; /* 64^6 > 2^32 */

struct numset {
    uint64_t *levels[NUMSET_LEVELS]; /* [0]: the numbers' own bits */
    unsigned count;
};

/* Empty, for numbers below n. False: memory. */
bool numset_init(struct numset *s, uint32_t n);
void numset_fini(struct numset *s); /* also of a zeroed one */

static inline bool numset_has(const struct numset *s, uint32_t x) {
    return s->levels[0][x / 64] >> x % 64 & 1;
}

static inline void numset_add(struct numset *s, uint32_t x) {
    for (unsigned l = 0; l < s->count; l++, x /= 64) {
        uint64_t *word = &s->levels[l][x / 64], was = *word;
        *word = was | 1ull << x % 64;
        if (was)
            return;
    }
}

/* The highest member below x; NUMSET_NONE: there is none. */
static inline uint32_t numset_before(const struct numset *s, uint32_t x) {
    for (unsigned l = 0; l < s->count; l++, x /= 64) {
        uint64_t word = s->levels[l][x / 64] & ((1ull << x % 64) - 1);
        if (!word)
            continue;
        x = x / 64 * 64 + 63 - (uint32_t)__builtin_clzll(word);
        while (l-- > 0)
            x = x * 64 + 63 - (uint32_t)__builtin_clzll(s->levels[l][x]);
        return x;
    }
    return NUMSET_NONE;
}

/* The lowest one above x. */
static inline uint32_t numset_behind(const struct numset *s, uint32_t x) {
    for (unsigned l = 0; l < s->count; l++, x /= 64) {
        uint64_t word = s->levels[l][x / 64] & -2ull << x % 64;
        if (!word)
            continue;
        x = x / 64 * 64 + (uint32_t)__builtin_ctzll(word);
        while (l-- > 0)
            x = x * 64 + (uint32_t)__builtin_ctzll(s->levels[l][x]);
        return x;
    }
    return NUMSET_NONE;
}

#endif
