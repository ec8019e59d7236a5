/* SPDX-License-Identifier: Apache-2.0 */
#include "events/uprobe.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/elf_image.h"

enum { START = 0x400000 };

static struct event_span span(const char *s) {
    return (struct event_span){s, strlen(s)};
}

/* One function of 16 bytes, one that is defined elsewhere, one variable. */
static void make_image(struct test_image *t) {
    static const char CODE[] = "0123456789abcdef";
    test_image_init(t, true, false, ET_EXEC, EM_X86_64);
    struct writer *names = test_image_part(t), *table = test_image_part(t);
    writer_zero(table, sizeof(Elf64_Sym));
    const struct elf_image_symbol symbols[] = {{"function", START + 4, 4, STB_GLOBAL, STT_FUNC, 0, 1},
                                               {"elsewhere", 0, 0, STB_GLOBAL, STT_FUNC, 0, SHN_UNDEF},
                                               {"variable", START, 4, STB_GLOBAL, STT_OBJECT, 0, 1}};
    for (size_t i = 0; i < 3; i++)
        elf_image_symbol_put(&t->image, table, names, &symbols[i]);
    uint32_t text =
        elf_image_section(&t->image, &(struct elf_image_section){.name = ".text",
                                                                 .type = SHT_PROGBITS,
                                                                 .flags = SHF_ALLOC | SHF_EXECINSTR,
                                                                 .addr = START,
                                                                 .content = {(const uint8_t *)CODE, 16}});
    uint32_t strings = elf_image_section(
        &t->image,
        &(struct elf_image_section){.name = ".dynstr", .type = SHT_STRTAB, .content = writer_bytes(names)});
    elf_image_section(&t->image, &(struct elf_image_section){.name = ".dynsym",
                                                             .type = SHT_DYNSYM,
                                                             .link = strings,
                                                             .info = 1,
                                                             .entry_size = sizeof(Elf64_Sym),
                                                             .content = writer_bytes(table)});
    elf_image_segment(&t->image, &(struct elf_image_segment){PT_LOAD, PF_R | PF_X, START, 16, text, text});
}

static void finds(void **state) {
    (void)state;
    struct test_image t;
    uint64_t at;
    struct err e = ERR_INIT;
    make_image(&t);
    struct bytes file = test_image_done(&t);
    assert_true(uprobe_find_in(file, span("function"), &at, &e));
    assert_memory_equal(file.data + at, "4567", 4);
    assert_true(uprobe_find_in(file, span("function+0x2"), &at, &e));
    assert_memory_equal(file.data + at, "67", 2);
    static const char *const NONE[] = {"elsewhere", "variable", "functio", "function+", "function+100", ""};
    for (size_t i = 0; i < sizeof NONE / sizeof *NONE; i++)
        assert_false(uprobe_find_in(file, span(NONE[i]), &at, &e));
    assert_false(uprobe_find_in((struct bytes){(const uint8_t *)"#!", 2}, span("function"), &at, &e));
    test_image_fini(&t);
}

static void files(void **state) {
    (void)state;
    uint64_t at;
    struct err e = ERR_INIT;
    assert_false(uprobe_find(span("/no/such/file"), span("main"), &at, &e));
    assert_int_equal(e.code, ERR_ABSENT);
    assert_string_equal(e.where, "");
    assert_false(uprobe_find(span("/"), span("main"), &at, &e));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds), cmocka_unit_test(files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
