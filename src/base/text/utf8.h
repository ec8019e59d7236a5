/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 (RFC 3629). */
#ifndef SONDE_BASE_UTF8_H
#define SONDE_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Returns the length of the sequence at p, which has n > 0 bytes, or 0 if it is invalid. */
static inline size_t utf8_len(const unsigned char *p, size_t n) {
    if (p[0] < 0x80)
        return 1;
    size_t len = p[0] >= 0xf0 && p[0] <= 0xf4  ? 4
                 : p[0] >= 0xe0 && p[0] < 0xf0 ? 3
                 : p[0] >= 0xc2 && p[0] < 0xe0 ? 2
                                               : 0;
    if (!len || len > n)
        return 0;
    for (size_t i = 1; i < len; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] >= 0xa0) || (p[0] == 0xf0 && p[1] < 0x90) ||
        (p[0] == 0xf4 && p[1] >= 0x90))
        return 0;
    return len;
}

/* Returns the character of a valid sequence. */
static inline uint32_t utf8_char(const unsigned char *p, size_t len) {
    uint32_t c = len == 1 ? p[0] : p[0] & (0x7f >> len);
    for (size_t i = 1; i < len; i++)
        c = c << 6 | (p[i] & 0x3f);
    return c;
}

/* Writes a character's sequence to `to`, which has room for 4 bytes; returns its length. */
static inline size_t utf8_put(uint32_t c, char *to) {
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    size_t len = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = len; i-- > 1; c >>= 6)
        to[i] = (char)(0x80 | (c & 0x3f));
    to[0] = (char)(0xf00 >> len | c);
    return len;
}

#endif
