/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is given back all at once. Not thread-safe: one arena, one thread. */
#ifndef SONDE_BASE_ARENA_H
#define SONDE_BASE_ARENA_H

#include "base/bytes.h"

struct arena_block;
struct arena {
    struct arena_block *blocks;
    uint8_t *at, *end;
    size_t total_bytes; /* taken from the system so far */
};

#define ARENA_INIT ((struct arena){0})

void arena_fini(struct arena *a);
/* `n` uninitialised bytes, 8-aligned, valid until arena_fini; NULL when memory ran out. n may be 0. */
void *arena_alloc(struct arena *a, size_t n);
/* As arena_alloc, zeroed. */
void *arena_zalloc(struct arena *a, size_t n);
/* A NUL-terminated copy of the first `n` bytes of `s`. */
char *arena_strndup(struct arena *a, const char *s, size_t n);
/* Text in the form of printf(3); NULL when memory ran out. */
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A copy of `b`; data is NULL on failure (or when b is empty). */
struct bytes arena_copy(struct arena *a, struct bytes b);

#endif
