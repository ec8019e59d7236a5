/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bounded reader that every byte from outside goes through.
 *
 * Failure is sticky: a read past the end returns zero (or an empty span), sets
 * `failed`, and every later read returns zero too. A parser reads what it
 * needs and asks cursor_ok() once. Byte order lives here and nowhere else.
 */
#ifndef SONDE_BASE_CURSOR_H
#define SONDE_BASE_CURSOR_H

#include "base/bytes.h"

struct cursor {
    const uint8_t *at, *end;
    const uint8_t *start;
    bool swap; /* the bytes are in the other byte order */
    bool failed;
};

static inline struct cursor cursor_make(struct bytes b, bool swap) {
    static const uint8_t nothing[1] = {0}; /* data may be NULL, and NULL + 0 is undefined (C17 6.5.6) */
    const uint8_t *start = b.data ? b.data : nothing;
    return (struct cursor){start, start + b.size, start, swap, false};
}

static inline bool cursor_ok(const struct cursor *c) {
    return !c->failed;
}
static inline size_t cursor_left(const struct cursor *c) {
    return (size_t)(c->end - c->at);
}
static inline size_t cursor_pos(const struct cursor *c) {
    return (size_t)(c->at - c->start);
}

/* `n` bytes and a step past them; NULL, and failed, when fewer are left. */
static inline const uint8_t *cursor_take(struct cursor *c, uint64_t n) {
    if (__builtin_expect(n > cursor_left(c), 0)) {
        c->failed = true;
        c->at = c->end;
        return NULL;
    }
    const uint8_t *p = c->at;
    if (n) /* as in cursor_make */
        c->at += n;
    return p;
}

static inline uint8_t cursor_u8(struct cursor *c) {
    const uint8_t *p = cursor_take(c, 1);
    return p ? *p : 0;
}

static inline uint16_t cursor_u16(struct cursor *c) {
    const uint8_t *p = cursor_take(c, 2);
    return p ? bytes_load16(p, c->swap) : 0;
}

static inline uint32_t cursor_u32(struct cursor *c) {
    const uint8_t *p = cursor_take(c, 4);
    return p ? bytes_load32(p, c->swap) : 0;
}

static inline uint64_t cursor_u64(struct cursor *c) {
    const uint8_t *p = cursor_take(c, 8);
    return p ? bytes_load64(p, c->swap) : 0;
}

static inline struct bytes cursor_bytes(struct cursor *c, uint64_t n) {
    const uint8_t *p = cursor_take(c, n);
    return p ? (struct bytes){p, (size_t)n} : (struct bytes){NULL, 0};
}

/* LEB128 numbers (DWARF 5, 7.6). What does not fit into 64 bits is cut off. */
static inline uint64_t cursor_uleb(struct cursor *c) {
    uint64_t v = 0;
    uint8_t byte = 0x80;
    for (unsigned shift = 0; byte & 0x80; shift += 7) {
        byte = cursor_u8(c); /* 0, which is an end, when it fails */
        v |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
    }
    return v;
}

static inline int64_t cursor_sleb(struct cursor *c) {
    uint64_t v = 0;
    uint8_t byte = 0x80;
    unsigned shift = 0;
    for (; byte & 0x80; shift += 7) {
        byte = cursor_u8(c);
        v |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
    }
    return (int64_t)(byte & 0x40 && shift < 64 ? v | ~0ull << shift : v);
}

static inline struct bytes cursor_rest(struct cursor *c) {
    return cursor_bytes(c, cursor_left(c));
}

#endif
