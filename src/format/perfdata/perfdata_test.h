/* SPDX-License-Identifier: Apache-2.0 */
/* What unit tests about records share: repeatable random numbers, exactly sized copies, records put into a
 * recording. */
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
#include "format/perfdata/perfdata_sample.h"
#include "format/perfdata/record.h"

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

/* A whole record with `s` as its body, at the end of `w`; what `plan` does not have is left out. */
static inline void test_put_sample(struct writer *w, const struct perfdata_plan *plan, uint16_t misc,
                                   const struct perfdata_sample *s) {
    size_t at = w->size;
    writer_u32(w, PERFDATA_RECORD_SAMPLE);
    writer_u16(w, misc);
    writer_u16(w, 0);
    perfdata_sample_encode(plan, s, w);
    writer_patch16(w, at + 6, (uint16_t)(w->size - at));
}

/* A record of any type whose body is all zeros; `size` is the header's and may be less than a header. */
static inline void test_put_zeros(struct writer *w, uint32_t type, uint16_t size) {
    writer_u32(w, type);
    writer_u16(w, 0);
    writer_u16(w, size);
    writer_zero(w, size > PERFDATA_HEADER_SIZE ? size - PERFDATA_HEADER_SIZE : 0);
}

#endif
