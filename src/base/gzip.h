/* SPDX-License-Identifier: Apache-2.0 */
/* Streams of gzip (RFC 1952). */
#ifndef SONDE_BASE_GZIP_H
#define SONDE_BASE_GZIP_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/text/out.h"

/* A sink that compresses what is written to it into another one. In a build without zlib the bytes stay as
 * they are. */
struct gzip_out;
/* NULL: out of memory. `to` is borrowed. */
struct gzip_out *gzip_out_new(struct out *to);
struct out *gzip_out_sink(struct gzip_out *g);
/* Writes what is left, and the end. False: out of memory; or `to` failed. */
bool gzip_out_end(struct gzip_out *g);
void gzip_out_free(struct gzip_out *g); /* NULL is allowed */

/* Whether the bytes begin as gzip's do. */
static inline bool gzip_is(struct bytes b) {
    return b.size > 2 && b.data[0] == 0x1f && b.data[1] == 0x8b;
}
/* Decompresses one member of at most `most` bytes into *out, which the caller frees. False with *err: broken,
 * larger, memory, or a build without zlib. */
bool gzip_read(struct bytes b, size_t most, struct bytes *out, struct err *err);

#endif
