/* SPDX-License-Identifier: Apache-2.0 */
/*
 * COMPRESSED and COMPRESSED2 records: one zstd frame per recording (or per file of a directory), cut into
 * records at any place, even within a record of its content (perf.data-file-format.txt). Expanded once, into
 * a spool.
 *
 *   input:      [FINISHED_ROUND][COMPRESSED ~~~][COMPRESSED ~~][FINISHED_ROUND]
 *   expansion:  ...[SAMPLE][SAMP            LE][SAMPLE][FINISHED_ROUND]
 *
 * A plain record between two compressed ones is inserted before a record that is only half expanded.
 */
#include "stream/stream_internal.h"

#include "base/log.h"
#include "config.h"

#include <inttypes.h>

#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

void stream_expansion_close(struct stream_expansion *x) {
#ifdef HAVE_ZSTD
    ZSTD_freeDCtx(x->dctx);
#endif
    if (x->active)
        os_spool_close(&x->spool);
    vec_fini(&x->origins);
}

static bool note_origin(struct stream *s, uint64_t start, uint64_t file_offset, struct err *err) {
    struct stream_expansion *x = &s->expansion;
    size_t n = x->origins.count;
    if (n && file_offset == x->origins.items[n - 1].file_offset)
        return true;
    struct stream_origin *o = vec_push(&x->origins);
    if (!o)
        return err_memory(err, s->path);
    *o = (struct stream_origin){start, file_offset};
    return true;
}

uint64_t stream_expand_origin(const struct stream *s, uint64_t at) {
    const struct stream_origin *o = s->expansion.origins.items;
    size_t lo = 0, hi = s->expansion.origins.count;
    if (hi && o[hi - 1].start <= at) /* in the first pass it is always the newest */
        return o[hi - 1].file_offset;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (o[mid].start <= at)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo ? o[lo - 1].file_offset : 0;
}

uint64_t stream_expanded(const struct stream *s, uint32_t type) {
    bool known = type == PERFDATA_RECORD_COMPRESSED || type == PERFDATA_RECORD_COMPRESSED2;
    return known ? s->expansion.records[type == PERFDATA_RECORD_COMPRESSED2] : 0;
}

void stream_expand_reset(struct stream *s) {
#ifdef HAVE_ZSTD
    if (s->expansion.dctx)
        ZSTD_DCtx_reset(s->expansion.dctx, ZSTD_reset_session_only);
#endif
    s->expansion.broken = false;
}

/* Inserts a plain record before the unfinished record at xpos. */
static bool insert_plain(struct stream *s, const struct stream_record *outer, struct err *err) {
    struct os_spool *spool = &s->expansion.spool;
    size_t head = outer->raw.size, n = head + outer->raw.payload.size, partial = spool->size - s->xpos;
    if (!os_spool_room(spool, n, err) || !note_origin(s, s->xpos, outer->file_offset, err))
        return false;
    uint8_t *at = spool->base + s->xpos;
    memmove(at + n, at, partial);
    memcpy(at, outer->raw.body.data - PERFDATA_HEADER_SIZE, n);
    os_spool_commit(spool, n);
    return true;
}

#ifdef HAVE_ZSTD

/* Whether `b` begins a zstd frame (RFC 8878, 3.1.1). */
static bool is_frame_start(struct bytes b) {
    return b.size >= 4 && bytes_load32(b.data, BYTES_HOST_BIG) == 0xFD2FB528u;
}

static bool inflate_frame(struct stream *s, const struct stream_record *outer, struct bytes frame,
                          struct err *err) {
    struct stream_expansion *x = &s->expansion;
    if (!x->dctx && !(x->dctx = ZSTD_createDCtx()))
        return err_memory(err, "zstd");
    if (x->broken && !is_frame_start(frame)) {
        stream_bad_record(s, outer, "its zstd frame is broken further up");
        return true;
    }
    if (x->broken)
        stream_expand_reset(s);
    if (!note_origin(s, x->spool.size, outer->file_offset, err))
        return false;
    ZSTD_inBuffer in = {frame.data, frame.size, 0};
    const size_t part = ZSTD_DStreamOutSize();
    for (bool full = false; in.pos < in.size || full;) {
        uint8_t *room = os_spool_room(&x->spool, part, err);
        if (!room)
            return false;
        ZSTD_outBuffer out = {room, part, 0};
        size_t r = ZSTD_decompressStream(x->dctx, &out, &in);
        if (ZSTD_isError(r)) {
            x->broken = true;
            stream_bad_record(s, outer, ZSTD_getErrorName(r));
            return true;
        }
        os_spool_commit(&x->spool, out.pos);
        full = out.pos == out.size;
    }
    return true;
}

#else

static bool inflate_frame(struct stream *s, const struct stream_record *outer, struct bytes frame,
                          struct err *err) {
    (void)frame, (void)err;
    if (!s->expansion.said_no_zstd)
        log_line(LOG_WARN,
                 "%s: compressed, and this sonde is built without zstd (install libzstd-dev and build again)",
                 s->path);
    s->expansion.said_no_zstd = true;
    s->losses.bad_records += outer->loc >= s->counted_to;
    s->losses.unread = true;
    return true;
}

#endif

bool stream_expand(struct stream *s, const struct stream_record *outer, struct err *err) {
    struct stream_expansion *x = &s->expansion;
    if (!x->active) {
        if (!os_spool_open(&x->spool, err))
            return false;
        x->active = true;
    }
    if (outer->raw.type != PERFDATA_RECORD_COMPRESSED && outer->raw.type != PERFDATA_RECORD_COMPRESSED2)
        return insert_plain(s, outer, err);
    x->records[outer->raw.type == PERFDATA_RECORD_COMPRESSED2]++;
    struct perfdata_record rec;
    const char *reason;
    if (!perfdata_record_decode(&outer->raw, NULL, s->header.swap, &rec, &reason)) {
        stream_bad_record(s, outer, reason);
        return true;
    }
    struct bytes frame = rec.compressed.data;
    if (rec.compressed.data_size < frame.size)
        frame.size = (size_t)rec.compressed.data_size;
    return inflate_frame(s, outer, frame, err);
}
