/* SPDX-License-Identifier: Apache-2.0 */
/* What the unit tests of this folder share: repeatable random numbers and exactly sized copies. */
#ifndef SONDE_FORMAT_PERFDATA_TEST_H
#define SONDE_FORMAT_PERFDATA_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/writer.h"

static inline uint64_t test_random(uint64_t *state) {
    return hash_u64(*state += 0x9e3779b97f4a7c15u);
}

static inline uint64_t test_below(uint64_t *state, uint64_t n) {
    return test_random(state) % n;
}

/* `size` bytes in a block of exactly that size, so that the address sanitizer sees every step outside. */
static inline uint8_t *test_copy(const uint8_t *data, size_t size) {
    uint8_t *p = malloc(size ? size : 1);
    assert_non_null(p);
    if (size)
        memcpy(p, data, size);
    return p;
}

static inline void assert_bytes(struct bytes got, const void *want, size_t size) {
    assert_int_equal(got.size, size);
    if (size)
        assert_memory_equal(got.data, want, size);
}

#endif
