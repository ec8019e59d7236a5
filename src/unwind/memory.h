/* SPDX-License-Identifier: Apache-2.0 */
/* Words of a dumped stack. */
#ifndef SONDE_UNWIND_MEMORY_H
#define SONDE_UNWIND_MEMORY_H

#include "base/bytes.h"
#include "unwind/step.h"

/* UNWIND_CALLER: *out is the word at `address`; UNWIND_CUT: it lies after the dump's end; UNWIND_BROKEN:
 * before its start. */
static inline enum unwind_result unwind_read(const struct unwind_stack *s, uint64_t address, unsigned size,
                                             uint64_t *out) {
    uint64_t at = address - s->start;
    if (__builtin_expect(address < s->start, 0))
        return UNWIND_BROKEN;
    if (__builtin_expect(at > s->size || s->size - at < size, 0))
        return UNWIND_CUT;
    const uint8_t *p = s->bytes + at;
    *out = size == 8   ? bytes_load64(p, s->swap)
           : size == 4 ? bytes_load32(p, s->swap)
           : size == 2 ? bytes_load16(p, s->swap)
                       : *p;
    return UNWIND_CALLER;
}

#endif
