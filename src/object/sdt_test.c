/* SPDX-License-Identifier: Apache-2.0 */
#include "object/sdt.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/elf_image.h"

static void put_note(struct writer *w, const char *owner, const char *provider, const char *name) {
    size_t provider_size = strlen(provider) + 1, name_size = strlen(name) + 1;
    writer_u32(w, (uint32_t)strlen(owner) + 1);
    writer_u32(w, (uint32_t)(24 + provider_size + name_size + 8));
    writer_u32(w, 3);
    writer_put(w, owner, strlen(owner) + 1);
    writer_align(w, 4);
    writer_u64(w, 0x1234);
    writer_u64(w, 0);
    writer_u64(w, 0x4020);
    writer_put(w, provider, provider_size);
    writer_put(w, name, name_size);
    writer_put(w, "-4@%edi", 8);
    writer_align(w, 4);
}

static bool is(struct bytes b, const char *text) {
    return b.size == strlen(text) && memcmp(b.data, text, b.size) == 0;
}

/* How many of the two notes below are found in the content. */
static int count(struct bytes content, bool big) {
    struct test_image t;
    struct object_elf e;
    struct object_sdts s;
    struct object_sdt sdt;
    int n = 0;
    test_image_init(&t, !big, big, ET_DYN, EM_X86_64);
    elf_image_section(
        &t.image, &(struct elf_image_section){.name = ".note.stapsdt", .type = SHT_NOTE, .content = content});
    assert_true(object_elf_open(test_image_done(&t), &e, NULL));
    for (bool any = object_sdts_open(&e, &s); any && object_sdts_next(&s, &sdt); n++) {
        assert_true(is(sdt.provider, "libx") && is(sdt.name, n ? "go_on" : "start"));
        assert_int_equal(sdt.place, 0x1234);
        assert_int_equal(sdt.semaphore, 0x4020);
        assert_true(is(sdt.args, "-4@%edi"));
    }
    test_image_fini(&t);
    return n;
}

static void test_notes(void **state) {
    (void)state;
    struct writer w = writer_make(false);
    put_note(&w, "stapsdt", "libx", "start");
    put_note(&w, "another", "libx", "not this");
    put_note(&w, "stapsdt", "", "nobody's");
    put_note(&w, "stapsdt", "libx", "go_on");
    assert_int_equal(count(writer_bytes(&w), BYTES_HOST_BIG), 2);
    for (size_t n = 0; n < w.size - 3; n++) /* what is cut off is not found, and nothing else */
        assert_int_equal(count((struct bytes){w.data, n}, BYTES_HOST_BIG), n >= 63);
    writer_fini(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_notes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
