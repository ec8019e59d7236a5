/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers from 0 for keys of a few words, in the order in which they are first asked for: where many things
 * have few different keys, only those need to be sorted.
 *
 *   asked  (3, 0) (1, 5) (3, 0) (1, 7)      numbers  0 1 0 2      alike_sort  1 2 0
 */
#ifndef SONDE_PROFILE_ALIKE_H
#define SONDE_PROFILE_ALIKE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/idtable.h"
#include "base/vec.h"

/* Zeroed at first, but for `width`. */
struct alike {
    uint32_t width; /* words in a key */
    uint32_t count; /* of different keys */
    VEC(uint64_t) keys;
    struct idtable index;
};

#define ALIKE_NONE IDTABLE_NONE

void alike_fini(struct alike *a);
uint32_t alike_add(struct alike *a, const uint64_t *key, const struct idtable_at *at, uint64_t hash);
/* The numbers in the order of their keys, the first word's first. NULL: memory. The caller frees them. */
uint32_t *alike_sort(const struct alike *a);

/* The key's number, ALIKE_NONE: memory. `width` is that of a, for the compiler. */
static inline uint32_t alike_number(struct alike *a, const uint64_t *key, uint32_t width) {
    uint64_t hash = 0;
    for (uint32_t w = 0; w < width; w++)
        hash = hash_fold(key[w] ^ hash, HASH_ODD);
    struct idtable_at at = idtable_first(&a->index, hash);
    for (uint32_t id; (id = idtable_next(&a->index, &at)) != IDTABLE_NONE;) {
        const uint64_t *have = &a->keys.items[(size_t)id * width];
        uint64_t differs = 0;
        for (uint32_t w = 0; w < width; w++)
            differs |= have[w] ^ key[w];
        if (!differs)
            return id;
    }
    return alike_add(a, key, &at, hash);
}

#endif
