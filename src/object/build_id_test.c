/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/writer.h"
#include "object/build_id.h"

static void put_note(struct writer *w, uint32_t type, const char *owner, const char *content, size_t size,
                     size_t align) {
    writer_u32(w, (uint32_t)strlen(owner) + 1);
    writer_u32(w, (uint32_t)size);
    writer_u32(w, type);
    writer_put(w, owner, strlen(owner) + 1);
    writer_align(w, align);
    writer_put(w, content, size);
    writer_align(w, align);
}

static void put_word(struct writer *w, bool wide, uint64_t v) {
    if (wide)
        writer_u64(w, v);
    else
        writer_u32(w, (uint32_t)v);
}

/* An ELF image whose notes are a segment or a section. */
static void make_elf(struct writer *w, bool wide, bool big, bool as_section, size_t align) {
    struct writer notes = writer_make(w->swap);
    put_note(&notes, 1, "Other", "abc", 3, align);
    put_note(&notes, 3, "GN", "wrong owner", 11, align);
    put_note(&notes, 3, "GNU", "0123456789abcdefghij", 20, align);
    size_t header = wide ? 64 : 52, entry = as_section ? (wide ? 64 : 40) : (wide ? 56 : 32);
    size_t notes_at = (header + entry + 7) / 8 * 8;
    const uint8_t ident[16] = {0x7f, 'E', 'L', 'F', wide ? 2 : 1, big ? 2 : 1, 1};
    writer_put(w, ident, sizeof ident);
    writer_u16(w, 3);
    writer_u16(w, 62);
    writer_u32(w, 1);
    put_word(w, wide, 0);
    put_word(w, wide, as_section ? 0 : header);
    put_word(w, wide, as_section ? header : 0);
    writer_u32(w, 0);
    writer_u16(w, (uint16_t)header);
    writer_u16(w, as_section ? 0 : (uint16_t)entry);
    writer_u16(w, !as_section);
    writer_u16(w, as_section ? (uint16_t)entry : 0);
    writer_u16(w, as_section);
    writer_u16(w, 0);
    assert_int_equal(w->size, header);
    if (as_section) {
        writer_u32(w, 0);
        writer_u32(w, 7);
        put_word(w, wide, 0);
        put_word(w, wide, 0);
        put_word(w, wide, notes_at);
        put_word(w, wide, notes.size);
        writer_u64(w, 0);
        put_word(w, wide, align);
        put_word(w, wide, 0);
    } else {
        writer_u32(w, 4);
        if (wide)
            writer_u32(w, 4);
        put_word(w, wide, notes_at);
        put_word(w, wide, 0);
        put_word(w, wide, 0);
        put_word(w, wide, notes.size);
        put_word(w, wide, notes.size);
        if (!wide)
            writer_u32(w, 4);
        put_word(w, wide, align);
    }
    writer_align(w, 8);
    assert_int_equal(w->size, notes_at);
    writer_bytes_put(w, writer_bytes(&notes));
    writer_fini(&notes);
}

static void test_every_kind(void **state) {
    (void)state;
    for (int kind = 0; kind < 16; kind++) {
        bool wide = kind & 1, big = kind & 2, as_section = kind & 4;
        struct writer w = writer_make(big != BYTES_HOST_BIG);
        make_elf(&w, wide, big, as_section, kind & 8 ? 8 : 4);
        struct object_build_id id;
        assert_true(object_build_id_read(writer_bytes(&w), &id));
        assert_int_equal(id.size, 20);
        assert_memory_equal(id.bytes, "0123456789abcdefghij", 20);
        /* Every shorter file: no step outside, and no id unless all of it is there. */
        for (size_t n = 0; n < w.size; n++) {
            uint8_t *copy = malloc(n ? n : 1);
            assert_non_null(copy);
            memcpy(copy, w.data, n);
            assert_false(object_build_id_read((struct bytes){copy, n}, &id));
            free(copy);
        }
        writer_fini(&w);
    }
}

static void test_notes(void **state) {
    (void)state;
    struct writer w = writer_make(false);
    struct object_build_id id;
    assert_false(object_build_id_in_notes(writer_bytes(&w), &id));
    put_note(&w, 6, "Linux", "x", 1, 4);
    put_note(&w, 3, "GNU", "", 0, 4);
    assert_false(object_build_id_in_notes(writer_bytes(&w), &id));
    put_note(&w, 3, "GNU", "12345678", 8, 4);
    assert_true(object_build_id_in_notes(writer_bytes(&w), &id));
    assert_int_equal(id.size, 8);
    writer_patch32(&w, 0, UINT32_MAX); /* a name as large as that is not there */
    assert_false(object_build_id_in_notes(writer_bytes(&w), &id));
    writer_fini(&w);
}

static void test_hostile(void **state) {
    (void)state;
    for (int kind = 0; kind < 8; kind++) {
        struct writer w = writer_make(false);
        make_elf(&w, kind & 1, BYTES_HOST_BIG, kind & 2, 4);
        for (size_t at = 0; at < w.size; at++)
            for (int bits = 0; bits < 3; bits++) {
                uint8_t before = w.data[at];
                w.data[at] = bits == 0 ? 0 : bits == 1 ? 0xff : before ^ 0x80;
                struct object_build_id id;
                object_build_id_read(writer_bytes(&w), &id);
                assert_true(id.size <= OBJECT_BUILD_ID_MAX);
                w.data[at] = before;
            }
        writer_fini(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind),
        cmocka_unit_test(test_notes),
        cmocka_unit_test(test_hostile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
