/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growing byte buffer to encode into, in either byte order; the cursor's counterpart.
 * Failure (memory) is sticky: check writer_ok() once at the end.
 */
#ifndef SONDE_BASE_WRITER_H
#define SONDE_BASE_WRITER_H

#include "base/bytes.h"

struct writer {
    uint8_t *data; /* owned; freed by writer_fini */
    size_t size, cap;
    bool swap; /* write in the other byte order */
    bool failed;
};

static inline struct writer writer_make(bool swap) {
    return (struct writer){.swap = swap};
}
void writer_fini(struct writer *w);
static inline bool writer_ok(const struct writer *w) {
    return !w->failed;
}
static inline struct bytes writer_bytes(const struct writer *w) {
    return (struct bytes){w->data, w->size};
}
static inline void writer_clear(struct writer *w) {
    w->size = 0;
}

/* Room for `n` more bytes, already counted into size; NULL after a failure. */
uint8_t *writer_grow(struct writer *w, size_t n);

void writer_put(struct writer *w, const void *p, size_t n);
void writer_bytes_put(struct writer *w, struct bytes b);
void writer_zero(struct writer *w, size_t n);
/* Zero bytes until size is a multiple of `align` (a power of two). */
void writer_align(struct writer *w, size_t align);
void writer_u8(struct writer *w, uint8_t v);
void writer_u16(struct writer *w, uint16_t v);
void writer_u32(struct writer *w, uint32_t v);
void writer_u64(struct writer *w, uint64_t v);
/* Overwrites what was written at `at`; fails the writer when it is not all there. */
void writer_patch16(struct writer *w, size_t at, uint16_t v);
void writer_patch32(struct writer *w, size_t at, uint32_t v);
void writer_patch64(struct writer *w, size_t at, uint64_t v);

#endif
