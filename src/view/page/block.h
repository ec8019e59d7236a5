/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A block of the page's data: named columns of numbers, each a sequence of varints, after a header in JSON
 * (docs/PAGE.md).
 *
 *     struct block b = {0};
 *     struct block_column *up = block_column(&b, "node.up", false);
 *     for (...) block_put(up, n);
 *     json = block_header(&b, "sonde-tree"); json_text(json, "title", ...); ...
 *     block_write(&b, out)
 */
#ifndef SONDE_VIEW_PAGE_BLOCK_H
#define SONDE_VIEW_PAGE_BLOCK_H

#include "base/err.h"
#include "base/text/json.h"
#include "base/text/out.h"

enum { BLOCK_COLUMNS_MAX = 24 };

struct block_column {
    const char *name;
    bool deltas; /* differences, which may be negative, instead of the numbers */
    uint64_t count, last;
    struct out bytes;
};

/* Zeroed at first. */
struct block {
    struct block_column columns[BLOCK_COLUMNS_MAX];
    unsigned column_count;
    struct out header;
    struct json json;
    bool failed; /* memory */
};

/* Adds an empty column, which lives as long as the block. `name` is borrowed; with `deltas` it ends in "+".
 */
struct block_column *block_column(struct block *b, const char *name, bool deltas);
void block_put(struct block_column *c, uint64_t value);

/* Begins the header: the caller adds members. */
struct json *block_header(struct block *b, const char *format);

/* Appends the whole block, compressed by gzip, to an out without a write function. False: out of memory. */
bool block_compress(struct block *b, struct out *out);
void block_fini(struct block *b);

/* Appends base64 (RFC 4648). */
void block_put_base64(const struct out *bytes, struct out *out);

#endif
