/* SPDX-License-Identifier: Apache-2.0 */
#include "object/compressed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/writer.h"
#include "config.h"
#include "tests/support/fail_alloc.h"
#ifdef HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef HAVE_LZMA
#include <lzma.h>
#endif
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

/* Appends `plain` as one frame or member of its own; false: this build cannot. */
static bool pack(enum object_compression kind, struct bytes plain, struct writer *w) {
    size_t room = plain.size + plain.size / 8 + 4096, before = w->size;
    uint8_t *out = writer_grow(w, room);
    assert_non_null(out);
    w->size = before;
    (void)kind;
#ifdef HAVE_ZLIB
    if (kind == OBJECT_GZIP || kind == OBJECT_ZLIB) {
        z_stream z = {.next_in = (Bytef *)plain.data,
                      .avail_in = (uInt)plain.size,
                      .next_out = out,
                      .avail_out = (uInt)room};
        assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, kind == OBJECT_GZIP ? 31 : 15, 8, 0), Z_OK);
        assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
        deflateEnd(&z);
        w->size += z.total_out;
    }
#endif
#ifdef HAVE_LZMA
    size_t n = 0;
    if (kind == OBJECT_XZ) {
        assert_int_equal(
            lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, NULL, plain.data, plain.size, out, &n, room),
            LZMA_OK);
        w->size += n;
    }
#endif
#ifdef HAVE_ZSTD
    if (kind == OBJECT_ZSTD)
        w->size += ZSTD_compress(out, room, plain.data, plain.size, 1);
#endif
    return w->size > before;
}

static const enum object_compression kinds[] = {OBJECT_GZIP, OBJECT_XZ, OBJECT_ZSTD};
enum { KINDS = 3, SIZE = 300000 };

/* Neither trivial nor beyond compression. */
static struct bytes plain_text(void) {
    static uint8_t text[SIZE];
    uint32_t x = 1;
    for (size_t i = 0; i < SIZE; i++) {
        x = x * 1664525 + 1013904223;
        text[i] = (uint8_t)(x >> 28);
    }
    return (struct bytes){text, SIZE};
}

static enum err_code unpack(enum object_compression kind, struct bytes packed, uint64_t max,
                            struct bytes want) {
    struct arena arena = ARENA_INIT;
    struct bytes out;
    struct err err = ERR_INIT;
    bool ok = object_decompress(kind, packed, max, &arena, &out, &err);
    assert_int_equal(ok, err.code == ERR_NONE);
    if (ok)
        assert_true(bytes_equal(out, want));
    arena_fini(&arena);
    return err.code;
}

static void test_whole(void **state) {
    (void)state;
    struct bytes plain = plain_text();
    for (int k = 0; k < KINDS; k++) {
        struct writer w = writer_make(false);
        if (!pack(kinds[k], plain, &w)) {
            print_message("SKIP: built without one of zlib, liblzma, libzstd\n");
            assert_int_equal(unpack(kinds[k], (struct bytes){(const uint8_t *)"x", 1}, SIZE, plain),
                             ERR_UNSUPPORTED);
            writer_fini(&w);
            continue;
        }
        assert_int_equal(object_compression_of(writer_bytes(&w)), kinds[k]);
        assert_int_equal(unpack(kinds[k], writer_bytes(&w), SIZE, plain), ERR_NONE);
        assert_int_equal(unpack(kinds[k], writer_bytes(&w), (uint64_t)1 << 40, plain), ERR_NONE);
        assert_int_equal(unpack(kinds[k], writer_bytes(&w), SIZE - 1, plain), ERR_BROKEN);
        assert_int_equal(unpack(kinds[k], writer_bytes(&w), 0, plain), ERR_BROKEN);
        for (size_t n = 0; n < w.size; n += n < 100 ? 1 : 997)
            assert_int_equal(unpack(kinds[k], (struct bytes){w.data, n}, SIZE, plain), ERR_BROKEN);
        FAIL_EACH_ALLOC({
            enum err_code code = unpack(kinds[k], writer_bytes(&w), SIZE, plain);
            assert_true(code == ERR_NONE || code == ERR_MEMORY);
        });
        writer_fini(&w);
    }
}

/* Two one after the other make one text. */
static void test_several(void **state) {
    (void)state;
    struct bytes plain = plain_text();
    for (int k = 0; k < KINDS; k++) {
        struct writer w = writer_make(false);
        if (pack(kinds[k], (struct bytes){plain.data, 1000}, &w)) {
            assert_true(pack(kinds[k], (struct bytes){plain.data + 1000, SIZE - 1000}, &w));
            assert_int_equal(unpack(kinds[k], writer_bytes(&w), SIZE, plain), ERR_NONE);
        }
        writer_fini(&w);
    }
}

/* Much out of little: only as much memory as allowed. */
static void test_bomb(void **state) {
    (void)state;
    enum { LARGE = 64 << 20 };
    uint8_t *zeros = calloc(1, LARGE);
    assert_non_null(zeros);
    for (int k = 0; k < KINDS; k++) {
        struct writer w = writer_make(false);
        if (pack(kinds[k], (struct bytes){zeros, LARGE}, &w)) {
            assert_true(w.size < 200000);
            assert_int_equal(unpack(kinds[k], writer_bytes(&w), 1 << 20, plain_text()), ERR_BROKEN);
            struct arena arena = ARENA_INIT;
            struct bytes out;
            struct err err = ERR_INIT;
            if (kinds[k] == OBJECT_ZSTD) /* as a section: more than real ones have */
                assert_false(
                    object_decompress_sized(OBJECT_ZSTD, writer_bytes(&w), LARGE, &arena, &out, &err));
            assert_true(arena.total_bytes < LARGE);
            arena_fini(&arena);
        }
        writer_fini(&w);
    }
    free(zeros);
}

static void test_sized(void **state) {
    (void)state;
    struct bytes plain = plain_text(), out;
    const enum object_compression sized[] = {OBJECT_ZLIB, OBJECT_ZSTD};
    for (int k = 0; k < 2; k++) {
        struct writer w = writer_make(false);
        struct arena arena = ARENA_INIT;
        if (pack(sized[k], plain, &w)) {
            for (int more = -1; more <= 1; more++)
                assert_int_equal(
                    object_decompress_sized(sized[k], writer_bytes(&w), SIZE + more, &arena, &out, NULL),
                    more == 0);
            assert_true(object_decompress_sized(sized[k], writer_bytes(&w), SIZE, &arena, &out, NULL));
            assert_true(bytes_equal(out, plain));
            assert_false(object_decompress_sized(sized[k], (struct bytes){w.data, w.size - 9}, SIZE, &arena,
                                                 &out, NULL));
            w.data[w.size / 2] ^=
                0x55; /* zlib's and zstd's (absent here) checksums apart, nobody promises to see it */
            object_decompress_sized(sized[k], writer_bytes(&w), SIZE, &arena, &out, NULL);
            writer_clear(&w);
            assert_true(pack(sized[k], (struct bytes){plain.data, 0}, &w));
            assert_true(object_decompress_sized(sized[k], writer_bytes(&w), 0, &arena, &out, NULL));
            assert_int_equal(out.size, 0);
        }
        arena_fini(&arena);
        writer_fini(&w);
    }
}

static void test_magic(void **state) {
    (void)state;
    assert_int_equal(object_compression_of((struct bytes){NULL, 0}), OBJECT_PLAIN);
    assert_int_equal(object_compression_of((struct bytes){(const uint8_t *)"\177ELF\2\1", 6}), OBJECT_PLAIN);
    assert_int_equal(object_compression_of((struct bytes){(const uint8_t *)"\x1f\x8b", 2}), OBJECT_PLAIN);
    struct err err = ERR_INIT;
    struct arena arena = ARENA_INIT;
    struct bytes out;
    assert_false(object_decompress(OBJECT_PLAIN, plain_text(), SIZE, &arena, &out, &err));
    assert_int_equal(err.code, ERR_UNSUPPORTED);
    arena_fini(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole), cmocka_unit_test(test_several), cmocka_unit_test(test_bomb),
        cmocka_unit_test(test_sized), cmocka_unit_test(test_magic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
