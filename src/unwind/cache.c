/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/cache.h"

/* Real programs have some thousands. */
enum { ROWS_MAX = 1 << 16 };

static void forget(struct unwind_cache *c) {
    for (size_t i = 0; i < UNWIND_CACHE_SLOTS; i++)
        c->slots[i].image = UINT32_MAX;
    vec_clear(&c->rows);
    hash_map_fini(&c->by_content);
    c->by_content = (struct hash_map){0};
}

bool unwind_cache_init(struct unwind_cache *c) {
    *c = (struct unwind_cache){.slots = malloc(UNWIND_CACHE_SLOTS * sizeof *c->slots)};
    if (c->slots)
        forget(c);
    return c->slots;
}

void unwind_cache_fini(struct unwind_cache *c) {
    free(c->slots);
    vec_fini(&c->rows);
    hash_map_fini(&c->by_content);
}

/* The row's number; UINT32_MAX: out of memory. */
static uint32_t intern(struct unwind_cache *c, const struct unwind_row *row) {
    uint64_t hash = hash_bytes(row, sizeof *row);
    uint32_t id = hash_map_get(&c->by_content, hash);
    if (id != HASH_ABSENT && memcmp(&c->rows.items[id], row, sizeof *row) == 0)
        return id;
    if (c->rows.count == ROWS_MAX)
        forget(c);
    struct unwind_row *to = vec_push(&c->rows);
    if (!to)
        return UINT32_MAX;
    *to = *row;
    id = (uint32_t)(c->rows.count - 1);
    return hash_map_set(&c->by_content, hash, id) ? id : UINT32_MAX;
}

const struct unwind_row *unwind_cache_add(struct unwind_cache *c, uint32_t image, uint64_t offset,
                                          const struct unwind_row *row) {
    uint32_t id = intern(c, row);
    if (id == UINT32_MAX)
        return NULL;
    *unwind_cache_at(c, image, offset) = (struct unwind_cache_slot){offset, image, id};
    return &c->rows.items[id];
}
