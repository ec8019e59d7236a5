/* SPDX-License-Identifier: Apache-2.0 */
/* A borrowed span of bytes, and loads from it in either byte order, at any alignment. */
#ifndef SONDE_BASE_BYTES_H
#define SONDE_BASE_BYTES_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes {
    const uint8_t *data; /* may be NULL when size is 0 */
    size_t size;
};

/* True on a big-endian host. */
#define BYTES_HOST_BIG (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

static inline uint16_t bytes_load16(const uint8_t *p, bool swap) {
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t bytes_load32(const uint8_t *p, bool swap) {
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t bytes_load64(const uint8_t *p, bool swap) {
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return swap ? __builtin_bswap64(v) : v;
}

/* The length of the text in `b`: up to its first NUL or, without one, all of it. */
static inline size_t bytes_text_len(struct bytes b) {
    return b.size ? strnlen((const char *)b.data, b.size) : 0;
}

static inline bool bytes_equal(struct bytes a, struct bytes b) {
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

#endif
