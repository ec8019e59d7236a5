/* SPDX-License-Identifier: Apache-2.0 */
#include "record/write/compress.h"

#include "config.h"
#include "format/perfdata/record.h"

#ifdef HAVE_ZSTD
#include <zstd.h>

enum { PIECE = RECORD_COMPRESS_FLUSH_BYTES, PAYLOAD_MAX = RECORD_COMPRESS_RECORD_MAX - PERFDATA_HEADER_SIZE };

bool record_compress_init(struct record_compress *z, int level, struct err *err) {
    *z = (struct record_compress){.zstd = ZSTD_createCStream()};
    if (!z->zstd || ZSTD_isError(ZSTD_initCStream(z->zstd, level)))
        return err_memory(err, "zstd");
    return true;
}

void record_compress_fini(struct record_compress *z) {
    ZSTD_freeCStream(z->zstd);
    writer_fini(&z->out);
    writer_fini(&z->joined);
    *z = (struct record_compress){0};
}

static void end_record(struct record_compress *z) {
    if (!z->payload)
        return;
    writer_u32(&z->out, PERFDATA_RECORD_COMPRESSED);
    writer_u16(&z->out, 0);
    writer_u16(&z->out, (uint16_t)(PERFDATA_HEADER_SIZE + z->payload));
    z->out.size += z->payload; /* already there */
    z->payload = 0;
}

/* Whole records; with `flush` all that was taken so far comes out. What comes fills the record that begins at
 * the end of z->out. */
static bool compress_piece(struct record_compress *z, struct bytes piece, bool flush, struct err *err) {
    ZSTD_inBuffer in = {piece.data, piece.size, 0};
    size_t left;
    do {
        size_t at = z->out.size;
        if (!writer_grow(&z->out, RECORD_COMPRESS_RECORD_MAX))
            return err_memory(err, "zstd");
        z->out.size = at;
        ZSTD_outBuffer out = {z->out.data + z->out.size + PERFDATA_HEADER_SIZE, PAYLOAD_MAX, z->payload};
        left = ZSTD_compressStream2(z->zstd, &out, &in, flush ? ZSTD_e_flush : ZSTD_e_continue);
        if (ZSTD_isError(left))
            return err_set(err, ERR_IO, "zstd", "cannot compress");
        z->payload = out.pos;
        if (z->payload == PAYLOAD_MAX || (flush && !left))
            end_record(z);
    } while (in.pos < in.size || (flush && left));
    z->in += piece.size;
    z->waiting = flush ? 0 : z->waiting + piece.size;
    return true;
}

/* How many bytes of whole records lie in front of `left`, at most PIECE. */
static size_t whole_records(struct bytes left) {
    size_t n = 0, most = left.size < PIECE ? left.size : PIECE;
    while (n + PERFDATA_HEADER_SIZE <= most) {
        uint16_t size = bytes_load16(left.data + n + 6, false);
        if (size < PERFDATA_HEADER_SIZE || n + size > most)
            break;
        n += size;
    }
    return n;
}

/* Spans, and how far they have been taken. */
struct walk {
    const struct bytes *spans;
    size_t count, index, at;
};

static struct bytes rest(struct walk *w) {
    while (w->index < w->count && w->at == w->spans[w->index].size) {
        w->index++;
        w->at = 0;
    }
    if (w->index == w->count)
        return (struct bytes){0};
    return (struct bytes){w->spans[w->index].data + w->at, w->spans[w->index].size - w->at};
}

/* A record that goes on in the next span, as at a ring's end, in one piece. */
static bool compress_record(struct record_compress *z, struct walk *w, size_t size, struct err *err) {
    struct bytes left;
    writer_clear(&z->joined);
    while (z->joined.size < size && (left = rest(w)).size) {
        size_t n = size - z->joined.size < left.size ? size - z->joined.size : left.size;
        writer_put(&z->joined, left.data, n);
        w->at += n;
    }
    if (!writer_ok(&z->joined))
        return err_memory(err, "zstd");
    return compress_piece(z, writer_bytes(&z->joined), z->waiting + z->joined.size >= PIECE, err);
}

bool record_compress_spans(struct record_compress *z, const struct bytes *spans, size_t count,
                           struct err *err) {
    struct walk w = {spans, count, 0, 0};
    struct bytes left;
    writer_clear(&z->out);
    z->waiting = 0;
    while ((left = rest(&w)).size) {
        size_t n = whole_records(left);
        uint16_t size = !n && left.size >= PERFDATA_HEADER_SIZE ? bytes_load16(left.data + 6, false) : 0;
        bool ok;
        if (n) {
            ok = compress_piece(z, (struct bytes){left.data, n}, z->waiting + n >= PIECE, err);
            w.at += n;
        } else {
            /* What is no record stays as it is: the reader tells of it. */
            ok = compress_record(z, &w, size >= PERFDATA_HEADER_SIZE ? size : left.size, err);
        }
        if (!ok)
            return false;
    }
    if (z->waiting && !compress_piece(z, (struct bytes){0}, true, err))
        return false;
    z->written += z->out.size;
    return true;
}
#else
bool record_compress_init(struct record_compress *z, int level, struct err *err) {
    (void)level;
    *z = (struct record_compress){0};
    return err_set(err, ERR_UNSUPPORTED, "-z", "this build has no zstd (libzstd-dev)");
}
void record_compress_fini(struct record_compress *z) {
    writer_fini(&z->out);
}
bool record_compress_spans(struct record_compress *z, const struct bytes *spans, size_t count,
                           struct err *err) {
    (void)z, (void)spans, (void)count;
    return err_set(err, ERR_UNSUPPORTED, "-z", "this build has no zstd (libzstd-dev)");
}
#endif
