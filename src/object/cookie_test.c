/* SPDX-License-Identifier: Apache-2.0 */
#include "object/cookie.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/elf_image.h"

struct shape {
    uint64_t vaddr;
    const char *code;
    const char *comment; /* a section that is not mapped */
    uint32_t flags;      /* of the segment */
};

static bool cookie_of(const struct shape *s, uint8_t out[OBJECT_COOKIE_BYTES]) {
    struct test_image t;
    test_image_init(&t, true, false, ET_DYN, EM_X86_64);
    uint32_t text = elf_image_section(
        &t.image, &(struct elf_image_section){.name = ".text",
                                              .type = SHT_PROGBITS,
                                              .flags = SHF_ALLOC | SHF_EXECINSTR,
                                              .addr = s->vaddr,
                                              .content = {(const uint8_t *)s->code, strlen(s->code)}});
    elf_image_section(
        &t.image, &(struct elf_image_section){.name = ".comment",
                                              .type = SHT_PROGBITS,
                                              .content = {(const uint8_t *)s->comment, strlen(s->comment)}});
    elf_image_segment(&t.image, &(struct elf_image_segment){PT_LOAD, s->flags, s->vaddr, 16, text, text});
    bool ok = object_cookie_read(test_image_done(&t), out);
    test_image_fini(&t);
    return ok;
}

static void test_identity(void **state) {
    (void)state;
    static const struct shape base = {0x1000, "code of some length", "GCC 12", PF_R | PF_X};
    struct shape other = base;
    uint8_t a[OBJECT_COOKIE_BYTES], b[OBJECT_COOKIE_BYTES];
    assert_true(cookie_of(&base, a) && cookie_of(&base, b));
    assert_memory_equal(a, b, sizeof a);
    other.comment = "stripped, or another compiler's"; /* no part of what is mapped */
    assert_true(cookie_of(&other, b));
    assert_memory_equal(a, b, sizeof a);
    other = base;
    other.code = "code of same length";
    assert_true(cookie_of(&other, b));
    assert_memory_not_equal(a, b, sizeof a);
    other = base;
    other.vaddr = 0x2000;
    assert_true(cookie_of(&other, b));
    assert_memory_not_equal(a, b, sizeof a);
    other = base;
    other.flags = PF_R;
    assert_false(cookie_of(&other, b));
}

static void test_no_image(void **state) {
    (void)state;
    uint8_t out[OBJECT_COOKIE_BYTES];
    assert_false(object_cookie_read((struct bytes){NULL, 0}, out));
    assert_false(object_cookie_read((struct bytes){(const uint8_t *)"#!/bin/sh\n", 10}, out));
}

/* Segments that all hold the same code: hashing each would cost the square of the file's size. */
static void test_overlap(void **state) {
    (void)state;
    static const uint8_t code[65536];
    uint8_t out[OBJECT_COOKIE_BYTES];
    for (unsigned segments = 1; segments < 8; segments++) {
        struct test_image t;
        test_image_init(&t, true, false, ET_DYN, EM_X86_64);
        uint32_t text =
            elf_image_section(&t.image, &(struct elf_image_section){.name = ".text",
                                                                    .type = SHT_PROGBITS,
                                                                    .flags = SHF_ALLOC | SHF_EXECINSTR,
                                                                    .addr = 0x1000,
                                                                    .content = {code, sizeof code}});
        for (unsigned i = 0; i < segments; i++)
            elf_image_segment(&t.image,
                              &(struct elf_image_segment){PT_LOAD, PF_R | PF_X, 0x1000, 16, text, text});
        assert_int_equal(object_cookie_read(test_image_done(&t), out), segments < 5);
        test_image_fini(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_identity), cmocka_unit_test(test_overlap),
                                       cmocka_unit_test(test_no_image)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
