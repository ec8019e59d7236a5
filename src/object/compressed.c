/* SPDX-License-Identifier: Apache-2.0 */
#include "object/compressed.h"

#include <stdlib.h>

#include "config.h"

#ifdef HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef HAVE_LZMA
#include <lzma.h>
#endif
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

/* Deflate makes at most 1032 bytes of one (zlib's technical notes); zstd may make more, no real section does.
 */
enum { RATIO_MAX = 1032 };
static const uint64_t SECTION_MAX = (uint64_t)4
                                    << 30; /* bytes; the largest .debug_info known have a quarter */

enum step { STEP_MORE, STEP_END, STEP_BAD, STEP_MEMORY };

struct decoder {
    struct bytes in; /* what is left */
    uint8_t *out;    /* where to go on writing */
    size_t room;
    union {
#ifdef HAVE_ZLIB
        z_stream zlib;
#endif
#ifdef HAVE_LZMA
        lzma_stream lzma;
#endif
#ifdef HAVE_ZSTD
        ZSTD_DCtx *zstd;
#endif
        char unused;
    } u;
};

struct codec {
    bool (*init)(struct decoder *d);
    /* Goes on until the input ends or the room is full. STEP_END: the (last) frame is whole. */
    enum step (*run)(struct decoder *d);
    void (*fini)(struct decoder *d);
    const char *library;
};

#ifdef HAVE_ZLIB
static bool zlib_init(struct decoder *d) {
    d->u.zlib = (z_stream){0};
    return inflateInit2(&d->u.zlib, 15 + 32) == Z_OK; /* + 32: zlib or gzip, whatever it is */
}

static enum step zlib_run(struct decoder *d) {
    z_stream *z = &d->u.zlib;
    uInt in = d->in.size < UINT32_MAX / 2 ? (uInt)d->in.size : UINT32_MAX / 2;
    uInt room = d->room < UINT32_MAX / 2 ? (uInt)d->room : UINT32_MAX / 2;
    z->next_in = (Bytef *)d->in.data;
    z->avail_in = in;
    z->next_out = d->out;
    z->avail_out = room;
    int result = inflate(z, Z_NO_FLUSH);
    d->in = (struct bytes){z->next_in, d->in.size - (in - z->avail_in)};
    d->out = z->next_out;
    d->room -= room - z->avail_out;
    if (result == Z_MEM_ERROR)
        return STEP_MEMORY;
    if (result == Z_STREAM_END) /* a gzip file may have several members: RFC 1952, 2.2 */
        return d->in.size < 18 || d->in.data[0] != 0x1f || inflateReset(z) != Z_OK ? STEP_END : STEP_MORE;
    return result == Z_OK && (room != z->avail_out || in != z->avail_in) ? STEP_MORE : STEP_BAD;
}

static void zlib_fini(struct decoder *d) {
    inflateEnd(&d->u.zlib);
}
#endif

#ifdef HAVE_LZMA
static const uint64_t LZMA_MEMORY_MAX = (uint64_t)256 << 20; /* bytes of the decoder; xz -9 wants 65 MiB */

static bool xz_init(struct decoder *d) {
    d->u.lzma = (lzma_stream)LZMA_STREAM_INIT;
    return lzma_auto_decoder(&d->u.lzma, LZMA_MEMORY_MAX, LZMA_CONCATENATED) == LZMA_OK;
}

static enum step xz_run(struct decoder *d) {
    lzma_stream *x = &d->u.lzma;
    x->next_in = d->in.data;
    x->avail_in = d->in.size;
    x->next_out = d->out;
    x->avail_out = d->room;
    lzma_ret result = lzma_code(x, LZMA_FINISH); /* all of the input is here */
    d->in = (struct bytes){x->next_in, x->avail_in};
    d->out = x->next_out;
    d->room = x->avail_out;
    if (result == LZMA_MEM_ERROR)
        return STEP_MEMORY;
    return result == LZMA_STREAM_END ? STEP_END : result == LZMA_OK ? STEP_MORE : STEP_BAD;
}

static void xz_fini(struct decoder *d) {
    lzma_end(&d->u.lzma);
}
#endif

#ifdef HAVE_ZSTD
enum { ZSTD_WINDOW_LOG_MAX = 27 }; /* 128 MiB, as zstd(1) without --long */

static bool zstd_init(struct decoder *d) {
    d->u.zstd = ZSTD_createDCtx();
    return d->u.zstd &&
           !ZSTD_isError(ZSTD_DCtx_setParameter(d->u.zstd, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG_MAX));
}

static enum step zstd_run(struct decoder *d) {
    ZSTD_inBuffer in = {d->in.data, d->in.size, 0};
    ZSTD_outBuffer out = {d->out, d->room, 0};
    size_t result = ZSTD_decompressStream(d->u.zstd, &out, &in);
    d->in = (struct bytes){d->in.data + in.pos, d->in.size - in.pos};
    d->out += out.pos;
    d->room -= out.pos;
    if (ZSTD_isError(result))
        return STEP_BAD;
    if (result == 0 && !d->in.size)
        return STEP_END;
    return in.pos || out.pos || result == 0 ? STEP_MORE : STEP_BAD;
}

static void zstd_fini(struct decoder *d) {
    ZSTD_freeDCtx(d->u.zstd);
}
#endif

static const struct codec codecs[] = {
    [OBJECT_PLAIN] = {NULL},
#ifdef HAVE_ZLIB
    [OBJECT_ZLIB] = {zlib_init, zlib_run, zlib_fini, "zlib"},
    [OBJECT_GZIP] = {zlib_init, zlib_run, zlib_fini, "zlib"},
#else
    [OBJECT_ZLIB] = {.library = "zlib"},
    [OBJECT_GZIP] = {.library = "zlib"},
#endif
#ifdef HAVE_LZMA
    [OBJECT_XZ] = {xz_init, xz_run, xz_fini, "liblzma"},
#else
    [OBJECT_XZ] = {.library = "liblzma"},
#endif
#ifdef HAVE_ZSTD
    [OBJECT_ZSTD] = {zstd_init, zstd_run, zstd_fini, "libzstd"},
#else
    [OBJECT_ZSTD] = {.library = "libzstd"},
#endif
};

enum object_compression object_compression_of(struct bytes b) {
    static const struct {
        const char *magic;
        size_t size;
        enum object_compression kind;
    } magics[] = {
        {"\x1f\x8b\x08", 3, OBJECT_GZIP}, /* RFC 1952 2.3: ID1, ID2, CM deflate */
        {"\xfd"
         "7zXZ\0",
         6, OBJECT_XZ},                       /* the .xz file format 2.1.1.1 */
        {"\x5d\0\0", 3, OBJECT_XZ},           /* .lzma: lc=3 lp=0 pb=2, the dictionary a multiple of 64 KiB */
        {"\x28\xb5\x2f\xfd", 4, OBJECT_ZSTD}, /* RFC 8878 3.1.1 */
    };
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
        if (b.size >= magics[i].size && memcmp(b.data, magics[i].magic, magics[i].size) == 0)
            return magics[i].kind;
    return OBJECT_PLAIN;
}

static bool start(enum object_compression kind, struct bytes packed, struct decoder *d,
                  const struct codec **out, struct err *err) {
    const struct codec *codec = *out = &codecs[kind];
    *d = (struct decoder){.in = packed};
    if (!codec->init)
        return err_set(err, ERR_UNSUPPORTED, "", "compressed data: this sonde was built without %s",
                       codec->library ? codec->library : "that kind");
    if (codec->init(d))
        return true;
    codec->fini(d);
    return err_memory(err, "a decompressor");
}

static bool bad_data(struct err *err, enum step step) {
    return step == STEP_MEMORY ? err_memory(err, "decompressed data")
                               : err_set(err, ERR_BROKEN, "", "bad compressed data");
}

/* Into `size` bytes at `out`, neither more nor fewer. */
static bool fill(const struct codec *codec, struct decoder *d, uint8_t *out, uint64_t size, struct err *err) {
    uint8_t extra; /* a byte too many shows here, and lets the end mark be read */
    enum step step = STEP_MORE;
    d->out = out;
    d->room = (size_t)size;
    while (step == STEP_MORE && d->room)
        step = codec->run(d);
    if (step == STEP_MORE) {
        d->out = &extra;
        d->room = 1;
        while (step == STEP_MORE && d->room)
            step = codec->run(d);
        if (step == STEP_MORE || (step == STEP_END && !d->room))
            return err_set(err, ERR_BROKEN, "", "compressed data are longer than they claim");
    } else if (step == STEP_END && d->room) {
        return err_set(err, ERR_BROKEN, "", "compressed data are shorter than they claim");
    }
    return step == STEP_END || bad_data(err, step);
}

bool object_decompressed_size_sane(uint64_t packed, uint64_t size) {
    return size <= SECTION_MAX && size / RATIO_MAX <= packed;
}

bool object_decompress_into(enum object_compression kind, struct bytes packed, uint8_t *out, size_t size,
                            struct err *err) {
    struct decoder d;
    const struct codec *codec;
    if (!object_decompressed_size_sane(packed.size, size))
        return err_set(err, ERR_BROKEN, "", "compressed data claim an impossible size");
    if (!start(kind, packed, &d, &codec, err))
        return false;
    bool ok = fill(codec, &d, out, size, err);
    codec->fini(&d);
    return ok;
}

bool object_decompress_sized(enum object_compression kind, struct bytes packed, uint64_t size,
                             struct arena *arena, struct bytes *out, struct err *err) {
    *out = (struct bytes){NULL, 0};
    if (!object_decompressed_size_sane(packed.size, size))
        return err_set(err, ERR_BROKEN, "", "compressed data claim an impossible size");
    uint8_t *memory = arena_alloc(arena, (size_t)size);
    if (!memory)
        return err_memory(err, "decompressed data");
    if (!object_decompress_into(kind, packed, memory, (size_t)size, err))
        return false;
    if (size)
        *out = (struct bytes){memory, (size_t)size};
    return true;
}

/* Grows `*memory` as the data come; its size into *size. */
static bool pour(const struct codec *codec, struct decoder *d, uint64_t max, uint8_t **memory, size_t *size,
                 struct err *err) {
    size_t cap = 0, used = 0;
    for (enum step step = STEP_MORE; step != STEP_END;) {
        if (used == cap) {
            if (cap > max)
                return err_set(err, ERR_BROKEN, "", "compressed data are larger than allowed");
            size_t want = cap ? cap * 2 : 64 * 1024;
            want = want > max ? (size_t)max + 1 : want; /* one byte more tells "all of max" from "more" */
            uint8_t *grown = realloc(*memory, want);
            if (!grown)
                return err_memory(err, "decompressed data");
            *memory = grown;
            cap = want;
        }
        d->out = *memory + used;
        d->room = cap - used;
        step = codec->run(d);
        used = cap - d->room;
        if (step == STEP_BAD || step == STEP_MEMORY)
            return bad_data(err, step);
    }
    *size = used;
    return used <= max || err_set(err, ERR_BROKEN, "", "compressed data are larger than allowed");
}

bool object_decompress(enum object_compression kind, struct bytes packed, uint64_t max, struct arena *arena,
                       struct bytes *out, struct err *err) {
    *out = (struct bytes){NULL, 0};
    struct decoder d;
    const struct codec *codec;
    if (!start(kind, packed, &d, &codec, err))
        return false;
    uint8_t *memory = NULL;
    size_t size = 0;
    bool ok = pour(codec, &d, max, &memory, &size, err);
    codec->fini(&d);
    if (ok && size) {
        *out = arena_copy(arena, (struct bytes){memory, size});
        ok = out->data || err_memory(err, "decompressed data");
    }
    free(memory);
    return ok;
}

#ifdef HAVE_ZSTD
bool object_compress(struct bytes plain, struct writer *w) {
    enum { LEVEL = 3 };
    size_t at = w->size, bound = ZSTD_compressBound(plain.size);
    if (!writer_grow(w, bound))
        return false;
    size_t n = ZSTD_compress(w->data + at, bound, plain.data, plain.size, LEVEL);
    w->size = at;
    if (ZSTD_isError(n) || n >= plain.size)
        writer_bytes_put(w, plain);
    else
        w->size += n; /* already there */
    return writer_ok(w);
}
#else
bool object_compress(struct bytes plain, struct writer *w) {
    writer_bytes_put(w, plain);
    return writer_ok(w);
}
#endif
