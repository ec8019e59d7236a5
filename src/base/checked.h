/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic that says when it overflowed. */
#ifndef SONDE_BASE_CHECKED_H
#define SONDE_BASE_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

/* False, and *out is unspecified: overflow. */
static inline bool checked_add(uint64_t a, uint64_t b, uint64_t *out) {
    return !__builtin_add_overflow(a, b, out);
}

/* True when [offset, offset+size) lies inside [0, limit). */
static inline bool checked_range(uint64_t offset, uint64_t size, uint64_t limit) {
    return offset <= limit && size <= limit - offset;
}

#endif
