/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

uint64_t hash_bytes(const void *p, size_t n) {
    const unsigned char *s = p;
    uint64_t h = 0x9e3779b97f4a7c15u ^ n;
    for (; n >= 8; n -= 8, s += 8) {
        uint64_t v;
        memcpy(&v, s, 8);
        h = hash_u64(h ^ v);
    }
    uint64_t v = 0;
    memcpy(&v, s, n);
    return hash_u64(h ^ v);
}

void hash_map_fini(struct hash_map *m) {
    free(m->slots);
    *m = (struct hash_map){0};
}

static void insert(struct hash_map *m, uint64_t key, uint32_t value) {
    size_t i = hash_u64(key) & m->mask;
    while (m->slots[i].value != HASH_ABSENT && m->slots[i].key != key)
        i = (i + 1) & m->mask;
    m->count += m->slots[i].value == HASH_ABSENT;
    m->slots[i] = (struct hash_slot){key, value};
}

bool hash_map_set(struct hash_map *m, uint64_t key, uint32_t value) {
    if (!m->slots || (m->count + 1) * 4 > (m->mask + 1) * 3) {
        size_t n = m->slots ? (m->mask + 1) * 2 : 16;
        struct hash_slot *slots = malloc(n * sizeof *slots);
        if (!slots)
            return false;
        memset(slots, 0xff, n * sizeof *slots);
        struct hash_map bigger = {slots, n - 1, 0};
        for (size_t i = 0; m->slots && i <= m->mask; i++)
            if (m->slots[i].value != HASH_ABSENT)
                insert(&bigger, m->slots[i].key, m->slots[i].value);
        free(m->slots);
        *m = bigger;
    }
    insert(m, key, value);
    return true;
}
