/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records as COMPRESSED records: one zstd stream over the whole recording (perf.data-file-format.txt). The
 * less often it is flushed the smaller it gets: once a call, and within one every
 * RECORD_COMPRESS_FLUSH_BYTES, always at the end of a record. A COMPRESSED record that is as large as one can
 * be goes on in the next one. Not COMPRESSED2, whose only difference is padding: perf before 6.16 stops there
 * (docs/differences.md).
 */
#ifndef SONDE_RECORD_WRITE_COMPRESS_H
#define SONDE_RECORD_WRITE_COMPRESS_H

#include "base/err.h"
#include "base/writer.h"

enum {
    RECORD_COMPRESS_RECORD_MAX = UINT16_MAX & ~7,
    RECORD_COMPRESS_FLUSH_BYTES = 1 << 20,
    /* No COMPRESSED record holds more; perf takes the number from the feature COMPRESSED. */
    RECORD_COMPRESS_DECODED_MAX = 2 << 20,
};

struct record_compress {
    void *zstd;           /* NULL: not in use */
    struct writer out;    /* COMPRESSED records of the last call */
    struct writer joined; /* a record that lay in two pieces */
    size_t waiting;       /* bytes in zstd's hands since it was flushed */
    size_t payload;       /* of the record that is being filled, at the end of `out` */
    uint64_t in, written; /* bytes so far, headers included in `written` */
};

/* For the feature COMPRESSED, which calls it the size of a ring. */
static inline uint32_t record_compress_decoded(uint64_t ring_bytes) {
    return ring_bytes > RECORD_COMPRESS_DECODED_MAX ? (uint32_t)ring_bytes : RECORD_COMPRESS_DECODED_MAX;
}

/* False and *err (ERR_UNSUPPORTED: this build has no zstd). */
bool record_compress_init(struct record_compress *z, int level, struct err *err);
void record_compress_fini(struct record_compress *z);

/* Compresses the spans' records into z->out, which is valid until the next call. A record may begin in one
 * span and end in the next; none is cut where the stream is flushed, so that where a full disk ends the file
 * it ends after whole ones. */
bool record_compress_spans(struct record_compress *z, const struct bytes *spans, size_t count,
                           struct err *err);

#endif
