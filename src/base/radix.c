/* SPDX-License-Identifier: Apache-2.0 */
#include "base/radix.h"

#include <stdbool.h>
#include <string.h>

/* Up to here insertion is quicker than counting. Digits have so many bits that a bucket gets about four of
 * evenly spread items, and that the buckets' ends stay in the nearest cache. */
enum { FEW = 20, FEWEST_BITS = 3, MOST_BITS = 11, BUCKET_BITS = 2 };

struct digit {
    unsigned shift, bits;
};

static inline uint32_t digit_of(uint64_t key, struct digit d) {
    return (uint32_t)(key >> d.shift) & ((1u << d.bits) - 1);
}

static void insert_all(const struct radix_item *from, struct radix_item *to, size_t n) {
    for (size_t i = 0; i < n; i++) {
        struct radix_item x = from[i];
        size_t at = i;
        for (; at > 0 && to[at - 1].key > x.key; at--)
            to[at] = to[at - 1];
        to[at] = x;
    }
}

/* Moves the items to where their digit belongs; ends[v]: after the items with the digit v. */
static void scatter(const struct radix_item *from, struct radix_item *to, size_t n, struct digit d,
                    uint32_t *ends) {
    memset(ends, 0, sizeof *ends << d.bits);
    for (size_t i = 0; i < n; i++)
        ends[digit_of(from[i].key, d)]++;
    for (uint32_t v = 0, at = 0; v < 1u << d.bits; v++) {
        uint32_t count = ends[v];
        ends[v] = at;
        at += count;
    }
    for (size_t i = 0; i < n; i++)
        to[ends[digit_of(from[i].key, d)]++] = from[i];
}

/* The bits in which keys differ. */
static uint64_t differing(const struct radix_item *items, size_t n) {
    uint64_t any = 0, all = UINT64_MAX;
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        any |= items[i].key | items[i + 1].key | items[i + 2].key | items[i + 3].key;
        all &= items[i].key & items[i + 1].key & items[i + 2].key & items[i + 3].key;
    }
    for (; i < n; i++) {
        any |= items[i].key;
        all &= items[i].key;
    }
    return any ^ all;
}

/* The most bits that are worth their buckets. */
static unsigned bits_for(size_t n) {
    unsigned bits = 64 - (unsigned)__builtin_clzll(n) - BUCKET_BITS;
    return bits < FEWEST_BITS ? FEWEST_BITS : bits > MOST_BITS ? MOST_BITS : bits;
}

/* Sorts `from`, into itself or (over) into `to`; the other one is left with anything. It calls itself for
 * keys that differ in fewer bits only. */
static void sort(struct radix_item *from, struct radix_item *to, size_t n, bool over) {
    struct radix_item *wanted = over ? to : from;
    uint64_t differs = n > FEW ? differing(from, n) : 0;
    if (!differs) {
        if (n <= FEW && over)
            insert_all(from, to, n);
        else if (n <= FEW)
            insert_all(from, from, n);
        else if (over)
            memcpy(to, from, n * sizeof *to);
        return;
    }
    uint32_t ends[1 << MOST_BITS];
    unsigned low = (unsigned)__builtin_ctzll(differs), span = 64 - (unsigned)__builtin_clzll(differs) - low,
             bits = bits_for(n);
    if (span > 2 * bits) { /* from the highest digit down */
        scatter(from, to, n, (struct digit){low + span - bits, bits}, ends);
        for (uint32_t v = 0, at = 0; v < 1u << bits; at = ends[v++])
            if (ends[v] != at)
                sort(to + at, from + at, ends[v] - at, !over);
        return;
    }
    if (span > bits) { /* two digits are left: the lower one first */
        bits = span / 2;
        scatter(from, to, n, (struct digit){low, bits}, ends);
        scatter(to, from, n, (struct digit){low + bits, span - bits}, ends);
    } else {
        scatter(from, to, n, (struct digit){low, span}, ends);
        from = to;
    }
    if (from != wanted)
        memcpy(wanted, from, n * sizeof *from);
}

void radix_sort(struct radix_item *items, struct radix_item *room, size_t n) {
    if (n > 1)
        sort(items, room, n, false);
}
