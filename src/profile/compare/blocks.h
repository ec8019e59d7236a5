/* SPDX-License-Identifier: Apache-2.0 */
/* Compared rows' basic blocks, and how many cycles more or less each of them took (perf-diff(1), cycles). */
#ifndef SONDE_PROFILE_COMPARE_BLOCKS_H
#define SONDE_PROFILE_COMPARE_BLOCKS_H

#include "profile/compare/compare.h"

/* A block of a row's function on a side that is not the base. */
struct compare_block {
    const char *range;  /* "[mix+4 -> mix+16]"; in the arena */
    int64_t difference; /* of the mean cycles; 0 if the base lacks the block */
    uint64_t start, end;
    uint32_t row, side;
    uint32_t pairs;                             /* single measurements on both sides, in the order of time */
    uint32_t differences[PROFILE_BLOCK_VALUES]; /* of each pair, without a sign */
    double variation; /* standard error of their mean, in per cent of it; negative: there are too few */
};

struct compare_blocks {
    struct arena arena;
    VEC(struct compare_block) list; /* by row and side, largest difference first */
    VEC(size_t) starts;             /* by row, and one more: its first in the list */
    VEC(bool) shown;                /* by row: all sides that have the row have blocks of it */
};

/* Finds the blocks of all rows of `c`, whose keys tell functions apart, into `out` (zeroed;
 * compare_blocks_fini in any case). The profiles have options.blocks and options.block_values. False and
 * *err: out of memory. */
bool compare_blocks_find(const struct compare *c, const struct compare_side *sides,
                         struct compare_blocks *out, struct err *err);
void compare_blocks_fini(struct compare_blocks *b);

#endif
