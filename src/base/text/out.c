/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/out.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text/utf8.h"

enum { BUFFER_BYTES = 64 * 1024, ROOM_MAX = OUT_ROOM_MAX + OUT_SPARE };

bool out_init(struct out *o, out_write_fn *write, void *ctx) {
    *o = (struct out){.cap = BUFFER_BYTES, .write = write, .ctx = ctx};
    o->buf = malloc(o->cap + ROOM_MAX);
    if (!o->buf)
        o->failed = true;
    return o->buf != NULL;
}

bool out_flush(struct out *o) {
    if (o->write && o->len && !o->failed && !o->write(o->ctx, o->buf, o->len))
        o->failed = true;
    if (o->write) {
        o->total += o->len;
        o->len = 0;
    }
    return !o->failed;
}

void out_fini(struct out *o) {
    free(o->buf);
    *o = (struct out){0};
}

const char *out_text(struct out *o) {
    o->buf[o->len] = 0;
    return o->buf;
}

char *out_room_slow(struct out *o, size_t n) {
    if (o->write) {
        out_flush(o);
    } else {
        char *p = realloc(o->buf, o->cap * 2 + ROOM_MAX);
        if (p) {
            o->buf = p;
            o->cap *= 2;
        } else {
            o->failed = true;
            o->len = 0;
        }
    }
    (void)n; /* with what is spare at most ROOM_MAX, which lies after cap in every buffer */
    return o->buf + o->len;
}

void out_mem_slow(struct out *o, const char *p, size_t n) {
    if (o->write && n >= o->cap / 2) { /* so much goes past the buffer */
        if (out_flush(o) && !o->write(o->ctx, p, n))
            o->failed = true;
        o->total += n;
        return;
    }
    while (n) {
        size_t part = n < OUT_ROOM_MAX ? n : OUT_ROOM_MAX;
        out_mem(o, p, part);
        p += part;
        n -= part;
    }
}

void out_printf(struct out *o, const char *fmt, ...) {
    char small[512];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(small, sizeof small, fmt, ap);
    va_end(ap);
    if (n < 0)
        return;
    if ((size_t)n < sizeof small) {
        out_mem(o, small, (size_t)n);
        return;
    }
    char *big = malloc((size_t)n + 1);
    if (!big) {
        o->failed = true;
        return;
    }
    va_start(ap, fmt);
    vsnprintf(big, (size_t)n + 1, fmt, ap);
    va_end(ap);
    out_mem(o, big, (size_t)n);
    free(big);
}

void out_fill_slow(struct out *o, char c, size_t n) {
    while (n) {
        size_t part = n < OUT_ROOM_MAX ? n : OUT_ROOM_MAX;
        out_fill(o, c, part);
        n -= part;
    }
}

static const char two_digits[201] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
    "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
    "8081828384858687888990919293949596979899";

static const char hex_pairs[513] = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
                                   "202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f"
                                   "404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f"
                                   "606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f"
                                   "808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f"
                                   "a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebf"
                                   "c0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9dadbdcdddedf"
                                   "e0e1e2e3e4e5e6e7e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff";

/* Digits of v, written backwards ending before `end`; returns the first. */
static char *digits(char *end, uint64_t v) {
    while (v >= 100) {
        unsigned r = (unsigned)(v % 100);
        v /= 100;
        end -= 2;
        memcpy(end, two_digits + 2 * r, 2);
    }
    if (v >= 10) {
        end -= 2;
        memcpy(end, two_digits + 2 * v, 2);
    } else {
        *--end = (char)('0' + v);
    }
    return end;
}

static char *hex_digits(char *end, uint64_t v) {
    for (; v >> 8; v >>= 8) {
        end -= 2;
        memcpy(end, hex_pairs + 2 * (v & 0xff), 2);
    }
    do
        *--end = "0123456789abcdef"[v & 15];
    while (v >>= 4);
    return end;
}

enum { NUMBER_MAX = 24 }; /* characters of any number */
_Static_assert(NUMBER_MAX <= (int)OUT_SPARE, "numbers are copied with what lies behind them");

/* `first` is the first of a number's characters, which end in the middle of an array of 2 * NUMBER_MAX. */
static void number(struct out *o, const char *first, const char *end, unsigned width, char pad) {
    size_t n = (size_t)(end - first);
    if (n < width)
        out_fill(o, pad, width - n);
    memcpy(out_room(o, n), first, NUMBER_MAX);
    o->len += n;
}

void out_dec(struct out *o, uint64_t v, unsigned width) {
    char tmp[2 * NUMBER_MAX], *end = tmp + NUMBER_MAX;
    number(o, digits(end, v), end, width, ' ');
}

void out_int(struct out *o, int64_t v, unsigned width) {
    char tmp[2 * NUMBER_MAX], *end = tmp + NUMBER_MAX;
    char *first = digits(end, v < 0 ? -(uint64_t)v : (uint64_t)v);
    if (v < 0)
        *--first = '-';
    number(o, first, end, width, ' ');
}

void out_dec0(struct out *o, uint64_t v, unsigned width) {
    char tmp[2 * NUMBER_MAX], *end = tmp + NUMBER_MAX;
    number(o, digits(end, v), end, width, '0');
}

void out_hex(struct out *o, uint64_t v, unsigned width) {
    char tmp[2 * NUMBER_MAX], *end = tmp + NUMBER_MAX;
    number(o, hex_digits(end, v), end, width, ' ');
}

void out_hex0(struct out *o, uint64_t v, unsigned width) {
    char tmp[2 * NUMBER_MAX], *end = tmp + NUMBER_MAX;
    number(o, hex_digits(end, v), end, width, '0');
}

void out_plain(struct out *o, const char *p, size_t n) {
    const unsigned char *at = (const unsigned char *)p;
    for (size_t i = 0, len; i < n; i += len ? len : 1) {
        len = utf8_len(at + i, n - i);
        uint32_t c = len ? utf8_char(at + i, len) : 0;
        if (c < ' ' || (c >= 0x7f && c < 0xa0))
            out_char(o, '?');
        else
            out_mem(o, p + i, len);
    }
}

void out_right(struct out *o, const char *p, size_t n, size_t width) {
    if (n < width)
        out_fill(o, ' ', width - n);
    out_mem(o, p, n);
}

void out_left(struct out *o, const char *p, size_t n, size_t width) {
    out_mem(o, p, n);
    if (n < width)
        out_fill(o, ' ', width - n);
}
