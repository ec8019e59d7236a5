/* SPDX-License-Identifier: Apache-2.0 */
#include "object/links.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "config.h"
#include "tests/support/elf_image.h"
#ifdef HAVE_LZMA
#include <lzma.h>
#endif

static struct bytes make(struct test_image *t, bool big, const char *section, struct bytes content) {
    test_image_init(t, !big, big, ET_DYN, EM_X86_64);
    elf_image_section(&t->image,
                      &(struct elf_image_section){.name = section, .type = SHT_PROGBITS, .content = content});
    return test_image_done(t);
}

static void test_crc(void **state) {
    (void)state;
    /* The check value that every catalogue of CRCs gives. */
    assert_int_equal(object_debuglink_crc((struct bytes){(const uint8_t *)"123456789", 9}), 0xcbf43926);
    assert_int_equal(object_debuglink_crc((struct bytes){NULL, 0}), 0);
    uint8_t text[100];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (uint8_t)(i * 37);
    for (size_t n = 0; n < sizeof text; n++) { /* bit by bit, as ISO 3309 has it */
        uint32_t crc = ~0u;
        for (size_t i = 0; i < n; i++)
            for (int bit = 0; bit < 8; bit++)
                crc = crc >> 1 ^ (((crc ^ text[i] >> bit) & 1) ? 0xedb88320u : 0);
        assert_int_equal(object_debuglink_crc((struct bytes){text, n}), ~crc);
    }
}

static void test_debuglink(void **state) {
    (void)state;
    for (int big = 0; big < 2; big++)
        for (size_t len = 1; len < 9; len++) {
            struct test_image t;
            struct object_elf e;
            struct object_debuglink link;
            struct writer w = writer_make(big != BYTES_HOST_BIG);
            writer_put(&w, "libx.deb", len);
            writer_u8(&w, 0);
            writer_align(&w, 4);
            writer_u32(&w, 0x12345678);
            assert_true(object_elf_open(make(&t, big, ".gnu_debuglink", writer_bytes(&w)), &e, NULL));
            assert_true(object_debuglink_read(&e, &link));
            assert_int_equal(link.name.size, len);
            assert_memory_equal(link.name.data, "libx.deb", len);
            assert_int_equal(link.crc, 0x12345678);
            test_image_fini(&t);
            for (size_t n = 0; n < w.size; n++) {
                struct bytes cut = {w.data, n};
                assert_true(object_elf_open(make(&t, big, ".gnu_debuglink", cut), &e, NULL));
                assert_false(object_debuglink_read(&e, &link));
                test_image_fini(&t);
            }
            writer_fini(&w);
        }
}

static void test_altlink(void **state) {
    (void)state;
    struct test_image t;
    struct object_elf e;
    struct object_altlink link;
    static const uint8_t content[] = "../.dwz/x.debug\0"
                                     "12345678901234567890";
    struct bytes all = {content, sizeof content - 1};
    assert_true(object_elf_open(make(&t, false, ".gnu_debugaltlink", all), &e, NULL));
    assert_true(object_altlink_read(&e, &link));
    assert_int_equal(link.name.size, 15);
    assert_memory_equal(link.name.data, content, 15);
    assert_int_equal(link.id.size, 20);
    assert_memory_equal(link.id.bytes, content + 16, 20);
    struct object_debuglink none;
    assert_false(object_debuglink_read(&e, &none));
    test_image_fini(&t);
    uint8_t large[200] = "x";
    const struct bytes bad[] = {
        {content, 16}, {content, 15}, {content, 0}, {large, sizeof large}, {content + 15, 21}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_true(object_elf_open(make(&t, true, ".gnu_debugaltlink", bad[i]), &e, NULL));
        assert_false(object_altlink_read(&e, &link));
        test_image_fini(&t);
    }
}

static void test_minidebug(void **state) {
    (void)state;
    struct test_image t;
    struct object_elf e;
    struct arena arena = ARENA_INIT;
    struct bytes out;
    struct err err = ERR_INIT;
    assert_true(object_elf_open(make(&t, false, ".data", (struct bytes){(const uint8_t *)"x", 1}), &e, NULL));
    assert_false(object_minidebug_read(&e, &arena, &out, &err));
    assert_int_equal(err.code, ERR_ABSENT);
    test_image_fini(&t);
    assert_true(object_elf_open(make(&t, false, ".gnu_debugdata", (struct bytes){(const uint8_t *)"x", 1}),
                                &e, NULL));
    assert_false(object_minidebug_read(&e, &arena, &out, &err));
    assert_int_equal(err.code, ERR_BROKEN);
    test_image_fini(&t);
#ifdef HAVE_LZMA
    struct test_image inner;
    struct bytes plain = make(&inner, true, ".symtab", (struct bytes){(const uint8_t *)"symbols", 7});
    uint8_t packed[4096];
    size_t n = 0;
    assert_int_equal(
        lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, NULL, plain.data, plain.size, packed, &n, sizeof packed),
        LZMA_OK);
    assert_true(object_elf_open(make(&t, false, ".gnu_debugdata", (struct bytes){packed, n}), &e, NULL));
    assert_true(object_minidebug_read(&e, &arena, &out, &err));
    assert_true(bytes_equal(out, plain));
    test_image_fini(&t);
    assert_true(object_elf_open(make(&t, false, ".gnu_debugdata", (struct bytes){packed, n - 1}), &e, NULL));
    assert_false(object_minidebug_read(&e, &arena, &out, &err));
    assert_int_equal(err.code, ERR_BROKEN);
    test_image_fini(&t);
    test_image_fini(&inner);
#else
    print_message("SKIP: built without liblzma\n");
#endif
    arena_fini(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crc),
        cmocka_unit_test(test_debuglink),
        cmocka_unit_test(test_altlink),
        cmocka_unit_test(test_minidebug),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
