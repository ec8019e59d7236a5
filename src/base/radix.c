/* SPDX-License-Identifier: Apache-2.0 */
#include "base/radix.h"

#include <stdbool.h>
#include <string.h>

/* Up to here insertion is quicker than counting. */
enum { FEW = 48, BYTES = 8, VALUES = 256 };

static void insert_all(struct radix_item *items, size_t n) {
    for (size_t i = 1; i < n; i++) {
        struct radix_item x = items[i];
        size_t at = i;
        for (; at > 0 && items[at - 1].key > x.key; at--)
            items[at] = items[at - 1];
        items[at] = x;
    }
}

/* Moves the items to where their byte belongs; counts become places. */
static void scatter(const struct radix_item *from, struct radix_item *to, size_t n, unsigned byte,
                    size_t *counts) {
    size_t at = 0;
    for (unsigned v = 0; v < VALUES; v++) {
        size_t count = counts[v];
        counts[v] = at;
        at += count;
    }
    for (size_t i = 0; i < n; i++)
        to[counts[(uint8_t)(from[i].key >> 8 * byte)]++] = from[i];
}

void radix_sort(struct radix_item *items, struct radix_item *room, size_t n) {
    if (n <= FEW) {
        insert_all(items, n);
        return;
    }
    size_t counts[VALUES];
    struct radix_item *from = items, *to = room;
    uint64_t differs = 0;
    for (size_t i = 0; i < n; i++)
        differs |= items[i].key ^ items[0].key;
    for (unsigned byte = 0; byte < BYTES; byte++) {
        if (!(uint8_t)(differs >> 8 * byte))
            continue;
        memset(counts, 0, sizeof counts);
        for (size_t i = 0; i < n; i++)
            counts[(uint8_t)(from[i].key >> 8 * byte)]++;
        scatter(from, to, n, byte, counts);
        struct radix_item *swap = from;
        from = to;
        to = swap;
    }
    if (from != items)
        memcpy(items, from, n * sizeof *items);
}
