/* SPDX-License-Identifier: Apache-2.0 */
/* Interned strings: equal texts get equal 32-bit ids, in order of first appearance; ids and texts live as
 * long as the pool. */
#ifndef SONDE_BASE_STRPOOL_H
#define SONDE_BASE_STRPOOL_H

#include "base/arena.h"
#include "base/vec.h"

struct strpool_entry {
    const char *text; /* NUL-terminated (and may hold no other NUL) */
    uint32_t len;
    uint32_t hash;
};

struct strpool {
    struct arena arena;
    VEC(struct strpool_entry) entries;
    uint32_t *slots; /* open addressing over entry ids; UINT32_MAX is free */
    size_t mask;
};

#define STRPOOL_NONE UINT32_MAX

void strpool_fini(struct strpool *p);
/* The id of the first `len` bytes of `s` (copied at the first sight); STRPOOL_NONE when memory ran out. */
uint32_t strpool_add(struct strpool *p, const char *s, size_t len);
/* The id of a text already there, or STRPOOL_NONE. */
uint32_t strpool_find(const struct strpool *p, const char *s, size_t len);
/* The text of an id that this pool gave out. */
static inline const char *strpool_text(const struct strpool *p, uint32_t id) {
    return p->entries.items[id].text;
}
static inline uint32_t strpool_len(const struct strpool *p, uint32_t id) {
    return p->entries.items[id].len;
}

#endif
