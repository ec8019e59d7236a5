/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was made of an image's index as one file. All numbers are in the machine's byte order:
 *
 *   char magic[8]        "sondeln1"
 *   u64 checksum         XXH3-64 (xxHash, seed 0) of everything after it up to the first block
 *   u32 order            0x01020304
 *   u32 key size, key    identifies the image; padded with zeros to 8 bytes
 *   u64 units, ranges, rangeless
 *   ranges, each         struct index_range
 *   rangeless, each      u32 unit; padded with zeros to 8 bytes
 *   units, each          struct index_file_unit: where its block is; size 0: not made yet
 *   blocks               (index_unit.h), each at a multiple of 8
 *
 * A file may be anybody's bytes: every number is checked, and a block when it is first used.
 */
#ifndef SONDE_OBJECT_INDEX_INDEX_FILE_H
#define SONDE_OBJECT_INDEX_INDEX_FILE_H

#include "base/vec.h"
#include "base/writer.h"

/* Code of a unit. Ranges may overlap or nest in odd images; the one that begins last is asked first. */
struct index_range {
    uint64_t start, end; /* end: exclusive */
    uint64_t reach;      /* the furthest end of this and all before: where to stop looking back */
    uint64_t unit;
};

struct index_file_unit {
    uint64_t at, size, checksum;
};

/* Borrows the file. */
struct index_file {
    struct bytes bytes;
    const struct index_range *ranges;
    const uint32_t *rangeless;
    const struct index_file_unit *units;
    uint32_t unit_count, range_count, rangeless_count;
};

/* False: the file is not of this key, or damaged. It must lie at a multiple of 8. */
bool index_file_open(struct bytes file, struct bytes key, struct index_file *out);
/* A unit's block; empty: it is not there, or damaged. */
struct bytes index_file_block(const struct index_file *f, uint32_t unit);

/* What goes into a file. */
struct index_file_content {
    const struct index_range *ranges;
    const uint32_t *rangeless;
    const struct bytes *blocks; /* by unit; empty: not made */
    uint32_t unit_count, range_count, rangeless_count;
};
/* Writes everything up to the first block; blocks follow in their order, each filled up to a multiple of 8.
 */
void index_file_encode(const struct index_file_content *c, struct bytes key, struct writer *to);

#endif
