/* SPDX-License-Identifier: Apache-2.0 */
#include "base/writer.h"

#include "base/checked.h"

#include <stdlib.h>

void writer_fini(struct writer *w) {
    free(w->data);
    *w = (struct writer){.swap = w->swap};
}

uint8_t *writer_grow(struct writer *w, size_t n) {
    if (w->failed)
        return NULL;
    if (n > w->cap - w->size) {
        size_t want = w->cap ? w->cap : 256;
        while (want - w->size < n) {
            if (want > SIZE_MAX / 2) {
                w->failed = true;
                return NULL;
            }
            want *= 2;
        }
        uint8_t *p = realloc(w->data, want);
        if (!p) {
            w->failed = true;
            return NULL;
        }
        w->data = p;
        w->cap = want;
    }
    uint8_t *at = w->data + w->size;
    w->size += n;
    return at;
}

void writer_put(struct writer *w, const void *p, size_t n) {
    uint8_t *at = n ? writer_grow(w, n) : NULL;
    if (at)
        memcpy(at, p, n);
}

void writer_bytes_put(struct writer *w, struct bytes b) {
    writer_put(w, b.data, b.size);
}

void writer_zero(struct writer *w, size_t n) {
    uint8_t *at = n ? writer_grow(w, n) : NULL;
    if (at)
        memset(at, 0, n);
}

void writer_align(struct writer *w, size_t align) {
    writer_zero(w, (align - (w->size & (align - 1))) & (align - 1));
}

void writer_u8(struct writer *w, uint8_t v) {
    writer_put(w, &v, 1);
}

void writer_u16(struct writer *w, uint16_t v) {
    v = w->swap ? __builtin_bswap16(v) : v;
    writer_put(w, &v, sizeof v);
}

void writer_u32(struct writer *w, uint32_t v) {
    v = w->swap ? __builtin_bswap32(v) : v;
    writer_put(w, &v, sizeof v);
}

void writer_u64(struct writer *w, uint64_t v) {
    v = w->swap ? __builtin_bswap64(v) : v;
    writer_put(w, &v, sizeof v);
}

static void patch(struct writer *w, size_t at, const void *p, size_t n) {
    if (w->failed || !checked_range(at, n, w->size)) {
        w->failed = true;
        return;
    }
    memcpy(w->data + at, p, n);
}

void writer_patch16(struct writer *w, size_t at, uint16_t v) {
    v = w->swap ? __builtin_bswap16(v) : v;
    patch(w, at, &v, sizeof v);
}

void writer_patch32(struct writer *w, size_t at, uint32_t v) {
    v = w->swap ? __builtin_bswap32(v) : v;
    patch(w, at, &v, sizeof v);
}

void writer_patch64(struct writer *w, size_t at, uint64_t v) {
    v = w->swap ? __builtin_bswap64(v) : v;
    patch(w, at, &v, sizeof v);
}
