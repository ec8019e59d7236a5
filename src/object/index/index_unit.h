/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A unit's index as one block of bytes, in this machine's byte order:
 *
 *   head | lines, by address | pieces, by address | instances | texts, each with its NUL; the first is empty
 *
 * A line or piece is valid up to the next one. Addresses count from head.base; texts are offsets in the
 * texts. Every number is checked where it is used, as a block may come from a cache.
 */
#ifndef SONDE_OBJECT_INDEX_INDEX_UNIT_H
#define SONDE_OBJECT_INDEX_INDEX_UNIT_H

#include "object/dwarf/lines.h"
#include "object/index/dinfo.h"

#define INDEX_NONE UINT32_MAX
enum { INDEX_DEPTH_MAX = 128 }; /* instances inside each other */

struct index_head {
    uint64_t base;
    uint32_t lines, pieces, instances, text_bytes;
};

struct index_line {
    uint32_t at, file, line; /* file: 0: nothing is known from here on */
};

struct index_piece {
    uint32_t at, instance; /* the innermost; INDEX_NONE: no function */
};

/* A function, or one that was inlined. */
struct index_instance {
    uint32_t parent;     /* what it was inlined into; INDEX_NONE: it is a function */
    uint32_t name;       /* a text */
    uint32_t file, line; /* of the call; 0: not known */
};

/* Borrows the block. */
struct index_unit {
    uint64_t base;
    const struct index_line *lines;
    const struct index_piece *pieces;
    const struct index_instance *instances;
    const char *texts;
    uint32_t line_count, piece_count, instance_count, text_bytes;
};

/* False: the block is not as it should be. It must lie at a multiple of 8. */
bool index_unit_open(struct bytes block, struct index_unit *out);

/* The line at an address. False: none is known. */
bool index_unit_line(const struct index_unit *u, uint64_t addr, struct object_line *out);
/* The instances at an address from the innermost outwards, as object_lines_inlined; of the first one the line
 * is left empty. 0: no function is known. */
size_t index_unit_chain(const struct index_unit *u, uint64_t addr, struct object_inline *out, size_t max);

/* Makes the block of a unit (malloc()ed). `u` is the unit with its functions, `of_lines` the one with its
 * lines; they differ where DWARF is split. False: out of memory. */
bool index_unit_make(struct dinfo_unit *u, const struct dinfo_unit *of_lines, struct bytes *out);

#endif
