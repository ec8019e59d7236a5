/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A buffered text sink with fast number formatting: what views write to. The
 * owner (cmd/, a test) gives the function that takes full buffers. Failure is
 * sticky; after it everything is dropped.
 */
#ifndef SONDE_BASE_OUT_H
#define SONDE_BASE_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Takes `n` bytes; false when they could not be written (errno stays for the caller). */
typedef bool out_write_fn(void *ctx, const char *p, size_t n);

struct out {
    char *buf; /* owned */
    size_t len, cap;
    uint64_t total; /* bytes handed over so far, not counting what is buffered */
    out_write_fn *write;
    void *ctx;
    bool failed;
};

/* Appends to buf without bound when `write` is NULL (for tests and strings). False when memory ran out. */
bool out_init(struct out *o, out_write_fn *write, void *ctx);
/* Flushes what is left; false when anything could not be written since out_init. */
bool out_flush(struct out *o);
/* Frees the buffer, without flushing. */
void out_fini(struct out *o);
/* What is buffered, as a NUL-terminated string (only for an out without a write function). */
const char *out_text(struct out *o);

enum { OUT_ROOM_MAX = 4096, OUT_SPARE = 64, OUT_STEP = 32 /* of filling, which may go beyond the end */ };

/* Room for `n` (at most OUT_ROOM_MAX) contiguous bytes, and for OUT_SPARE more, which may be scribbled on;
 * the caller adds what it used to o->len. Never NULL. */
char *out_room_slow(struct out *o, size_t n);
static inline char *out_room(struct out *o, size_t n) {
    return __builtin_expect(o->cap - o->len >= n, 1) ? o->buf + o->len : out_room_slow(o, n);
}

void out_mem_slow(struct out *o, const char *p, size_t n);
/* p may be NULL when n is 0. */
static inline void out_mem(struct out *o, const char *p, size_t n) {
    if (__builtin_expect(n - 1 >= OUT_ROOM_MAX, 0)) {
        out_mem_slow(o, p, n);
        return;
    }
    memcpy(out_room(o, n), p, n);
    o->len += n;
}
static inline void out_str(struct out *o, const char *s) {
    out_mem(o, s, strlen(s));
}
static inline void out_char(struct out *o, char c) {
    *out_room(o, 1) = c;
    o->len++;
}
void out_printf(struct out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void out_fill_slow(struct out *o, char c, size_t n);
/* `n` times `c`. */
static inline void out_fill(struct out *o, char c, size_t n) {
    if (__builtin_expect(n > OUT_ROOM_MAX, 0)) {
        out_fill_slow(o, c, n);
        return;
    }
    char *to = out_room(o, n);
    for (size_t i = 0; i < n; i += OUT_STEP)
        memset(to + i, c, OUT_STEP);
    o->len += n;
}
/* Decimal, right-aligned to `width` with spaces (0: no padding), like %*PRIu64. */
void out_dec(struct out *o, uint64_t v, unsigned width);
/* As out_dec for signed, like %*PRId64. */
void out_int(struct out *o, int64_t v, unsigned width);
/* Decimal, zero-padded to `width`, like %0*PRIu64. */
void out_dec0(struct out *o, uint64_t v, unsigned width);
/* Lower-case hex without 0x, right-aligned to `width` with spaces, like %*PRIx64. */
void out_hex(struct out *o, uint64_t v, unsigned width);
/* Lower-case hex, zero-padded to `width`. */
void out_hex0(struct out *o, uint64_t v, unsigned width);
/* Sixteen digits, like %016PRIx64, straight to where they belong. */
static inline void out_put_hex16(char *to, uint64_t v) {
    for (int i = 0; i < 2; i++, v <<= 32) {
        uint64_t x = v >> 32; /* its digits, one to a byte, last one lowest */
        x = (x | x << 16) & 0x0000ffff0000ffff;
        x = (x | x << 8) & 0x00ff00ff00ff00ff;
        x = (x | x << 4) & 0x0f0f0f0f0f0f0f0f;
        uint64_t letters = (x + 0x0606060606060606) >> 4 & 0x0101010101010101;
        x = __builtin_bswap64(x + 0x3030303030303030 + letters * ('a' - '0' - 10));
        memcpy(to + 8 * i, &x, 8);
    }
}
/* A text of `n` bytes that somebody else chose, for a terminal: each control character, and each byte that is
 * no UTF-8, becomes `?`. */
void out_plain(struct out *o, const char *p, size_t n);
/* A text of `n` bytes, right-aligned to `width` (like %*s). */
void out_right(struct out *o, const char *p, size_t n, size_t width);
/* A text of `n` bytes, left-aligned to `width` (like %-*s). */
void out_left(struct out *o, const char *p, size_t n, size_t width);

#endif
