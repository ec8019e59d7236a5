/* SPDX-License-Identifier: Apache-2.0 */
#include "object/plt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/elf_image.h"
#include "tests/support/fail_alloc.h"

enum { PLT_AT = 0x1000, SEC_AT = 0x1800, GOT_STUBS_AT = 0x1c00, GOT_AT = 0x13000, SLOT = 0x13020 };

/* Puts the stub that jumps through `slot` where the writer is, address `pc`, as the machine's linkers do. */
typedef void put_stub_fn(struct writer *w, uint32_t pc, uint32_t slot);

static void put32_little(struct writer *w, uint32_t v) {
    for (int i = 0; i < 4; i++)
        writer_u8(w, (uint8_t)(v >> 8 * i));
}

static void put_x86_64(struct writer *w, uint32_t pc, uint32_t slot) {
    writer_put(w, "\xff\x25", 2); /* jmp *slot(%rip); push $0; jmp .plt */
    writer_u32(w, slot - pc - 6);
    writer_put(w, "\x68\0\0\0\0\xe9\0\0\0\0", 10);
}

static void put_x86_64_ibt(struct writer *w, uint32_t pc, uint32_t slot) {
    writer_put(w, "\xf3\x0f\x1e\xfa\xf2\xff\x25", 7); /* endbr64; bnd jmp *slot(%rip); nop */
    writer_u32(w, slot - pc - 11);
    writer_put(w, "\x0f\x1f\x44\0\0", 5);
}

static void put_x86_64_got(struct writer *w, uint32_t pc, uint32_t slot) {
    writer_put(w, "\xff\x25", 2); /* jmp *slot(%rip); xchg %ax, %ax */
    writer_u32(w, slot - pc - 6);
    writer_put(w, "\x66\x90", 2);
}

static void put_i386(struct writer *w, uint32_t pc, uint32_t slot) {
    (void)pc;
    writer_put(w, "\xff\x25", 2);
    writer_u32(w, slot);
    writer_put(w, "\x68\0\0\0\0\xe9\0\0\0\0", 10);
}

static void put_i386_pic(struct writer *w, uint32_t pc, uint32_t slot) {
    (void)pc;
    writer_put(w, "\xff\xa3", 2); /* jmp *(slot - GOT)(%ebx) */
    writer_u32(w, slot - GOT_AT);
    writer_put(w, "\x68\0\0\0\0\xe9\0\0\0\0", 10);
}

static void put_aarch64(struct writer *w, uint32_t pc, uint32_t slot) {
    uint32_t pages = (slot >> 12) - (pc >> 12);
    put32_little(w, 0x90000010 | (pages & 3) << 29 | (pages >> 2 & 0x7ffff) << 5);
    put32_little(w, 0xf9400211 | (slot & 0xfff) / 8 << 10);
    put32_little(w, 0x91000210 | (slot & 0xfff) << 10);
    put32_little(w, 0xd61f0220);
}

static void put_aarch64_bti(struct writer *w, uint32_t pc, uint32_t slot) {
    put32_little(w, 0xd503245f);
    put_aarch64(w, pc + 4, slot);
    put32_little(w, 0xd503201f);
}

static void put_arm(struct writer *w, uint32_t pc, uint32_t slot) {
    uint32_t distance = slot - pc - 8;
    writer_u32(w, 0xe28fc600 | distance >> 20);          /* add ip, pc, #high << 20 */
    writer_u32(w, 0xe28cca00 | (distance >> 12 & 0xff)); /* add ip, ip, #mid << 12 */
    writer_u32(w, 0xe5bcf000 | (distance & 0xfff));      /* ldr pc, [ip, #low]! */
}

static void put_riscv(struct writer *w, uint32_t pc, uint32_t slot) {
    uint32_t distance = slot - pc, high = (distance + 0x800) & 0xfffff000;
    put32_little(w, 0xe17 | high);
    put32_little(w, 0xe3e03 | (distance - high) << 20);
    put32_little(w, 0x000e0367);
    put32_little(w, 0x13);
}

static void put_s390(struct writer *w, uint32_t pc, uint32_t slot) {
    writer_put(w, "\xc0\x10", 2);
    writer_u32(w, (slot - pc) / 2);
    writer_put(w, "\xe3\x10\x10\x00\x00\x04\x07\xf1", 8);
    writer_put(w, "\x0d\x10\xe3\x10\x10\x0c\x00\x14\xc0\xf4\0\0\0\0\0\0\0\0", 18);
}

static const struct layout {
    const char *what;
    uint16_t machine;
    bool wide, big, rela;
    uint32_t jump_slot, header, stub; /* relocation type; sizes, bytes */
    put_stub_fn *put;
} layouts[] = {
    {"x86-64", EM_X86_64, true, false, true, R_X86_64_JUMP_SLOT, 16, 16, put_x86_64},
    {"x86-64, IBT", EM_X86_64, true, false, true, R_X86_64_JUMP_SLOT, 16, 16, put_x86_64_ibt},
    {"x32", EM_X86_64, false, false, true, R_X86_64_JUMP_SLOT, 16, 16, put_x86_64},
    {"i386", EM_386, false, false, false, R_386_JMP_SLOT, 16, 16, put_i386},
    {"i386, PIC", EM_386, false, false, false, R_386_JMP_SLOT, 16, 16, put_i386_pic},
    {"AArch64", EM_AARCH64, true, false, true, R_AARCH64_JUMP_SLOT, 32, 16, put_aarch64},
    {"AArch64, big-endian", EM_AARCH64, true, true, true, R_AARCH64_JUMP_SLOT, 32, 16, put_aarch64},
    {"AArch64, BTI", EM_AARCH64, true, false, true, R_AARCH64_JUMP_SLOT, 32, 24, put_aarch64_bti},
    {"ARM", EM_ARM, false, false, false, R_ARM_JUMP_SLOT, 20, 12, put_arm},
    {"RISC-V", EM_RISCV, true, false, true, R_RISCV_JUMP_SLOT, 32, 16, put_riscv},
    {"s390x", EM_S390, true, true, true, R_390_JMP_SLOT, 32, 32, put_s390},
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

static void add_section(struct test_image *t, const char *name, uint64_t flags, uint64_t addr,
                        const struct writer *content) {
    elf_image_section(&t->image, &(struct elf_image_section){.name = name,
                                                             .type = SHT_PROGBITS,
                                                             .flags = SHF_ALLOC | flags,
                                                             .addr = addr,
                                                             .align = 8,
                                                             .content = writer_bytes(content)});
}

static void add_dynamic(struct test_image *t, bool rela, const struct writer *relocations) {
    struct writer *dynsym = test_image_part(t), *dynstr = test_image_part(t);
    static const char *const names[] = {"zero", "one", "two", "three"};
    for (size_t i = 0; i < 4; i++)
        elf_image_symbol_put(&t->image, dynsym, dynstr,
                             &(struct elf_image_symbol){.name = names[i], .bind = STB_GLOBAL});
    uint32_t next = (uint32_t)t->image.sections.count;
    elf_image_section(&t->image, &(struct elf_image_section){.name = ".dynsym",
                                                             .type = SHT_DYNSYM,
                                                             .link = next + 1,
                                                             .content = writer_bytes(dynsym)});
    elf_image_section(&t->image, &(struct elf_image_section){
                                     .name = ".dynstr", .type = SHT_STRTAB, .content = writer_bytes(dynstr)});
    elf_image_section(&t->image, &(struct elf_image_section){.name = rela ? ".rela.plt" : ".rel.plt",
                                                             .type = rela ? SHT_RELA : SHT_REL,
                                                             .flags = SHF_ALLOC,
                                                             .link = next,
                                                             .content = writer_bytes(relocations)});
}

static void put_relocation(struct test_image *t, struct writer *w, bool rela, uint64_t slot, uint32_t symbol,
                           uint32_t type, uint64_t addend) {
    elf_image_relocation_put(&t->image, w, slot, symbol, type);
    if (rela)
        elf_image_word_put(&t->image, w, addend);
}

/* A .plt of three stubs whose relocations are in another order; .got.plt for i386's %ebx. */
static void make(struct test_image *t, const struct layout *l) {
    test_image_init(t, l->wide, l->big, ET_DYN, l->machine);
    struct writer *plt = test_image_part(t), *relocations = test_image_part(t), *got = test_image_part(t);
    writer_zero(plt, l->header);
    for (uint32_t i = 0; i < 3; i++)
        l->put(plt, PLT_AT + (uint32_t)plt->size, SLOT + 8 * i);
    assert_int_equal(plt->size, l->header + 3 * l->stub);
    writer_zero(got, 64);
    for (uint32_t i = 0; i < 3; i++)
        put_relocation(t, relocations, l->rela, SLOT + 8 * (2 - i), 4 - i, l->jump_slot, 0);
    add_section(t, ".plt", SHF_EXECINSTR, PLT_AT, plt);
    add_section(t, ".got.plt", SHF_WRITE, GOT_AT, got);
    add_dynamic(t, l->rela, relocations);
}

static void check_stub(const struct object_plt_stub *s, uint64_t addr, uint32_t size,
                       enum object_plt_kind kind, const char *name) {
    assert_int_equal(s->addr, addr);
    assert_int_equal(s->size, size);
    assert_int_equal(s->kind, kind);
    assert_int_equal(s->name.size, strlen(name));
    assert_memory_equal(s->name.data ? (const char *)s->name.data : "", name, strlen(name));
}

static void test_machines(void **state) {
    (void)state;
    for (size_t i = 0; i < LAYOUTS; i++) {
        const struct layout *l = &layouts[i];
        struct test_image t;
        struct object_elf e;
        struct object_plt plt;
        make(&t, l);
        assert_true(object_elf_open(test_image_done(&t), &e, NULL));
        assert_true(object_plt_init(&e, &plt, NULL));
        print_message("%s\n", l->what);
        assert_int_equal(plt.stubs.count, 4);
        check_stub(&plt.stubs.items[0], PLT_AT, l->header, OBJECT_PLT_HEADER, ".plt");
        static const char *const names[] = {"one", "two", "three"};
        for (uint32_t k = 0; k < 3; k++)
            check_stub(&plt.stubs.items[k + 1], PLT_AT + l->header + k * l->stub, l->stub, OBJECT_PLT_CALL,
                       names[k]);
        object_plt_fini(&plt);
        test_image_fini(&t);
    }
}

/* IBT: .plt only pushes, what is called is in .plt.sec; and functions bound at once are in .plt.got. */
static void test_second_plt(void **state) {
    (void)state;
    struct test_image t;
    struct object_elf e;
    struct object_plt plt;
    test_image_init(&t, true, false, ET_DYN, EM_X86_64);
    struct writer *lazy = test_image_part(&t), *second = test_image_part(&t), *got = test_image_part(&t),
                  *relocations = test_image_part(&t);
    writer_put(lazy, "\xff\x35\0\0\0\0\xff\x25\0\0\0\0\x0f\x1f\x40\0", 16);
    for (int i = 0; i < 2; i++)
        writer_put(lazy, "\xf3\x0f\x1e\xfa\x68\0\0\0\0\xf2\xe9\0\0\0\0\x90", 16);
    for (uint32_t i = 0; i < 2; i++)
        put_x86_64_ibt(second, SEC_AT + 16 * i, SLOT + 8 * i);
    put_x86_64_got(got, GOT_STUBS_AT, SLOT + 16);
    put_relocation(&t, relocations, true, SLOT, 1, R_X86_64_JUMP_SLOT, 0);
    put_relocation(&t, relocations, true, SLOT + 8, 2, R_X86_64_JUMP_SLOT, 0);
    put_relocation(&t, relocations, true, SLOT + 16, 3, R_X86_64_GLOB_DAT, 0);
    put_relocation(&t, relocations, true, SLOT + 24, 0, R_X86_64_RELATIVE, 0x1234);
    add_section(&t, ".plt", SHF_EXECINSTR, PLT_AT, lazy);
    add_section(&t, ".plt.sec", SHF_EXECINSTR, SEC_AT, second);
    add_section(&t, ".plt.got", SHF_EXECINSTR, GOT_STUBS_AT, got);
    add_dynamic(&t, true, relocations);
    assert_true(object_elf_open(test_image_done(&t), &e, NULL));
    FAIL_EACH_ALLOC({
        struct err err = ERR_INIT;
        if (object_plt_init(&e, &plt, &err)) {
            assert_int_equal(plt.stubs.count, 4);
            check_stub(&plt.stubs.items[0], PLT_AT, 48, OBJECT_PLT_HEADER, ".plt");
            check_stub(&plt.stubs.items[1], SEC_AT, 16, OBJECT_PLT_CALL, "zero");
            check_stub(&plt.stubs.items[2], SEC_AT + 16, 16, OBJECT_PLT_CALL, "one");
            check_stub(&plt.stubs.items[3], GOT_STUBS_AT, 8, OBJECT_PLT_CALL, "two");
            object_plt_fini(&plt);
        } else {
            assert_int_equal(err.code, ERR_MEMORY);
            assert_int_equal(plt.stubs.count, 0);
        }
    });
    test_image_fini(&t);
}

/* A static program: no .dynsym, no header, only what resolvers choose. REL keeps the resolver in the slot. */
static void test_ifunc(void **state) {
    (void)state;
    for (int rela = 0; rela < 2; rela++) {
        struct test_image t;
        struct object_elf e;
        struct object_plt plt;
        test_image_init(&t, rela, false, ET_EXEC, rela ? EM_X86_64 : EM_386);
        struct writer *code = test_image_part(&t), *relocations = test_image_part(&t),
                      *got = test_image_part(&t);
        for (uint32_t i = 0; i < 2; i++)
            (rela ? put_x86_64 : put_i386)(code, PLT_AT + 16 * i, SLOT + 8 * i);
        writer_zero(got, SLOT - GOT_AT);
        for (uint32_t i = 0; i < 2; i++) {
            put_relocation(&t, relocations, rela, SLOT + 8 * i, 0,
                           rela ? R_X86_64_IRELATIVE : R_386_IRELATIVE, 0x5000 + 16 * i);
            writer_u32(got, 0x5000 + 16 * i);
            writer_u32(got, 0);
        }
        add_section(&t, ".plt", SHF_EXECINSTR, PLT_AT, code);
        add_section(&t, ".got", SHF_WRITE, GOT_AT, got);
        elf_image_section(&t.image, &(struct elf_image_section){.name = ".rela.plt",
                                                                .type = rela ? SHT_RELA : SHT_REL,
                                                                .flags = SHF_ALLOC,
                                                                .content = writer_bytes(relocations)});
        assert_true(object_elf_open(test_image_done(&t), &e, NULL));
        assert_true(object_plt_init(&e, &plt, NULL));
        assert_int_equal(plt.stubs.count, 2);
        for (uint32_t i = 0; i < 2; i++) {
            check_stub(&plt.stubs.items[i], PLT_AT + 16 * i, 16, OBJECT_PLT_IFUNC, "");
            assert_int_equal(plt.stubs.items[i].resolver, 0x5000 + 16 * i);
        }
        object_plt_fini(&plt);
        test_image_fini(&t);
    }
}

/* Not a stub without a relocation for its slot, in relocatable files, on unknown machines. */
static void test_none(void **state) {
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        struct test_image t;
        struct object_elf e;
        struct object_plt plt;
        make(&t, &layouts[0]);
        assert_true(object_elf_open(test_image_done(&t), &e, NULL));
        if (kind == 0)
            e.type = ET_REL;
        else if (kind == 1)
            e.machine = EM_VAX;
        else
            e.machine = EM_S390; /* the relocations are of other types then */
        assert_true(object_plt_init(&e, &plt, NULL));
        assert_int_equal(plt.stubs.count, 0);
        object_plt_fini(&plt);
        test_image_fini(&t);
    }
}

/* A section for stubs that holds other code, and no stub before it: run with sanitizers. */
static void test_no_stub(void **state) {
    (void)state;
    struct test_image t;
    struct object_elf e;
    struct object_plt plt;
    test_image_init(&t, true, false, ET_DYN, EM_X86_64);
    struct writer *got = test_image_part(&t), *relocations = test_image_part(&t);
    writer_put(got, "\x90\x90\x90\x90\x90\x90\x90\xc3", 8);
    put_relocation(&t, relocations, true, SLOT, 1, R_X86_64_JUMP_SLOT, 0);
    add_section(&t, ".plt.got", SHF_EXECINSTR, GOT_STUBS_AT, got);
    add_dynamic(&t, true, relocations);
    assert_true(object_elf_open(test_image_done(&t), &e, NULL));
    assert_true(object_plt_init(&e, &plt, NULL));
    assert_int_equal(plt.stubs.count, 0);
    object_plt_fini(&plt);
    test_image_fini(&t);
}

static void test_hostile(void **state) {
    (void)state;
    for (size_t i = 0; i < LAYOUTS; i++) {
        struct test_image t;
        make(&t, &layouts[i]);
        struct bytes file = test_image_done(&t);
        uint8_t *copy = malloc(file.size);
        assert_non_null(copy);
        for (size_t at = 0; at < file.size * 2; at++) {
            struct object_elf e;
            struct object_plt plt;
            memcpy(copy, file.data, file.size);
            copy[at / 2] ^= at & 1 ? 0xff : 0x04;
            if (!object_elf_open((struct bytes){copy, file.size}, &e, NULL))
                continue;
            assert_true(object_plt_init(&e, &plt, NULL));
            for (size_t k = 0; k < plt.stubs.count; k++) {
                assert_in_range(plt.stubs.items[k].size, 1, file.size);
                if (plt.stubs.items[k].name.size)
                    assert_null(memchr(plt.stubs.items[k].name.data, 0, plt.stubs.items[k].name.size));
            }
            object_plt_fini(&plt);
        }
        free(copy);
        test_image_fini(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_machines), cmocka_unit_test(test_second_plt), cmocka_unit_test(test_ifunc),
        cmocka_unit_test(test_none),     cmocka_unit_test(test_no_stub),    cmocka_unit_test(test_hostile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
