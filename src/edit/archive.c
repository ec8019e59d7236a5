/* SPDX-License-Identifier: Apache-2.0 */
#include "edit/archive.h"

#include <stdlib.h>

#include "config.h"
#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

enum { CHUNK = 1 << 18 };

struct archive {
    const struct copy_sink *sink;
#ifdef HAVE_ZLIB
    z_stream stream;
#endif
    uint8_t *out; /* CHUNK bytes */
};

#ifdef HAVE_ZLIB
enum { GZIP = 15 + 16 /* window bits; + 16: gzip */, MEMORY = 8, LEVEL = 6 };

const char *archive_suffix(void) {
    return ".tar.gz";
}

static bool start(struct archive *a) {
    return deflateInit2(&a->stream, LEVEL, Z_DEFLATED, GZIP, MEMORY, Z_DEFAULT_STRATEGY) == Z_OK;
}

static void stop(struct archive *a) {
    deflateEnd(&a->stream);
}

/* Compresses the bytes; `flush`: Z_NO_FLUSH, or Z_FINISH at the end. */
static bool deflate_some(struct archive *a, struct bytes b, int flush, struct err *err) {
    int status = Z_OK;
    a->stream.next_in = (Bytef *)(uintptr_t)b.data;
    a->stream.avail_in = (uInt)b.size;
    do {
        a->stream.next_out = a->out;
        a->stream.avail_out = CHUNK;
        status = deflate(&a->stream, flush);
        struct bytes done = {a->out, CHUNK - a->stream.avail_out};
        if (done.size && !a->sink->write(a->sink->ctx, done, err))
            return false;
    } while (a->stream.avail_out == 0 || (flush == Z_FINISH && status == Z_OK));
    return true;
}

static bool put(struct archive *a, struct bytes b, struct err *err) {
    while (b.size) {
        struct bytes some = {b.data, b.size < CHUNK ? b.size : CHUNK};
        if (!deflate_some(a, some, Z_NO_FLUSH, err))
            return false;
        b.data += some.size;
        b.size -= some.size;
    }
    return true;
}

static bool finish(struct archive *a, struct err *err) {
    return deflate_some(a, (struct bytes){0}, Z_FINISH, err);
}
#else
const char *archive_suffix(void) {
    return ".tar";
}

static bool start(struct archive *a) {
    (void)a;
    return true;
}

static void stop(struct archive *a) {
    (void)a;
}

static bool put(struct archive *a, struct bytes b, struct err *err) {
    return !b.size || a->sink->write(a->sink->ctx, b, err);
}

static bool finish(struct archive *a, struct err *err) {
    (void)a, (void)err;
    return true;
}
#endif

struct archive *archive_new(const struct copy_sink *sink, struct err *err) {
    struct archive *a = calloc(1, sizeof *a);
    if (a && (a->out = malloc(CHUNK)) && start(a)) {
        a->sink = sink;
        return a;
    }
    if (a)
        free(a->out);
    free(a);
    err_memory(err, "archive");
    return NULL;
}

void archive_free(struct archive *a) {
    if (!a)
        return;
    stop(a);
    free(a->out);
    free(a);
}

/* Adds the contents of `w` and frees it. */
static bool put_writer(struct archive *a, struct writer *w, struct err *err) {
    bool ok = writer_ok(w) ? put(a, writer_bytes(w), err) : err_memory(err, "archive");
    writer_fini(w);
    return ok;
}

bool archive_add(struct archive *a, const struct tar_entry *e, struct bytes content, struct err *err) {
    struct writer head = writer_make(false), tail = writer_make(false);
    struct tar_entry entry = *e;
    entry.size = e->link ? 0 : content.size;
    tar_entry_encode(&entry, &head);
    writer_zero(&tail, tar_padding(entry.size));
    bool ok = put_writer(a, &head, err) && (e->link || put(a, content, err));
    return put_writer(a, &tail, ok ? err : NULL) && ok;
}

bool archive_finish(struct archive *a, struct err *err) {
    struct writer end = writer_make(false);
    tar_end_encode(&end);
    return put_writer(a, &end, err) && finish(a, err);
}
