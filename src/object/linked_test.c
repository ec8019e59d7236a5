/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "object/linked.h"
#include "tests/support/elf_image.h"
#include "tests/support/fail_alloc.h"

enum { TEXT = 1, DATA, INFO, TABLE, STRINGS, RELOCATIONS, INFO_BYTES = 32 };
enum { TEXT_AT = OBJECT_LINKED_START, DATA_AT = OBJECT_LINKED_START + 64 };

struct relocation {
    uint64_t offset;
    uint32_t symbol, type;
    int64_t addend;
};

/* A module: .text of 40 bytes with a function at 8, .data (aligned to 64) with a variable at 4, .debug_info
 * with relocations. Symbols: 1 is the function, 2 the variable, 3 is of another file. */
static struct bytes make(struct test_image *t, bool big, uint16_t machine, const struct relocation *r,
                         size_t count) {
    static const uint8_t zero[64];
    test_image_init(t, true, big, ET_REL, machine);
    struct writer *table = test_image_part(t), *strings = test_image_part(t),
                  *relocations = test_image_part(t);
    writer_zero(table, sizeof(Elf64_Sym));
    elf_image_symbol_put(&t->image, table, strings,
                         &(struct elf_image_symbol){"f", 8, 16, STB_GLOBAL, STT_FUNC, 0, TEXT});
    elf_image_symbol_put(&t->image, table, strings,
                         &(struct elf_image_symbol){"v", 4, 4, STB_GLOBAL, STT_OBJECT, 0, DATA});
    elf_image_symbol_put(&t->image, table, strings,
                         &(struct elf_image_symbol){"other", 0, 0, STB_GLOBAL, STT_NOTYPE, 0, SHN_UNDEF});
    for (size_t i = 0; i < count; i++) {
        elf_image_relocation_put(&t->image, relocations, r[i].offset, r[i].symbol, r[i].type);
        writer_u64(relocations, (uint64_t)r[i].addend);
    }
    const struct elf_image_section sections[] = {
        {.name = ".text",
         .type = SHT_PROGBITS,
         .flags = SHF_ALLOC | SHF_EXECINSTR,
         .align = 16,
         .content = {zero, 40}},
        {.name = ".data", .type = SHT_NOBITS, .flags = SHF_ALLOC | SHF_WRITE, .align = 64, .memory_size = 16},
        {.name = ".debug_info", .type = SHT_PROGBITS, .align = 1, .content = {zero, INFO_BYTES}},
        {.name = ".symtab",
         .type = SHT_SYMTAB,
         .link = STRINGS,
         .align = 8,
         .entry_size = sizeof(Elf64_Sym),
         .content = writer_bytes(table)},
        {.name = ".strtab", .type = SHT_STRTAB, .align = 1, .content = writer_bytes(strings)},
        {.name = ".rela.debug_info",
         .type = SHT_RELA,
         .link = TABLE,
         .info = INFO,
         .align = 8,
         .entry_size = sizeof(Elf64_Rela),
         .content = writer_bytes(relocations)},
    };
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        elf_image_section(&t->image, &sections[i]);
    return test_image_done(t);
}

static uint64_t load(const struct object_elf *e, struct bytes info, size_t at, unsigned bytes) {
    return bytes == 8 ? bytes_load64(info.data + at, e->swap) : bytes_load32(info.data + at, e->swap);
}

static void check(bool big, uint16_t machine, uint32_t wide, uint32_t narrow, uint32_t relative) {
    const struct relocation r[] = {
        {0, 1, wide, 3}, {8, 2, narrow, -2}, {12, 1, relative, 0}, {16, 3, wide, 7}};
    struct test_image t;
    struct bytes linked;
    struct object_elf e;
    struct object_section s;
    struct bytes info;
    struct err err = ERR_INIT;
    if (!object_linked_new(make(&t, big, machine, r, 4), &linked, &err))
        fail_msg("%s", err.message);
    assert_true(object_elf_open(linked, &e, NULL));
    assert_int_equal(e.type, ET_EXEC);
    assert_true(object_elf_section_named(&e, ".data", &s));
    assert_int_equal(s.addr, DATA_AT);
    assert_true(object_elf_section_named(&e, ".debug_info", &s));
    assert_true(object_elf_section_bytes(&e, &s, NULL, &info, NULL));
    assert_int_equal(load(&e, info, 0, 8), TEXT_AT + 8 + 3);
    assert_int_equal(load(&e, info, 8, 4), DATA_AT + 4 - 2);
    assert_int_equal(load(&e, info, 12, 4), TEXT_AT + 8 - 12); /* .debug_info is loaded nowhere: at 0 */
    assert_int_equal(load(&e, info, 16, 8), 7);
    struct object_symbols walk;
    struct object_symbol symbol;
    assert_true(object_symbols_open(&e, SHT_SYMTAB, &walk, NULL));
    assert_true(object_symbols_next(&walk, &symbol));
    assert_int_equal(symbol.value, TEXT_AT + 8);
    assert_true(object_symbols_next(&walk, &symbol));
    assert_int_equal(symbol.value, DATA_AT + 4);
    assert_true(object_symbols_next(&walk, &symbol));
    assert_int_equal(symbol.value, 0);
    struct object_layout layout;
    assert_true(object_layout_init(&e, &layout, NULL));
    uint64_t offset;
    assert_true(object_layout_offset(&layout, TEXT_AT + 39, &offset));
    assert_false(object_layout_offset(&layout, TEXT_AT + 40, &offset));
    object_layout_fini(&layout);
    free((void *)linked.data);
    test_image_fini(&t);
}

static void test_machines(void **state) {
    (void)state;
    check(false, EM_X86_64, R_X86_64_64, R_X86_64_32, R_X86_64_PC32);
    check(false, EM_AARCH64, R_AARCH64_ABS64, R_AARCH64_ABS32, R_AARCH64_PREL32);
    check(true, EM_S390, R_390_64, R_390_32, R_390_PC32);
}

static void refuse(const struct relocation *r, uint16_t machine, enum err_code code) {
    struct test_image t;
    struct bytes linked;
    struct err err = ERR_INIT;
    assert_false(object_linked_new(make(&t, false, machine, r, 1), &linked, &err));
    assert_int_equal(err.code, code);
    assert_null(linked.data);
    test_image_fini(&t);
}

static void test_refused(void **state) {
    (void)state;
    struct bytes linked;
    refuse(&(struct relocation){INFO_BYTES - 7, 1, R_X86_64_64, 0}, EM_X86_64, ERR_BROKEN);
    refuse(&(struct relocation){UINT64_MAX, 1, R_X86_64_64, 0}, EM_X86_64, ERR_BROKEN);
    refuse(&(struct relocation){0, 1, R_X86_64_GOTPCREL, 0}, EM_X86_64, ERR_UNSUPPORTED);
    refuse(&(struct relocation){0, 1, 1, 0}, EM_RISCV, ERR_UNSUPPORTED);
    assert_false(object_linked_new((struct bytes){(const uint8_t *)"no ELF", 6}, &linked, NULL));
    struct test_image t;
    test_image_init(&t, true, false, ET_DYN, EM_X86_64);
    assert_false(object_linked_new(test_image_done(&t), &linked, NULL));
    test_image_fini(&t);
    test_image_init(&t, false, false, ET_REL, EM_386);
    assert_false(object_linked_new(test_image_done(&t), &linked, NULL));
    test_image_fini(&t);
}

/* Whatever a byte says, nothing outside of the file is read, and no memory is lost. */
static void test_damaged(void **state) {
    (void)state;
    const struct relocation r[] = {{0, 1, R_X86_64_64, 3}, {8, 2, R_X86_64_32, -2}};
    struct test_image t;
    struct bytes whole = make(&t, false, EM_X86_64, r, 2);
    for (size_t i = 0; i < whole.size; i++) {
        static const uint8_t VALUES[] = {0, 1, 0x7f, 0xff};
        for (size_t k = 0; k < sizeof VALUES; k++) {
            uint8_t *copy = malloc(whole.size);
            assert_non_null(copy);
            memcpy(copy, whole.data, whole.size);
            copy[i] = VALUES[k];
            struct bytes linked;
            if (object_linked_new((struct bytes){copy, whole.size}, &linked, NULL))
                free((void *)linked.data);
            free(copy);
        }
    }
    for (size_t n = 0; n < whole.size; n++) {
        uint8_t *copy = malloc(n ? n : 1);
        assert_non_null(copy);
        memcpy(copy, whole.data, n);
        struct bytes linked;
        if (object_linked_new((struct bytes){copy, n}, &linked, NULL))
            free((void *)linked.data);
        free(copy);
    }
    test_image_fini(&t);
}

static void test_memory(void **state) {
    (void)state;
    const struct relocation r = {0, 1, R_X86_64_64, 3};
    struct test_image t;
    struct bytes file = make(&t, false, EM_X86_64, &r, 1);
    FAIL_EACH_ALLOC({
        struct bytes linked;
        struct err err = ERR_INIT;
        if (object_linked_new(file, &linked, &err))
            free((void *)linked.data);
        else
            assert_int_equal(err.code, ERR_MEMORY);
    });
    test_image_fini(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_machines),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
