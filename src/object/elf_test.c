/* SPDX-License-Identifier: Apache-2.0 */
#include "object/elf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "config.h"
#include "object/build_id.h"
#include "tests/support/elf_image.h"
#include "tests/support/fail_alloc.h"
#ifdef HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

static struct bytes text_bytes(const char *s) {
    return (struct bytes){(const uint8_t *)s, strlen(s)};
}

static void assert_text(struct bytes b, const char *want) {
    assert_int_equal(b.size, strlen(want));
    assert_memory_equal(b.data ? b.data : (const uint8_t *)"", want, b.size);
}

/* .text at 0x1000, .data at 0x3000, .bss after it, both symbol tables, a build-id. Sections: see the enum.
 */
enum { TEXT = 1, DATA, BSS, SYMTAB, STRTAB, DYNSYM, DYNSTR, NOTE, SHSTRTAB };

static void make_usual(struct test_image *t, bool wide, bool big) {
    test_image_init(t, wide, big, ET_DYN, EM_X86_64);
    struct elf_image *m = &t->image;
    m->entry = 0x1010;
    m->flags = 0x12345678;
    struct writer *text = test_image_part(t), *data = test_image_part(t), *symtab = test_image_part(t),
                  *strtab = test_image_part(t), *dynsym = test_image_part(t), *dynstr = test_image_part(t),
                  *note = test_image_part(t);
    writer_zero(text, 0x100);
    writer_zero(data, 0x40);
    const struct elf_image_symbol symbols[] = {
        {"local", 0x1000, 0x10, STB_LOCAL, STT_FUNC, STV_HIDDEN, TEXT},
        {"", 0x1010, 0, STB_LOCAL, STT_SECTION, 0, TEXT},
        {"main", 0x1010, 0x20, STB_GLOBAL, STT_FUNC, 0, TEXT},
        {"picked", 0x1030, 0x20, STB_GLOBAL, STT_GNU_IFUNC, 0, TEXT},
        {"weak", 0x3000, 8, STB_WEAK, STT_OBJECT, 0, DATA},
        {"absolute", 77, 0, STB_GLOBAL, STT_NOTYPE, 0, SHN_ABS},
    };
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
        elf_image_symbol_put(m, symtab, strtab, &symbols[i]);
    elf_image_symbol_put(m, dynsym, dynstr, &(struct elf_image_symbol){.name = "puts", .bind = STB_GLOBAL});
    elf_image_note_put(note, "GNU", 3, text_bytes("0123456789abcdefghij"));
    const struct elf_image_section sections[] = {
        {".text", SHT_PROGBITS, 0, 0, SHF_ALLOC | SHF_EXECINSTR, 0x1000, 16, 0, writer_bytes(text), 0},
        {".data", SHT_PROGBITS, 0, 0, SHF_ALLOC | SHF_WRITE, 0x3000, 8, 0, writer_bytes(data), 0},
        {".bss", SHT_NOBITS, 0, 0, SHF_ALLOC | SHF_WRITE, 0x3040, 8, 0, {NULL, 0}, 0x100},
        {".symtab", SHT_SYMTAB, STRTAB, 3, 0, 0, 8, wide ? 24 : 16, writer_bytes(symtab), 0},
        {".strtab", SHT_STRTAB, 0, 0, 0, 0, 1, 0, writer_bytes(strtab), 0},
        {".dynsym", SHT_DYNSYM, DYNSTR, 1, 0, 0, 8, 0, writer_bytes(dynsym), 0},
        {".dynstr", SHT_STRTAB, 0, 0, 0, 0, 1, 0, writer_bytes(dynstr), 0},
        {".note.gnu.build-id", SHT_NOTE, 0, 0, 0, 0, 4, 0, writer_bytes(note), 0},
    };
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        assert_int_equal(elf_image_section(m, &sections[i]), i + 1);
    elf_image_segment(m, &(struct elf_image_segment){PT_LOAD, PF_R | PF_X, 0x1000, 0x10, TEXT, TEXT});
    elf_image_segment(m, &(struct elf_image_segment){PT_LOAD, PF_R | PF_W, 0x3000, 8, DATA, BSS});
    elf_image_segment(m, &(struct elf_image_segment){PT_NOTE, PF_R, 0, 4, NOTE, NOTE});
}

static void check_usual(struct bytes file, bool wide, bool big) {
    struct object_elf e;
    assert_true(object_elf_open(file, &e, NULL));
    assert_int_equal(e.wide, wide);
    assert_int_equal(e.big_endian, big);
    assert_int_equal(e.type, ET_DYN);
    assert_int_equal(e.machine, EM_X86_64);
    assert_int_equal(e.entry, 0x1010);
    assert_int_equal(e.flags, 0x12345678);
    assert_int_equal(e.segment_count, 3);
    assert_int_equal(e.section_count, 10);
    struct object_segment segment;
    assert_true(object_elf_segment(&e, 1, &segment));
    assert_int_equal(segment.type, PT_LOAD);
    assert_int_equal(segment.flags, PF_R | PF_W);
    assert_int_equal(segment.vaddr, 0x3000);
    assert_int_equal(segment.file_size, 0x40);
    assert_int_equal(segment.memory_size, 0x140);
    assert_int_equal(segment.align, 8);
    uint64_t data_at = segment.offset;
    assert_false(object_elf_segment(&e, 3, &segment));
    struct object_section s;
    assert_true(object_elf_section(&e, 0, &s));
    assert_false(object_elf_section(&e, 10, &s));
    assert_true(object_elf_section_named(&e, ".data", &s));
    assert_int_equal(s.index, DATA);
    assert_int_equal(s.addr, 0x3000);
    assert_int_equal(s.size, 0x40);
    assert_int_equal(s.align, 8);
    assert_int_equal(s.flags, SHF_ALLOC | SHF_WRITE);
    assert_int_equal(s.offset, data_at);
    assert_false(object_elf_section_named(&e, ".dat", &s));
    assert_true(object_elf_section_typed(&e, SHT_SYMTAB, &s));
    assert_text(s.name, ".symtab");
    assert_int_equal(s.link, STRTAB);
    assert_int_equal(s.info, 3);
    assert_int_equal(s.entry_size, wide ? 24 : 16);
    struct bytes content;
    struct err err = ERR_INIT;
    assert_true(object_elf_section(&e, BSS, &s));
    assert_false(object_elf_section_bytes(&e, &s, NULL, &content, &err));
    assert_int_equal(err.code, ERR_ABSENT);
    struct object_build_id id;
    assert_true(object_build_id_read(file, &id));
    assert_int_equal(id.size, 20);
}

static void check_symbols(struct bytes file) {
    struct object_elf e;
    struct object_symbols walk;
    struct object_symbol s;
    assert_true(object_elf_open(file, &e, NULL));
    assert_true(object_symbols_open(&e, SHT_SYMTAB, &walk, NULL));
    assert_true(object_symbols_next(&walk, &s));
    assert_text(s.name, "local");
    assert_int_equal(s.index, 1);
    assert_int_equal(s.value, 0x1000);
    assert_int_equal(s.size, 0x10);
    assert_int_equal(s.bind, STB_LOCAL);
    assert_int_equal(s.type, STT_FUNC);
    assert_int_equal(s.other, STV_HIDDEN);
    assert_int_equal(s.section, TEXT);
    assert_true(object_symbols_next(&walk, &s));
    assert_text(s.name, "");
    assert_int_equal(s.type, STT_SECTION);
    assert_true(object_symbols_next(&walk, &s));
    assert_text(s.name, "main");
    assert_true(object_symbols_next(&walk, &s));
    assert_int_equal(s.type, STT_GNU_IFUNC);
    assert_true(object_symbols_next(&walk, &s));
    assert_int_equal(s.bind, STB_WEAK);
    assert_true(object_symbols_next(&walk, &s));
    assert_text(s.name, "absolute");
    assert_int_equal(s.section, 0);
    assert_int_equal(s.reserved, SHN_ABS);
    assert_false(object_symbols_next(&walk, &s));
    assert_false(walk.broken);
    assert_true(object_symbols_at(&walk, 3, &s));
    assert_text(s.name, "main");
    assert_false(object_symbols_at(&walk, 7, &s));
    assert_true(object_symbols_open(&e, SHT_DYNSYM, &walk, NULL));
    assert_true(object_symbols_next(&walk, &s));
    assert_text(s.name, "puts");
    assert_int_equal(s.section, SHN_UNDEF);
    assert_false(object_symbols_next(&walk, &s));
}

static void test_every_kind(void **state) {
    (void)state;
    for (int kind = 0; kind < 8; kind++) {
        struct test_image t;
        make_usual(&t, kind & 1, kind & 2);
        t.image.extended = kind & 4;
        struct bytes file = test_image_done(&t);
        check_usual(file, kind & 1, kind & 2);
        check_symbols(file);
        test_image_fini(&t);
    }
}

/* Everything that can be asked, without an opinion on the answers. */
static uint64_t ask_all(struct bytes file) {
    struct object_elf e;
    uint64_t sum = 0;
    if (!object_elf_open(file, &e, NULL))
        return 0;
    struct object_section s;
    struct object_segment segment;
    struct bytes content;
    struct arena arena = ARENA_INIT;
    for (uint32_t i = 0; i < 20; i++) {
        sum += object_elf_segment(&e, i, &segment);
        if (object_elf_section(&e, i, &s) && object_elf_section_bytes(&e, &s, &arena, &content, NULL))
            for (size_t k = 0; k < content.size; k++)
                sum += content.data[k];
    }
    const uint32_t tables[] = {SHT_SYMTAB, SHT_DYNSYM};
    for (int i = 0; i < 2; i++) {
        struct object_symbols walk;
        struct object_symbol symbol;
        if (object_symbols_open(&e, tables[i], &walk, NULL))
            while (object_symbols_next(&walk, &symbol))
                for (size_t k = 0; k < symbol.name.size; k++)
                    sum += symbol.name.data[k];
    }
    struct object_layout layout;
    assert_true(object_layout_init(&e, &layout, NULL));
    uint64_t found;
    for (uint64_t at = 0; at < 0x4000; at += 0x800) {
        sum += object_layout_offset(&layout, at, &found) && (assert_true(found < file.size), found);
        sum += object_layout_addr(&layout, at, &found) && found;
    }
    object_layout_fini(&layout);
    arena_fini(&arena);
    return sum;
}

/* Cut off anywhere, and with any byte changed, in memory of its own size, so that a step outside is seen. */
static void test_hostile(void **state) {
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        struct test_image t;
        make_usual(&t, kind & 1, kind & 2);
        t.image.extended = kind == 3;
        struct bytes file = test_image_done(&t);
        for (size_t n = 0; n < file.size; n++) {
            uint8_t *copy = malloc(n ? n : 1);
            assert_non_null(copy);
            memcpy(copy, file.data, n);
            ask_all((struct bytes){copy, n});
            free(copy);
        }
        uint8_t *copy = malloc(file.size);
        assert_non_null(copy);
        memcpy(copy, file.data, file.size);
        for (size_t at = 0; at < file.size; at++)
            for (int bits = 0; bits < 3; bits++) {
                copy[at] = bits == 0 ? 0 : bits == 1 ? 0xff : file.data[at] ^ 0x80;
                ask_all((struct bytes){copy, file.size});
                copy[at] = file.data[at];
            }
        free(copy);
        test_image_fini(&t);
    }
}

static void test_no_elf(void **state) {
    (void)state;
    struct object_elf e;
    struct err err = ERR_INIT;
    assert_false(object_elf_open((struct bytes){NULL, 0}, &e, &err));
    assert_int_equal(err.code, ERR_BROKEN);
    assert_false(object_elf_open(text_bytes("#!/bin/sh and some more"), &e, &err));
    struct test_image t;
    test_image_init(&t, true, false, ET_EXEC, EM_X86_64);
    struct bytes file = test_image_done(&t);
    assert_true(object_elf_open(file, &e, NULL));
    struct object_symbols walk;
    assert_false(object_symbols_open(&e, SHT_SYMTAB, &walk, &err));
    assert_int_equal(err.code, ERR_ABSENT);
    struct object_symbol s;
    assert_false(object_symbols_next(&walk, &s));
    struct object_layout layout;
    uint64_t found;
    assert_true(object_layout_init(&e, &layout, NULL));
    assert_false(object_layout_offset(&layout, 0, &found));
    assert_false(object_layout_addr(&layout, 0, &found));
    object_layout_fini(&layout);
    test_image_fini(&t);
}

static void test_layout(void **state) {
    (void)state;
    struct test_image t;
    make_usual(&t, true, false);
    struct bytes file = test_image_done(&t);
    uint64_t text_at = t.image.sections.items[TEXT].offset, data_at = t.image.sections.items[DATA].offset;
    for (int with_segments = 1; with_segments >= 0; with_segments--) {
        struct object_elf e;
        struct object_layout layout;
        uint64_t found = 0;
        assert_true(object_elf_open(file, &e, NULL));
        if (!with_segments)
            e.segment_count = 0;
        assert_true(object_layout_init(&e, &layout, NULL));
        assert_int_equal(layout.count, 2);
        assert_true(object_layout_offset(&layout, 0x1000, &found));
        assert_int_equal(found, text_at);
        assert_true(object_layout_offset(&layout, 0x10ff, &found));
        assert_int_equal(found, text_at + 0xff);
        assert_false(object_layout_offset(&layout, 0x1100, &found));
        assert_false(object_layout_offset(&layout, 0xfff, &found));
        assert_true(object_layout_offset(&layout, 0x303f, &found));
        assert_int_equal(found, data_at + 0x3f);
        assert_false(object_layout_offset(&layout, 0x3040, &found)); /* .bss */
        assert_true(object_layout_addr(&layout, text_at + 5, &found));
        assert_int_equal(found, 0x1005);
        assert_true(object_layout_addr(&layout, data_at, &found));
        assert_int_equal(found, 0x3000);
        assert_false(object_layout_addr(&layout, text_at - 1, &found));
        object_layout_fini(&layout);
        e.type = ET_REL; /* whose sections have no addresses */
        assert_true(object_layout_init(&e, &layout, NULL));
        assert_int_equal(layout.count, with_segments ? 2 : 0);
        object_layout_fini(&layout);
    }
    test_image_fini(&t);
}

/* A file's bytes loaded twice, as lld's relro does: the executable segment says where they are. */
static void test_layout_twice(void **state) {
    (void)state;
    struct test_image t;
    make_usual(&t, false, true);
    elf_image_segment(&t.image, &(struct elf_image_segment){PT_LOAD, PF_R, 0x500, 8, TEXT, TEXT});
    struct object_elf e;
    assert_true(object_elf_open(test_image_done(&t), &e, NULL));
    uint64_t found;
    FAIL_EACH_ALLOC({
        struct object_layout layout;
        if (object_layout_init(&e, &layout, NULL)) {
            assert_true(object_layout_addr(&layout, t.image.sections.items[TEXT].offset, &found));
            assert_int_equal(found, 0x1000);
            assert_true(object_layout_offset(&layout, 0x500, &found));
            object_layout_fini(&layout);
        }
    });
    test_image_fini(&t);
}

/* The section of a symbol when its number does not fit: SHT_SYMTAB_SHNDX. */
static void test_extended_symbols(void **state) {
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        struct test_image t;
        test_image_init(&t, kind & 1, kind & 2, ET_REL, EM_X86_64);
        struct elf_image *m = &t.image;
        struct writer *symtab = test_image_part(&t), *strtab = test_image_part(&t),
                      *index = test_image_part(&t);
        elf_image_symbol_put(m, symtab, strtab, &(struct elf_image_symbol){"a", 1, 2, 1, 2, 0, SHN_XINDEX});
        elf_image_symbol_put(m, symtab, strtab, &(struct elf_image_symbol){"b", 1, 2, 1, 2, 0, 5});
        elf_image_symbol_put(m, symtab, strtab, &(struct elf_image_symbol){"c", 1, 2, 1, 2, 0, SHN_XINDEX});
        writer_u32(index, 0);
        writer_u32(index, 70000);
        writer_u32(index, 0); /* and none for c */
        elf_image_section(
            m, &(struct elf_image_section){
                   .name = ".symtab", .type = SHT_SYMTAB, .link = 2, .content = writer_bytes(symtab)});
        elf_image_section(m, &(struct elf_image_section){
                                 .name = ".strtab", .type = SHT_STRTAB, .content = writer_bytes(strtab)});
        elf_image_section(m, &(struct elf_image_section){.name = ".symtab_shndx",
                                                         .type = SHT_SYMTAB_SHNDX,
                                                         .link = 1,
                                                         .content = writer_bytes(index)});
        struct object_elf e;
        struct object_symbols walk;
        struct object_symbol s;
        assert_true(object_elf_open(test_image_done(&t), &e, NULL));
        assert_true(object_symbols_open(&e, SHT_SYMTAB, &walk, NULL));
        assert_true(object_symbols_next(&walk, &s));
        assert_int_equal(s.section, 70000);
        assert_true(object_symbols_next(&walk, &s));
        assert_int_equal(s.section, 5);
        assert_true(object_symbols_next(&walk, &s));
        assert_int_equal(s.section, 0);
        assert_int_equal(s.reserved, SHN_XINDEX);
        test_image_fini(&t);
    }
}

/* More sections than e_shnum can say. */
static void test_many_sections(void **state) {
    (void)state;
    struct test_image t;
    test_image_init(&t, true, true, ET_REL, EM_S390);
    for (int i = 0; i < 70000; i++)
        elf_image_section(
            &t.image, &(struct elf_image_section){.name = i == 69998 ? "wanted" : "x", .type = SHT_PROGBITS});
    struct object_elf e;
    struct object_section s;
    assert_true(object_elf_open(test_image_done(&t), &e, NULL));
    assert_int_equal(e.section_count, 70002);
    assert_true(object_elf_section_named(&e, "wanted", &s));
    assert_int_equal(s.index, 69999);
    test_image_fini(&t);
}

/* Names that all end at the same NUL make the walk quadratic, were it not for the budget. */
static void test_overlapping_names(void **state) {
    (void)state;
    enum { SIZE = 1 << 20, COUNT = 40000 };
    struct test_image t;
    test_image_init(&t, true, false, ET_DYN, EM_X86_64);
    struct writer *symtab = test_image_part(&t), *strtab = test_image_part(&t);
    writer_u8(strtab, 0);
    for (int i = 0; i < SIZE; i++)
        writer_u8(strtab, 'x');
    writer_u8(strtab, 0);
    writer_zero(symtab, 24);
    for (int i = 0; i < COUNT; i++) {
        writer_u32(symtab, 1);
        writer_zero(symtab, 20);
    }
    elf_image_section(&t.image, &(struct elf_image_section){
                                    .type = SHT_SYMTAB, .link = 2, .content = writer_bytes(symtab)});
    elf_image_section(&t.image,
                      &(struct elf_image_section){.type = SHT_STRTAB, .content = writer_bytes(strtab)});
    struct object_elf e;
    struct object_symbols walk;
    struct object_symbol s;
    assert_true(object_elf_open(test_image_done(&t), &e, NULL));
    assert_true(object_symbols_open(&e, SHT_SYMTAB, &walk, NULL));
    int n = 0;
    while (object_symbols_next(&walk, &s))
        n++;
    assert_true(walk.broken);
    assert_in_range(n, 4, 100);
    test_image_fini(&t);
}

static void test_mapping_symbols(void **state) {
    (void)state;
    static const struct {
        uint16_t machine;
        const char *name;
        bool is;
    } rows[] = {
        {EM_ARM, "$a", true},       {EM_ARM, "$t.17", true},      {EM_ARM, "$d", true},
        {EM_ARM, "$x", false},      {EM_ARM, "$add", false},      {EM_AARCH64, "$x", true},
        {EM_AARCH64, "$d.1", true}, {EM_AARCH64, "$a", false},    {EM_AARCH64, "$", false},
        {EM_AARCH64, "x", false},   {EM_RISCV, "$xrv64gc", true}, {EM_RISCV, "$d", true},
        {EM_RISCV, "$xrow", false}, {EM_CSKY, "$t", true},        {EM_X86_64, "$a", false},
        {EM_X86_64, "$d.2", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct object_elf e = {.machine = rows[i].machine};
        struct object_symbol s = {.name = text_bytes(rows[i].name)};
        assert_int_equal(object_symbol_is_mapping(&e, &s), rows[i].is);
    }
}

static void test_ppc64(void **state) {
    (void)state;
    struct test_image t;
    test_image_init(&t, true, true, ET_EXEC, EM_PPC64);
    t.image.flags = 1;
    struct writer *opd = test_image_part(&t);
    for (int i = 0; i < 2; i++) {
        writer_u64(opd, 0x10000 + (unsigned)i * 0x100);
        writer_u64(opd, 0x8000);
        writer_u64(opd, 0);
    }
    elf_image_section(
        &t.image, &(struct elf_image_section){
                      .name = ".opd", .type = SHT_PROGBITS, .addr = 0x20000, .content = writer_bytes(opd)});
    struct object_elf e;
    struct object_opd descriptors;
    assert_true(object_elf_open(test_image_done(&t), &e, NULL));
    object_opd_init(&e, &descriptors);
    assert_int_equal(object_opd_follow(&descriptors, 0x20000), 0x10000);
    assert_int_equal(object_opd_follow(&descriptors, 0x20018), 0x10100);
    assert_int_equal(object_opd_follow(&descriptors, 0x1ffff), 0x1ffff);
    assert_int_equal(object_opd_follow(&descriptors, 0x20030), 0x20030);
    assert_int_equal(object_opd_follow(&descriptors, 0x2002f), 0x2002f);
    struct object_symbol s = {.other = 3 << 5};
    assert_int_equal(object_symbol_local_entry(&e, &s), 0);
    e.flags = 2; /* ELFv2 has no descriptors */
    object_opd_init(&e, &descriptors);
    assert_int_equal(object_opd_follow(&descriptors, 0x20000), 0x20000);
    assert_int_equal(object_symbol_local_entry(&e, &s), 8);
    static const uint32_t entries[8] = {0, 0, 4, 8, 16, 32, 64, 0};
    for (unsigned i = 0; i < 8; i++) {
        s.other = (uint8_t)(i << 5 | 3);
        assert_int_equal(object_symbol_local_entry(&e, &s), entries[i]);
    }
    test_image_fini(&t);
}

/* --- Compressed sections ------------------------------------------------------------------------------- */

static void put_compression_header(struct test_image *t, struct writer *w, uint32_t type, uint64_t size) {
    writer_u32(w, type);
    if (t->image.wide)
        writer_u32(w, 0);
    elf_image_word_put(&t->image, w, size);
    elf_image_word_put(&t->image, w, 1);
}

static enum err_code read_compressed(struct test_image *t, const struct writer *content, const char *name,
                                     uint64_t flags, struct arena *arena, struct bytes *out) {
    elf_image_section(
        &t->image, &(struct elf_image_section){
                       .name = name, .type = SHT_PROGBITS, .flags = flags, .content = writer_bytes(content)});
    struct object_elf e;
    struct object_section s;
    struct err err = ERR_INIT;
    assert_true(object_elf_open(test_image_done(t), &e, NULL));
    assert_true(object_elf_section(&e, 1, &s));
    bool ok = object_elf_section_bytes(&e, &s, arena, out, &err);
    assert_int_equal(ok, err.code == ERR_NONE);
    return err.code;
}

static struct bytes plain_text(void) {
    static uint8_t text[10000];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (uint8_t)("section "[i % 8] + i / 1000);
    return (struct bytes){text, sizeof text};
}

/* Packed by `type` into a new buffer; size 0: this build cannot. */
static struct bytes pack(uint32_t type, uint8_t *room, size_t size) {
    struct bytes plain = plain_text();
    (void)type, (void)plain, (void)room, (void)size;
#ifdef HAVE_ZLIB
    uLongf n = size;
    if (type == ELFCOMPRESS_ZLIB && compress(room, &n, plain.data, plain.size) == Z_OK)
        return (struct bytes){room, n};
#endif
#ifdef HAVE_ZSTD
    if (type == 2)
        return (struct bytes){room, ZSTD_compress(room, size, plain.data, plain.size, 3)};
#endif
    return (struct bytes){NULL, 0};
}

static void test_compressed(void **state) {
    (void)state;
    uint8_t room[16384];
    for (int kind = 0; kind < 8; kind++) {
        uint32_t type = kind & 4 ? 2 : ELFCOMPRESS_ZLIB;
        struct bytes packed = pack(type, room, sizeof room), plain = plain_text(), out;
        /* exactly, one less, one more, far more than can be */
        const uint64_t claims[] = {plain.size, plain.size - 1, plain.size + 1, 1u << 30};
        for (int i = 0; i < 4; i++) {
            struct test_image t;
            struct arena arena = ARENA_INIT;
            test_image_init(&t, kind & 1, kind & 2, ET_DYN, EM_X86_64);
            struct writer *content = test_image_part(&t);
            put_compression_header(&t, content, type, claims[i]);
            writer_bytes_put(content, packed);
            enum err_code code = read_compressed(&t, content, ".debug_info", SHF_COMPRESSED, &arena, &out);
            if (packed.size && i == 0) {
                assert_int_equal(code, ERR_NONE);
                assert_true(bytes_equal(out, plain));
            } else {
                assert_int_equal(code, packed.size || claims[i] > 1u << 20 ? ERR_BROKEN : code);
                assert_int_not_equal(code, ERR_NONE);
            }
            arena_fini(&arena);
            test_image_fini(&t);
        }
    }
}

static void test_compressed_gnu(void **state) {
    (void)state;
    uint8_t room[16384];
    struct bytes packed = pack(ELFCOMPRESS_ZLIB, room, sizeof room), plain = plain_text(), out;
    if (!packed.size) {
        print_message("SKIP: built without zlib\n");
        skip();
    }
    for (int big = 0; big < 2; big++) {
        struct test_image t;
        struct arena arena = ARENA_INIT;
        test_image_init(&t, true, big, ET_DYN, EM_X86_64);
        struct writer *content = test_image_part(&t);
        writer_put(content, "ZLIB\0\0\0\0\0\0", 10);
        writer_u8(content, (uint8_t)(plain.size >> 8));
        writer_u8(content, (uint8_t)plain.size);
        writer_bytes_put(content, packed);
        assert_int_equal(read_compressed(&t, content, ".zdebug_line", 0, &arena, &out), ERR_NONE);
        assert_true(bytes_equal(out, plain));
        arena_fini(&arena);
        test_image_fini(&t);
    }
}

static void test_compressed_unknown(void **state) {
    (void)state;
    struct arena arena = ARENA_INIT;
    struct bytes out;
    struct test_image t;
    test_image_init(&t, true, false, ET_DYN, EM_X86_64);
    struct writer *content = test_image_part(&t);
    put_compression_header(&t, content, 99, 10);
    assert_int_equal(read_compressed(&t, content, ".debug_info", SHF_COMPRESSED, &arena, &out),
                     ERR_UNSUPPORTED);
    test_image_fini(&t);
    test_image_init(&t, true, false, ET_DYN, EM_X86_64);
    content = test_image_part(&t);
    writer_u32(content, ELFCOMPRESS_ZLIB);
    assert_int_equal(read_compressed(&t, content, ".debug_info", SHF_COMPRESSED, &arena, &out), ERR_BROKEN);
    test_image_fini(&t);
    arena_fini(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_no_elf),
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_layout_twice),
        cmocka_unit_test(test_extended_symbols),
        cmocka_unit_test(test_many_sections),
        cmocka_unit_test(test_overlapping_names),
        cmocka_unit_test(test_mapping_symbols),
        cmocka_unit_test(test_ppc64),
        cmocka_unit_test(test_compressed),
        cmocka_unit_test(test_compressed_gnu),
        cmocka_unit_test(test_compressed_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
