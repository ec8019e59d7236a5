/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Typed growable arrays: VEC(struct foo) v = {0}; struct foo *p = vec_push(&v); ... v.items[i] ...
 * vec_fini(&v); vec_push gives a zeroed new element, or NULL when memory ran out (the vector is unchanged).
 * Pointers into a vector die with the next push.
 */
#ifndef SONDE_BASE_VEC_H
#define SONDE_BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define VEC(type)          \
    struct {               \
        type *items;       \
        size_t count, cap; \
    }

static inline bool vec_reserve_raw(void **items, size_t *cap, size_t want, size_t item_size) {
    if (want <= *cap)
        return true;
    size_t n = *cap ? *cap : 8;
    while (n < want) {
        if (n > (size_t)-1 / 2 / item_size)
            return false;
        n = n < 4096 ? n * 2 : n + n / 2; /* gentler when large: memory is promised in bounds */
    }
    void *p = realloc(*items, n * item_size);
    if (!p)
        return false;
    *items = p;
    *cap = n;
    return true;
}

/* Room for `n` elements in all; false when memory ran out. */
#define vec_reserve(v, n) vec_reserve_raw((void **)&(v)->items, &(v)->cap, (n), sizeof *(v)->items)

#define vec_push(v)                                                                         \
    (vec_reserve((v), (v)->count + 1)                                                       \
         ? (__typeof__((v)->items))memset(&(v)->items[(v)->count++], 0, sizeof *(v)->items) \
         : NULL)

#define vec_clear(v) ((v)->count = 0)

/* Gives back the room that growing left over. */
static inline void vec_trim_raw(void **items, size_t count, size_t *cap, size_t item_size) {
    size_t n = count ? count : 1;
    void *p = n < *cap ? realloc(*items, n * item_size) : NULL;
    if (p) {
        *items = p;
        *cap = n;
    }
}
#define vec_trim(v) vec_trim_raw((void **)&(v)->items, (v)->count, &(v)->cap, sizeof *(v)->items)

#define vec_fini(v)                \
    do {                           \
        free((v)->items);          \
        (v)->items = NULL;         \
        (v)->count = (v)->cap = 0; \
    } while (0)

#endif
