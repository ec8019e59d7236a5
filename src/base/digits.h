/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers as digits straight into a char buffer, without a sink and without
 * branches per digit: for text printed millions of times. The caller provides
 * the room; each function returns the position behind what it wrote.
 */
#ifndef SONDE_BASE_DIGITS_H
#define SONDE_BASE_DIGITS_H

#include <stdint.h>
#include <string.h>

#include "base/bytes.h"

/* The eight hex digits of v as eight chars, the highest digit in the lowest byte of the (little-endian) word.
 */
static inline uint64_t digits_hex_word(uint32_t v) {
    uint64_t w = __builtin_bswap32(v);
    w = (w | w << 16) & 0x0000ffff0000ffffu;
    w = (w | w << 8) & 0x00ff00ff00ff00ffu;
    /* each 16-bit lane holds one byte: its high nibble goes first */
    w = (w >> 4 & 0x000f000f000f000fu) | (w & 0x000f000f000f000fu) << 8;
    uint64_t letters = (w + 0x0606060606060606u) >> 4 & 0x0101010101010101u;
    return w + 0x3030303030303030u + letters * ('a' - '0' - 10);
}

/* As %16PRIx64: always 16 chars, right-aligned with spaces. */
static inline char *digits_hex16(char *p, uint64_t v) {
    uint64_t high = digits_hex_word((uint32_t)(v >> 32)), low = digits_hex_word((uint32_t)v);
    unsigned zeros = v ? (unsigned)__builtin_clzll(v) / 4 : 15;
    if (zeros) {
        uint64_t spaces = 0x2020202020202020u;
        uint64_t high_mask = zeros >= 8 ? ~0ull : (1ull << 8 * zeros) - 1;
        uint64_t low_mask = zeros > 8 ? (1ull << 8 * (zeros - 8)) - 1 : 0;
        high = (high & ~high_mask) | (spaces & high_mask);
        low = (low & ~low_mask) | (spaces & low_mask);
    }
    high = htole64(high);
    low = htole64(low);
    memcpy(p, &high, 8);
    memcpy(p + 8, &low, 8);
    return p + 16;
}

/* Exactly two digits of v < 100. */
static inline char *digits_two(char *p, unsigned v) {
    static const char pairs[201] =
        "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
        "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
        "8081828384858687888990919293949596979899";
    memcpy(p, pairs + 2 * v, 2);
    return p + 2;
}

/* As %*PRIu64; needs room for max(width, 20). */
static inline char *digits_dec(char *p, uint64_t v, unsigned width) {
    char tmp[20], *end = tmp + sizeof tmp, *at = end;
    while (v >= 100) {
        at -= 2;
        digits_two(at, (unsigned)(v % 100));
        v /= 100;
    }
    if (v >= 10) {
        at -= 2;
        digits_two(at, (unsigned)v);
    } else {
        *--at = (char)('0' + v);
    }
    unsigned n = (unsigned)(end - at);
    for (; n < width; width--)
        *p++ = ' ';
    memcpy(p, at, n);
    return p + n;
}

/* Exactly six digits of v < 1,000,000. */
static inline char *digits_six(char *p, unsigned v) {
    p = digits_two(p, v / 10000);
    p = digits_two(p, v / 100 % 100);
    return digits_two(p, v % 100);
}

#endif
