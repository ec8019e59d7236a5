/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers as digits straight into a char buffer, without a sink and without
 * branches per digit: for text printed millions of times. The caller provides
 * the room; each function returns the position after what it wrote.
 */
#ifndef SONDE_BASE_DIGITS_H
#define SONDE_BASE_DIGITS_H

#include <stdint.h>
#include <string.h>

#include "base/bytes.h"

/* A char each, in the order of memory, on any CPU. */
typedef uint8_t digits_chars __attribute__((vector_size(16)));
typedef int8_t digits_numbers __attribute__((vector_size(16)));
typedef uint64_t digits_words __attribute__((vector_size(16)));

/* The first eight of each, taking turns. */
#define DIGITS_TURNS 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#ifdef __clang__
#define DIGITS_TAKE_TURNS(a, b) __builtin_shufflevector(a, b, DIGITS_TURNS)
#else /* gcc knows the other one from 12 on */
#define DIGITS_TAKE_TURNS(a, b) __builtin_shuffle(a, b, (digits_chars){DIGITS_TURNS})
#endif

/* As %16PRIx64: always 16 chars, right-aligned with spaces. */
static inline char *digits_hex16(char *p, uint64_t v) {
    /* What makes spaces of zeros, to be moved to the right by as many places as the number has. */
    static const uint8_t blank[32] = {0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10,
                                      0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10};
    _Static_assert('0' - 0x10 == ' ', "a zero without that bit is a space");
    digits_chars spaces, bytes = (digits_chars)(digits_words){htobe64(v), 0}, low = bytes & 0xf;
    memcpy(&spaces, blank + 16 - (unsigned)__builtin_clzll(v | 1) / 4, sizeof spaces);
    digits_chars digits = DIGITS_TAKE_TURNS(bytes >> 4, low);
    digits_chars letters = (digits_chars)((digits_numbers)digits > 9);
    digits += '0' + (letters & ('a' - '0' - 10)) - spaces;
    memcpy(p, &digits, sizeof digits);
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

/* The eight digits of v < 100,000,000 as numbers, the first one in the lowest byte: halves of it, each split
 * into halves, with multiplications for all divisions of a step. */
static inline uint64_t digits_eight(uint32_t v) {
    uint64_t fours = v / 10000 | (uint64_t)(v % 10000) << 32;
    uint64_t hundreds = fours * 10486 >> 20 & 0x0000007f0000007fu; /* 10486 / 2^20: 1 / 100 up to 43,698 */
    uint64_t twos = hundreds | (fours - hundreds * 100) << 16;
    uint64_t tens = twos * 103 >> 10 & 0x000f000f000f000fu; /* 103 / 2^10: 1 / 10 up to 178 */
    return tens | (twos - tens * 10) << 8;
}

static inline void digits_put_eight(char *p, uint64_t chars) {
    chars = htole64(chars);
    memcpy(p, &chars, 8);
}

/* As %*PRIu64; needs room for max(width, 20). */
static inline char *digits_dec(char *p, uint64_t v, unsigned width) {
    const uint64_t zeros = 0x3030303030303030u, spaces = 0x2020202020202020u;
    if (__builtin_expect(v >= 100000000, 0)) {
        p = digits_dec(p, v / 100000000, width > 8 ? width - 8 : 0);
        digits_put_eight(p, digits_eight((uint32_t)(v % 100000000)) + zeros);
        return p + 8;
    }
    for (; width > 16; width--)
        *p++ = ' ';
    if (width > 8) {
        digits_put_eight(p, spaces);
        p += width - 8;
        width = 8;
    }
    uint64_t digits = digits_eight((uint32_t)v);
    unsigned leading = digits ? (unsigned)__builtin_ctzll(digits) / 8 : 7, most = 8 - width;
    uint64_t chars = digits + zeros - ((zeros - spaces) & ((1ull << 8 * leading) - 1));
    leading = leading < most ? leading : most;
    digits_put_eight(p, chars >> 8 * leading);
    return p + 8 - leading;
}

/* Exactly six digits of v < 1,000,000. */
static inline char *digits_six(char *p, unsigned v) {
    p = digits_two(p, v / 10000);
    p = digits_two(p, v / 100 % 100);
    return digits_two(p, v % 100);
}

#endif
