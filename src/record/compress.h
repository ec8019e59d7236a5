/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records as COMPRESSED records: one zstd stream over the whole recording, flushed at each record's end
 * (perf.data-file-format.txt). Not COMPRESSED2, whose only difference is padding: perf before 6.16 stops
 * there.
 */
#ifndef SONDE_RECORD_COMPRESS_H
#define SONDE_RECORD_COMPRESS_H

#include "base/err.h"
#include "base/writer.h"

struct record_compress {
    void *zstd;           /* NULL: not in use */
    struct writer out;    /* COMPRESSED records of the last call */
    struct writer joined; /* a record that lay in two pieces */
    uint64_t in, written; /* bytes so far, headers included in `written` */
};

/* False and *err (ERR_UNSUPPORTED: this build has no zstd). */
bool record_compress_init(struct record_compress *z, int level, struct err *err);
void record_compress_fini(struct record_compress *z);

/* Compresses the spans' records into z->out, which is valid until the next call. A record may begin in one
 * span and end in the next; none is cut, up to 60 KiB, so that where a full disk ends the file it ends behind
 * whole ones. */
bool record_compress_spans(struct record_compress *z, const struct bytes *spans, size_t count,
                           struct err *err);

/* Appends `plain` as a zstd frame of its own or, in a build without zstd or where that is no shorter, as it
 * is. False when memory ran out. */
bool record_compress_pack(struct bytes plain, struct writer *w);

#endif
