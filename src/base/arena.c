/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Blocks are as large as all before them: most arenas stay small. */
enum { BLOCK_BYTES_MIN = 1024 - 16, BLOCK_BYTES_MAX = 64 * 1024 };

struct arena_block {
    struct arena_block *next;
    _Alignas(16) uint8_t data[];
};

void arena_fini(struct arena *a) {
    for (struct arena_block *b = a->blocks, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    *a = ARENA_INIT;
}

void *arena_alloc(struct arena *a, size_t n) {
    if (n > SIZE_MAX / 2)
        return NULL;
    n = (n + 7) & ~(size_t)7;
    if (!a->at || (size_t)(a->end - a->at) < n) {
        /* A large request gets a block of its own and leaves the current block in use. */
        size_t block = a->total_bytes < BLOCK_BYTES_MIN   ? BLOCK_BYTES_MIN
                       : a->total_bytes < BLOCK_BYTES_MAX ? a->total_bytes
                                                          : BLOCK_BYTES_MAX;
        size_t room = n > block / 4 ? n : block;
        struct arena_block *b = malloc(sizeof *b + room);
        if (!b)
            return NULL;
        b->next = a->blocks;
        a->blocks = b;
        a->total_bytes += sizeof *b + room;
        if (room == n)
            return b->data;
        a->at = b->data;
        a->end = b->data + room;
    }
    void *p = a->at;
    a->at += n;
    return p;
}

void *arena_zalloc(struct arena *a, size_t n) {
    void *p = arena_alloc(a, n);
    if (p)
        memset(p, 0, n);
    return p;
}

char *arena_strndup(struct arena *a, const char *s, size_t n) {
    char *p = arena_alloc(a, n + 1);
    if (p) {
        memcpy(p, s, n);
        p[n] = 0;
    }
    return p;
}

char *arena_printf(struct arena *a, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    char *text = n < 0 ? NULL : arena_alloc(a, (size_t)n + 1);
    if (!text)
        return NULL;
    va_start(args, fmt);
    vsnprintf(text, (size_t)n + 1, fmt, args);
    va_end(args);
    return text;
}

struct bytes arena_copy(struct arena *a, struct bytes b) {
    uint8_t *p = b.size ? arena_alloc(a, b.size) : NULL;
    if (!p)
        return (struct bytes){NULL, 0};
    memcpy(p, b.data, b.size);
    return (struct bytes){p, b.size};
}
