/* SPDX-License-Identifier: Apache-2.0 */
/* Reading hexadecimal digits. */
#ifndef SONDE_BASE_HEX_H
#define SONDE_BASE_HEX_H

#include <stdint.h>

enum { HEX_NONE = 16 };

/* The value of a digit, of either case; HEX_NONE: it is none. */
static inline unsigned hex_digit(uint8_t c) {
    unsigned letter = c | 0x20u;
    return c >= '0' && c <= '9' ? c - '0' : letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : HEX_NONE;
}

#endif
