/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/writer.h"
#include "format/btf/btf.h"

/* struct s { int a; const word b; char text[4]; struct s *next; unsigned short c : 3; }, and typedef long
 * word; */
static const char STRINGS[] = "\0s\0a\0b\0text\0next\0c\0word";
enum { S = 1, A = 3, B = 5, TEXT = 7, NEXT = 12, C = 17, WORD = 19 };
enum { INT = 1, CHAR, LONG, WORD_T, CONST, ARRAY, POINTER, STRUCT, SHORT, LAST };
enum { KIND_AT = 24, FLAG = 1u << 31, SIGNED = 1 << 24 };

static void put_type(struct writer *w, uint32_t name, uint32_t kind, uint32_t count, uint32_t size) {
    writer_u32(w, name);
    writer_u32(w, kind << KIND_AT | count | (kind == 4 ? FLAG : 0));
    writer_u32(w, size);
}

static void put_three(struct writer *w, uint32_t a, uint32_t b, uint32_t c) {
    writer_u32(w, a);
    writer_u32(w, b);
    writer_u32(w, c);
}

static void put_types(struct writer *w) {
    put_type(w, 0, 1, 0, 4);
    writer_u32(w, SIGNED | 32);
    put_type(w, 0, 1, 0, 1);
    writer_u32(w, 8);
    put_type(w, 0, 1, 0, 8);
    writer_u32(w, SIGNED | 64);
    put_type(w, WORD, 8, 0, LONG);
    put_type(w, 0, 10, 0, WORD_T);
    put_type(w, 0, 3, 0, 0);
    put_three(w, CHAR, INT, 4);
    put_type(w, 0, 2, 0, STRUCT);
    put_type(w, S, 4, 5, 40);
    put_three(w, A, INT, 0);
    put_three(w, B, CONST, 64);
    put_three(w, TEXT, ARRAY, 128);
    put_three(w, NEXT, POINTER, 192);
    put_three(w, C, SHORT, 3u << KIND_AT | 256);
    put_type(w, 0, 1, 0, 2);
    writer_u32(w, 16);
    put_type(w, 0, 8, 0, LAST); /* a typedef of itself */
}

static void put_all(struct writer *w, bool swap) {
    struct writer types = writer_make(swap);
    put_types(&types);
    writer_u16(w, 0xeb9f);
    writer_u16(w, 1);
    writer_u32(w, 24);
    writer_u32(w, 0);
    writer_u32(w, (uint32_t)types.size);
    writer_u32(w, (uint32_t)types.size);
    writer_u32(w, sizeof STRINGS);
    writer_bytes_put(w, writer_bytes(&types));
    writer_put(w, STRINGS, sizeof STRINGS);
    writer_fini(&types);
}

static bool note(void *ctx, const char *name, uint32_t id) {
    assert_string_equal(name, "s");
    *(uint32_t *)ctx = id;
    return true;
}

static void members_of_either_byte_order(void **state) {
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        struct writer w = writer_make(swap);
        struct btf b;
        struct btf_type type;
        struct btf_member m;
        struct err err = ERR_INIT;
        uint32_t id = 0;
        put_all(&w, swap);
        assert_true(btf_open(&b, writer_bytes(&w), &err));
        assert_true(btf_each_struct(&b, note, &id));
        assert_int_equal(id, STRUCT);
        assert_true(btf_type(&b, id, &type) && type.count == 5 && type.size == 40 && !type.is_union);
        assert_true(btf_member(&b, id, 0, &m) && m.bit == 0 && !m.is_bitfield);
        assert_string_equal(m.name, "a");
        assert_true(btf_type(&b, m.type, &type) && type.kind == BTF_INT && type.is_signed && type.size == 4);
        assert_true(btf_member(&b, id, 1, &m) && btf_type(&b, m.type, &type) && type.id == LONG);
        assert_true(btf_member(&b, id, 2, &m) && btf_type(&b, m.type, &type) && type.kind == BTF_ARRAY);
        assert_true(btf_member(&b, id, 3, &m) && btf_type(&b, m.type, &type) && type.kind == BTF_POINTER);
        assert_true(btf_member(&b, id, 4, &m) && m.is_bitfield && m.bit == 256);
        assert_true(btf_type(&b, m.type, &type) && !type.is_signed);
        assert_false(btf_member(&b, id, 5, &m));
        assert_false(btf_member(&b, INT, 0, &m));
        assert_false(btf_type(&b, LAST, &type));
        assert_false(btf_type(&b, 0, &type) || btf_type(&b, LAST + 1, &type));
        btf_close(&b);
        writer_fini(&w);
    }
}

static void damaged_and_truncated(void **state) {
    struct writer w = writer_make(false);
    struct btf b;
    struct err err = ERR_INIT;
    (void)state;
    put_all(&w, false);
    for (size_t n = 0; n < w.size; n++) {
        assert_false(btf_open(&b, (struct bytes){n ? w.data : NULL, n}, &err));
        btf_close(&b);
    }
    w.data[24 + 7] = 0x1f; /* the first type's kind */
    assert_false(btf_open(&b, writer_bytes(&w), &err));
    assert_string_equal(err.message, "type 1 is damaged, or newer than sonde");
    btf_close(&b);
    writer_fini(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_of_either_byte_order),
        cmocka_unit_test(damaged_and_truncated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
