/* SPDX-License-Identifier: Apache-2.0 */
#include "base/gzip.h"

#include <stdlib.h>

#include "config.h"
#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

#ifdef HAVE_ZLIB

enum { LEVEL = 4, GZIP = 16, WINDOW_BITS = 15, MEMORY = 8 /* zlib's default */ };

struct gzip_out {
    struct out in, *to;
    z_stream z;
};

/* Compresses `n` bytes; `flush` is Z_FINISH for the last ones. */
static bool deflate_some(struct gzip_out *g, const char *p, size_t n, int flush) {
    g->z.next_in = (Bytef *)(uintptr_t)p;
    do {
        uInt part = n > UINT32_MAX ? UINT32_MAX : (uInt)n;
        n -= part;
        g->z.avail_in = part;
        do {
            g->z.next_out = (Bytef *)out_room(g->to, OUT_ROOM_MAX);
            g->z.avail_out = OUT_ROOM_MAX;
            if (deflate(&g->z, n ? Z_NO_FLUSH : flush) == Z_STREAM_ERROR)
                return false;
            g->to->len += OUT_ROOM_MAX - g->z.avail_out;
        } while (!g->z.avail_out);
    } while (n);
    return !g->to->failed;
}

static bool take(void *ctx, const char *p, size_t n) {
    return deflate_some(ctx, p, n, Z_NO_FLUSH);
}

struct gzip_out *gzip_out_new(struct out *to) {
    struct gzip_out *g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    g->to = to;
    if (deflateInit2(&g->z, LEVEL, Z_DEFLATED, WINDOW_BITS + GZIP, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK) {
        free(g);
        return NULL;
    }
    if (!out_init(&g->in, take, g)) {
        gzip_out_free(g);
        return NULL;
    }
    return g;
}

struct out *gzip_out_sink(struct gzip_out *g) {
    return &g->in;
}

bool gzip_out_end(struct gzip_out *g) {
    return out_flush(&g->in) && deflate_some(g, NULL, 0, Z_FINISH);
}

void gzip_out_free(struct gzip_out *g) {
    if (!g)
        return;
    deflateEnd(&g->z);
    out_fini(&g->in);
    free(g);
}

/* Deflate makes at most 1032 bytes of one (zlib's technical notes). */
static size_t bound(size_t packed, size_t most) {
    enum { RATIO = 1032 };
    return packed > most / RATIO ? most : packed * RATIO;
}

bool gzip_read(struct bytes b, size_t most, struct bytes *out, struct err *err) {
    enum { FIRST = 64 * 1024 };
    size_t cap = 0, largest = bound(b.size, most);
    uint8_t *buf = NULL;
    z_stream z = {.next_in = (Bytef *)(uintptr_t)b.data};
    if (b.size > UINT32_MAX)
        return err_set(err, ERR_BROKEN, "gzip", "too large");
    int result = inflateInit2(&z, WINDOW_BITS + GZIP);
    if (result != Z_OK)
        return err_memory(err, "gzip");
    z.avail_in = (uInt)b.size;
    while (result == Z_OK && cap < largest) {
        size_t more = cap ? cap : FIRST;
        more = more < largest - cap ? more : largest - cap;
        more = more < UINT32_MAX ? more : UINT32_MAX;
        uint8_t *grown = realloc(buf, cap + more);
        if (!grown) {
            result = Z_MEM_ERROR;
            break;
        }
        buf = grown;
        z.next_out = buf + cap;
        z.avail_out = (uInt)more;
        result = inflate(&z, Z_NO_FLUSH);
        cap += more - z.avail_out;
        if (z.avail_out) /* there is room, so the input has ended */
            break;
    }
    inflateEnd(&z);
    *out = (struct bytes){buf, cap};
    if (result == Z_STREAM_END)
        return true;
    free(buf);
    *out = (struct bytes){0};
    if (result == Z_MEM_ERROR)
        return err_memory(err, "gzip");
    return err_set(err, ERR_BROKEN, "gzip",
                   result == Z_OK && cap == most ? "too large" : "the compressed data is damaged or cut off");
}

#else

struct gzip_out {
    struct out *to;
};

struct gzip_out *gzip_out_new(struct out *to) {
    struct gzip_out *g = calloc(1, sizeof *g);
    if (g)
        g->to = to;
    return g;
}

struct out *gzip_out_sink(struct gzip_out *g) {
    return g->to;
}

bool gzip_out_end(struct gzip_out *g) {
    return !g->to->failed;
}

void gzip_out_free(struct gzip_out *g) {
    free(g);
}

bool gzip_read(struct bytes b, size_t most, struct bytes *out, struct err *err) {
    (void)b, (void)most, (void)out;
    return err_set(err, ERR_UNSUPPORTED, "gzip", "this build cannot read it: zlib was missing (zlib1g-dev)");
}

#endif
