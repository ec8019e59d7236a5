/* SPDX-License-Identifier: Apache-2.0 */
#include "object/dwarf/lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "config.h"
#include "object/index/object_index.h"
#include "object/links.h"
#include "tests/support/elf_image.h"
#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

/* Two units in DWARF 4: a.c at 0x1000 to 0x1020 by DW_AT_low_pc and DW_AT_high_pc, b.c at 0x2000 to 0x2010
 * without either, so that only its lines say what it covers. */
enum { CODE_A = 0x1000, CODE_B = 0x2000 };

static void put_text(struct writer *w, const char *s) {
    writer_put(w, s, strlen(s) + 1);
}

/* A length that is patched once what it counts is there. */
static size_t open_length(struct writer *w) {
    writer_u32(w, 0);
    return w->size;
}

static void close_length(struct writer *w, size_t start) {
    writer_patch32(w, start - 4, (uint32_t)(w->size - start));
}

/* .debug_abbrev: 1: a unit with a name, a folder, lines, an extent, and functions; 2: without the last two;
 * 3: a function that was inlined, 4: a function, 5: what was inlined in it, 6: a block. 7.5.3 */
static void put_abbreviations(struct writer *w) {
    static const uint8_t rows[] = {
        1, 0x11, 1, 0x03, 0x08, 0x1b, 0x08, 0x10, 0x17, 0x11, 0x01, 0x12, 0x06, 0, 0, /* compile_unit */
        2, 0x11, 0, 0x03, 0x08, 0x1b, 0x08, 0x10, 0x17, 0,    0,                      /* compile_unit */
        3, 0x2e, 0, 0x03, 0x08, 0x6e, 0x08, 0,    0,             /* subprogram: linkage_name */
        4, 0x2e, 1, 0x03, 0x08, 0x11, 0x01, 0x12, 0x06, 0,    0, /* subprogram */
        5, 0x1d, 1, 0x31, 0x13, 0x11, 0x01, 0x12, 0x06, 0x58, 0x0b, 0x59, 0x0b, 0, 0, /* inlined_subroutine */
        6, 0x0b, 1, 0x11, 0x01, 0x12, 0x06, 0,    0,                                  /* lexical_block */
        0};
    writer_put(w, rows, sizeof rows);
}

static void put_extent(const struct elf_image *m, struct writer *w, uint32_t start, uint32_t size) {
    elf_image_word_put(m, w, start);
    writer_u32(w, size);
}

/* main at 0x1000 to 0x1020 has a block at 0x1004 to 0x101c, in which outer is inlined at 0x1004 to 0x1018,
 * called from line 21; in that, inner at 0x1010 to 0x1014, called from line 31 of x.h. */
static void put_functions(const struct elf_image *m, struct writer *w, size_t unit) {
    uint32_t outer = (uint32_t)(w->size - unit);
    writer_u8(w, 3);
    put_text(w, "outer");
    put_text(w, "_Z5outerv");
    uint32_t inner = (uint32_t)(w->size - unit);
    writer_u8(w, 3);
    put_text(w, "inner");
    put_text(w, "_Z5innerv");
    writer_u8(w, 4);
    put_text(w, "main");
    put_extent(m, w, CODE_A, 0x20);
    writer_u8(w, 6);
    put_extent(m, w, CODE_A + 4, 0x18);
    writer_u8(w, 5);
    writer_u32(w, outer);
    put_extent(m, w, CODE_A + 4, 0x14);
    writer_put(w, "\1\25", 2);
    writer_u8(w, 5);
    writer_u32(w, inner);
    put_extent(m, w, CODE_A + 16, 4);
    writer_put(w, "\2\37", 2);
    writer_zero(w, 5); /* the ends of what has entries below */
}

static void put_unit(const struct elf_image *m, struct writer *w, const char *file, uint32_t lines,
                     uint32_t code) {
    size_t start = open_length(w);
    writer_u16(w, 4);
    writer_u32(w, 0); /* abbreviations at */
    writer_u8(w, m->wide ? 8 : 4);
    writer_u8(w, code ? 1 : 2);
    put_text(w, file);
    put_text(w, "/src/project");
    writer_u32(w, lines);
    if (code) {
        put_extent(m, w, code, 0x20);
        put_functions(m, w, start - 4);
    }
    close_length(w, start);
}

/* A line number program: header 6.2.4; rows at code: line 10, code + 4: line 12, code + 16: line 11 of
 * sub/x.h. */
static void put_lines(const struct elf_image *m, struct writer *w, const char *file, uint32_t code,
                      uint8_t end) {
    static const uint8_t operands[] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
    size_t start = open_length(w);
    writer_u16(w, 4);
    size_t header = open_length(w);
    writer_put(w, "\1\1\1\xfb\x0e\x0d",
               6); /* unit 1, one operation, is_stmt, base -5, range 14, opcodes 13 */
    writer_put(w, operands, sizeof operands);
    put_text(w, "sub"); /* folders: 0 is the unit's */
    writer_u8(w, 0);
    put_text(w, file);
    writer_put(w, "\0\0\0", 3);
    put_text(w, "x.h");
    writer_put(w, "\1\0\0", 3);
    writer_u8(w, 0);
    close_length(w, header);
    writer_u8(w, 0); /* DW_LNE_set_address */
    writer_u8(w, m->wide ? 9 : 5);
    writer_u8(w, 2);
    elf_image_word_put(m, w, code);
    writer_put(w, "\3\x09\1", 3);           /* advance_line 9, copy */
    writer_put(w, "\2\4\3\2\1", 5);         /* advance_pc 4, advance_line 2, copy */
    writer_put(w, "\2\x0c\4\2\3\x7f\1", 7); /* advance_pc 12, file 2, advance_line -1, copy */
    writer_put(w, "\2", 1);                 /* advance_pc to the end, end_sequence */
    writer_u8(w, end - 16);
    writer_put(w, "\0\1\1", 3);
    close_length(w, start);
}

/* Replaces a content by its compressed form; false: built without zlib. */
static bool compress_part(const struct elf_image *m, struct writer *w) {
#ifdef HAVE_ZLIB
    uint8_t packed[4096];
    uLongf n = sizeof packed;
    uint64_t size = w->size;
    assert_int_equal(compress(packed, &n, w->data, w->size), Z_OK);
    writer_clear(w);
    writer_u32(w, ELFCOMPRESS_ZLIB);
    if (m->wide)
        writer_u32(w, 0);
    elf_image_word_put(m, w, size);
    elf_image_word_put(m, w, 1);
    writer_put(w, packed, n);
    return true;
#else
    (void)m, (void)w;
    return false;
#endif
}

static struct bytes make_debug(struct test_image *t, bool wide, bool big, uint16_t type, bool compressed) {
    test_image_init(t, wide, big, type, EM_X86_64);
    struct writer *abbreviations = test_image_part(t), *info = test_image_part(t),
                  *lines = test_image_part(t);
    put_abbreviations(abbreviations);
    put_lines(&t->image, lines, "a.c", CODE_A, 0x20);
    uint32_t second = (uint32_t)lines->size;
    put_lines(&t->image, lines, "/abs/b.c", CODE_B, 0x18);
    put_unit(&t->image, info, "a.c", 0, CODE_A);
    put_unit(&t->image, info, "/abs/b.c", second, 0);
    const struct {
        const char *name;
        struct writer *content;
    } sections[] = {{".debug_abbrev", abbreviations}, {".debug_info", info}, {".debug_line", lines}};
    for (size_t i = 0; i < 3; i++) {
        bool packed = compressed && i != 1 && compress_part(&t->image, sections[i].content);
        elf_image_section(&t->image,
                          &(struct elf_image_section){.name = sections[i].name,
                                                      .type = SHT_PROGBITS,
                                                      .flags = packed ? SHF_COMPRESSED : 0,
                                                      .content = writer_bytes(sections[i].content)});
    }
    return test_image_done(t);
}

static struct bytes make(struct test_image *t, bool wide, bool big, uint16_t type) {
    return make_debug(t, wide, big, type, false);
}

static void test_lines(void **state) {
    (void)state;
    static const struct {
        object_vaddr addr;
        const char *file; /* NULL: no line */
        uint32_t line;
    } rows[] = {
        {CODE_A, "/src/project/a.c", 10},
        {CODE_A + 3, "/src/project/a.c", 10},
        {CODE_A + 4, "/src/project/a.c", 12},
        {CODE_A + 15, "/src/project/a.c", 12},
        {CODE_A + 16, "/src/project/sub/x.h", 11},
        {CODE_A + 0x1f, "/src/project/sub/x.h", 11},
        {CODE_A + 0x20, NULL, 0},
        {CODE_A - 1, NULL, 0},
        {CODE_B, "/abs/b.c", 10},
        {CODE_B + 0x17, "/src/project/sub/x.h", 11},
        {CODE_B + 0x18, NULL, 0},
        {0, NULL, 0},
        {UINT64_MAX, NULL, 0},
    };
    if (!object_lines_supported()) {
        print_message("SKIP: built without libdw\n");
        skip();
    }
    for (int kind = 0; kind < 8; kind++) {
        struct test_image t;
        struct err err = ERR_INIT;
        struct bytes image = make_debug(&t, kind & 1, kind & 2, ET_DYN, kind & 4);
        struct object_lines *lines = object_lines_new(image, (struct bytes){NULL, 0}, &err);
        struct object_index *index = object_index_new(image, (struct bytes){NULL, 0}, NULL, NULL, &err);
        assert_non_null(lines);
        assert_non_null(index);
        for (int again = 0; again < 2; again++)
            for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                struct object_line line;
                assert_int_equal(object_lines_find(lines, rows[i].addr, &line), rows[i].file != NULL);
                if (rows[i].file)
                    assert_string_equal(line.file, rows[i].file);
                assert_int_equal(line.line, rows[i].line);
                assert_int_equal(object_index_find(index, rows[i].addr, &line), rows[i].file != NULL);
                if (rows[i].file)
                    assert_string_equal(line.file, rows[i].file);
                assert_int_equal(line.line, rows[i].line);
            }
        object_index_free(index);
        object_lines_free(lines);
        test_image_fini(&t);
    }
}

static void check_inline(const struct object_inline *f, const char *name, const char *file, uint32_t line) {
    assert_string_equal(f->name, name);
    assert_string_equal(f->line.file, file);
    assert_int_equal(f->line.line, line);
}

/* Either way of asking. */
struct asked {
    struct object_lines *lines;
    struct object_index *index;
};

static size_t inlined(struct asked *a, object_vaddr addr, struct object_inline *out, size_t max) {
    return a->lines ? object_lines_inlined(a->lines, addr, out, max)
                    : object_index_inlined(a->index, addr, out, max);
}

static void check_inlined(struct asked *a) {
    struct object_inline f[4];
    assert_int_equal(inlined(a, CODE_A, f, 4), 1);
    check_inline(&f[0], "main", "/src/project/a.c", 10);
    assert_int_equal(inlined(a, CODE_A + 4, f, 4), 2);
    check_inline(&f[0], "_Z5outerv", "/src/project/a.c", 12);
    check_inline(&f[1], "main", "/src/project/a.c", 21);
    assert_int_equal(inlined(a, CODE_A + 16, f, 4), 3);
    check_inline(&f[0], "_Z5innerv", "/src/project/sub/x.h", 11);
    check_inline(&f[1], "_Z5outerv", "/src/project/sub/x.h", 31);
    check_inline(&f[2], "main", "/src/project/a.c", 21);
    assert_int_equal(inlined(a, CODE_A + 16, f, 2), 2);
    assert_int_equal(inlined(a, CODE_A + 0x1a, f, 4), 1);
    assert_int_equal(inlined(a, CODE_A + 0x20, f, 4), 0);
    assert_int_equal(inlined(a, CODE_B, f, 4), 0);
}

static void test_inlined(void **state) {
    (void)state;
    if (!object_lines_supported()) {
        print_message("SKIP: built without libdw\n");
        skip();
    }
    for (int kind = 0; kind < 8; kind++) {
        struct test_image t;
        struct bytes image = make_debug(&t, kind & 1, kind & 2, ET_DYN, kind & 4);
        const struct bytes none = {NULL, 0};
        struct asked a = {object_lines_new(image, none, NULL), NULL};
        assert_non_null(a.lines);
        check_inlined(&a);
        object_lines_free(a.lines);
        for (int prepared = 0; prepared < 2; prepared++) {
            const object_vaddr addrs[] = {CODE_A, CODE_B, 7, UINT64_MAX};
            struct asked b = {NULL, object_index_new(image, none, NULL, NULL, NULL)};
            assert_non_null(b.index);
            if (prepared)
                assert_true(object_index_prepare(b.index, addrs, 4, NULL, NULL));
            check_inlined(&b);
            object_index_free(b.index);
        }
        test_image_fini(&t);
    }
}

static enum err_code refusal(struct bytes image, struct bytes alt) {
    struct err err = ERR_INIT;
    struct object_lines *lines = object_lines_new(image, alt, &err);
    assert_null(lines);
    return err.code;
}

static void test_refused(void **state) {
    (void)state;
    const struct bytes none = {NULL, 0};
    struct test_image t;
    if (!object_lines_supported()) {
        assert_int_equal(refusal(none, none), ERR_UNSUPPORTED);
        print_message("SKIP: built without libdw\n");
        skip();
    }
    assert_int_equal(refusal(none, none), ERR_BROKEN);
    assert_int_equal(refusal(make(&t, true, false, ET_REL), none), ERR_UNSUPPORTED);
    test_image_fini(&t);
    test_image_init(&t, true, false, ET_DYN, EM_X86_64);
    assert_int_equal(refusal(test_image_done(&t), none), ERR_ABSENT);
    test_image_fini(&t);
    /* A dwz file that is named is not looked for. */
    struct bytes link = {(const uint8_t *)"/etc/passwd\0"
                                          "12345678901234567890",
                         32};
    struct test_image alt;
    struct bytes alt_image = make(&alt, true, false, ET_DYN);
    test_image_init(&t, true, false, ET_DYN, EM_X86_64);
    for (uint32_t i = 1; i <= 3; i++)
        elf_image_section(&t.image, &alt.image.sections.items[i]);
    elf_image_section(&t.image, &(struct elf_image_section){
                                    .name = ".gnu_debugaltlink", .type = SHT_PROGBITS, .content = link});
    struct bytes image = test_image_done(&t);
    assert_int_equal(refusal(image, link), ERR_BROKEN);
    struct object_lines *lines = object_lines_new(image, none, NULL);
    struct object_line line;
    assert_non_null(lines);
    assert_true(object_lines_find(lines, CODE_A, &line));
    object_lines_free(lines);
    lines = object_lines_new(image, alt_image, NULL);
    assert_non_null(lines);
    assert_true(object_lines_find(lines, CODE_A, &line));
    assert_int_equal(line.line, 10);
    object_lines_free(lines);
    test_image_fini(&t);
    test_image_fini(&alt);
}

/* A compressed section that claims more than it can hold never reaches libdw. */
static void test_claims(void **state) {
    (void)state;
    if (!object_lines_supported()) {
        print_message("SKIP: built without libdw\n");
        skip();
    }
    struct test_image t;
    test_image_init(&t, true, false, ET_DYN, EM_X86_64);
    struct writer *w = test_image_part(&t);
    writer_u32(w, ELFCOMPRESS_ZLIB);
    writer_u32(w, 0);
    writer_u64(w, (uint64_t)1 << 40);
    writer_u64(w, 1);
    writer_put(w, "x\234\3\0\0\0\0\1", 8);
    elf_image_section(&t.image, &(struct elf_image_section){.name = ".debug_info",
                                                            .type = SHT_PROGBITS,
                                                            .flags = SHF_COMPRESSED,
                                                            .content = writer_bytes(w)});
    assert_int_equal(refusal(test_image_done(&t), (struct bytes){NULL, 0}), ERR_BROKEN);
    test_image_fini(&t);
}

static void ask_hostile(struct bytes image) {
    struct object_index *index = object_index_new(image, (struct bytes){NULL, 0}, NULL, NULL, NULL);
    struct object_line line;
    for (object_vaddr a = CODE_A; index && a < CODE_B + 32; a += 0x7ff)
        if (object_index_find(index, a, &line)) {
            struct object_inline frames[4];
            assert_non_null(line.file);
            assert_in_range(object_index_inlined(index, a + 4, frames, 4), 0, 4);
        }
    object_index_free(index);
}

/* Any byte changed, any end cut off: some answer, and no step outside. */
static void test_hostile(void **state) {
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        struct test_image t;
        struct bytes image = make_debug(&t, true, kind & 1, ET_DYN, kind & 2);
        for (size_t at = 0; at < image.size * 2; at++) {
            size_t size = at & 1 ? at / 2 : image.size;
            uint8_t *copy = malloc(size ? size : 1);
            assert_non_null(copy);
            memcpy(copy, image.data, size);
            if (size == image.size)
                copy[at / 2] ^= at % 3 ? 0xff : 1;
            struct object_lines *lines =
                object_lines_new((struct bytes){copy, size}, (struct bytes){NULL, 0}, NULL);
            struct object_line line;
            for (object_vaddr a = CODE_A; lines && a < CODE_B + 32; a += 0x7ff)
                if (object_lines_find(lines, a, &line)) {
                    struct object_inline frames[4];
                    assert_non_null(line.file);
                    assert_in_range(object_lines_inlined(lines, a + 4, frames, 4), 0, 4);
                }
            object_lines_free(lines);
            ask_hostile((struct bytes){copy, size});
            free(copy);
        }
        test_image_fini(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),  cmocka_unit_test(test_inlined), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_claims), cmocka_unit_test(test_hostile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
