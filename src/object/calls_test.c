/* SPDX-License-Identifier: Apache-2.0 */
#include "object/calls.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What GNU as makes of the text; the address is the one after `size` bytes. */
struct example {
    const char *text;
    uint16_t machine;
    bool big, call, patched; /* patched: a call where patching is allowed for */
    uint8_t size;
    uint8_t code[10];
};

static const struct example examples[] = {
    {"call f", EM_X86_64, 0, 1, 1, 5, {0xe8, 1, 2, 3, 4}},
    {"call *%rax", EM_X86_64, 0, 1, 1, 2, {0xff, 0xd0}},
    {"call *%r11", EM_X86_64, 0, 1, 1, 3, {0x41, 0xff, 0xd3}},
    {"call *(%rax)", EM_X86_64, 0, 1, 1, 2, {0xff, 0x10}},
    {"call *8(%rax)", EM_X86_64, 0, 1, 1, 3, {0xff, 0x50, 8}},
    {"call *(%rsp)", EM_X86_64, 0, 1, 1, 3, {0xff, 0x14, 0x24}},
    {"call *8(%rax,%rbx,8)", EM_X86_64, 0, 1, 1, 4, {0xff, 0x54, 0xd8, 8}},
    {"call *f(%rip)", EM_X86_64, 0, 1, 1, 6, {0xff, 0x15, 1, 2, 3, 4}},
    {"call *0x12345678(%rax)", EM_X86_64, 0, 1, 1, 6, {0xff, 0x90, 0x78, 0x56, 0x34, 0x12}},
    {"call *table(,%rax,8)", EM_X86_64, 0, 1, 1, 7, {0xff, 0x14, 0xc5, 1, 2, 3, 4}},
    {"call *0x12345678(%rax,%rbx,8)", EM_X86_64, 0, 1, 1, 7, {0xff, 0x94, 0xd8, 0x78, 0x56, 0x34, 0x12}},
    {"jmp *%rax", EM_X86_64, 0, 0, 0, 2, {0xff, 0xe0}},
    {"jmp f", EM_X86_64, 0, 0, 0, 5, {0xe9, 1, 0, 3, 4}},
    {"half of call f", EM_X86_64, 0, 0, 0, 4, {0xe8, 1, 2, 3}},
    {"call *f(%rip) that became call f", EM_X86_64, 0, 0, 1, 5, {0xff, 0x15, 1, 0, 3, 4}},
    {"call __x86_indirect_thunk_rax that became call *%rax", EM_X86_64, 0, 0, 1, 2, {0xe8, 1, 2, 3, 4}},
    {"cs call __x86_indirect_thunk_r11 that became call *%r11",
     EM_X86_64,
     0,
     0,
     1,
     3,
     {0x2e, 0xe8, 2, 3, 4, 5}},
    {"call f", EM_386, 0, 1, 1, 5, {0xe8, 1, 2, 3, 4}},
    {"bl f", EM_AARCH64, 0, 1, 1, 4, {0xff, 0xff, 0xff, 0x97}},
    {"blr x8", EM_AARCH64, 0, 1, 1, 4, {0x00, 0x01, 0x3f, 0xd6}},
    {"blr x8, of a big-endian image", EM_AARCH64, 1, 1, 1, 4, {0x00, 0x01, 0x3f, 0xd6}},
    {"blraa x8, x9", EM_AARCH64, 0, 1, 1, 4, {0x09, 0x09, 0x3f, 0xd7}},
    {"blraaz x8", EM_AARCH64, 0, 1, 1, 4, {0x1f, 0x09, 0x3f, 0xd6}},
    {"b f", EM_AARCH64, 0, 0, 0, 4, {0xff, 0xff, 0xff, 0x17}},
    {"br x8", EM_AARCH64, 0, 0, 0, 4, {0x00, 0x01, 0x1f, 0xd6}},
    {"bl f", EM_ARM, 0, 1, 1, 4, {0xfe, 0xff, 0xff, 0xeb}},
    {"blx r3", EM_ARM, 0, 1, 1, 4, {0x33, 0xff, 0x2f, 0xe1}},
    {"b f", EM_ARM, 0, 0, 0, 4, {0xfe, 0xff, 0xff, 0xea}},
    {"brasl %r14,f", EM_S390, 1, 1, 1, 6, {0xc0, 0xe5, 0, 0, 0, 4}},
    {"bras %r14,f", EM_S390, 1, 1, 1, 4, {0xa7, 0xe5, 0, 4}},
    {"basr %r14,%r1", EM_S390, 1, 1, 1, 2, {0x0d, 0xe1}},
    {"basr %r14,0: reads the address only", EM_S390, 1, 0, 0, 2, {0x0d, 0xe0}},
    {"brcl 15,f", EM_S390, 1, 0, 0, 6, {0xc0, 0xf4, 0, 0, 0, 4}},
    {"bl f", EM_PPC64, 0, 1, 1, 4, {0x01, 0x01, 0x00, 0x48}},
    {"bl f", EM_PPC64, 1, 1, 1, 4, {0x48, 0x00, 0x01, 0x01}},
    {"bctrl", EM_PPC64, 0, 1, 1, 4, {0x21, 0x04, 0x80, 0x4e}},
    {"blr", EM_PPC64, 0, 0, 0, 4, {0x20, 0x00, 0x80, 0x4e}},
    {"jal ra,f", EM_RISCV, 0, 1, 1, 4, {0xef, 0x00, 0x40, 0x00}},
    {"jalr ra,8(a5)", EM_RISCV, 0, 1, 1, 4, {0xe7, 0x80, 0x87, 0x00}},
    {"c.jalr a5", EM_RISCV, 0, 1, 1, 2, {0x82, 0x97}},
    {"c.ebreak", EM_RISCV, 0, 0, 0, 2, {0x02, 0x90}},
    {"ret", EM_RISCV, 0, 0, 0, 4, {0x67, 0x80, 0x00, 0x00}},
};

/* At the front of the code, and inside of it. */
static void test_machines(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        const struct example *e = &examples[i];
        uint8_t shifted[26] = {0};
        memcpy(shifted + 8, e->code, sizeof e->code);
        assert_true(object_calls_known(e->machine));
        for (unsigned patched = 0; patched < 2; patched++) {
            bool want = patched ? e->patched : e->call;
            struct bytes front = {e->code, sizeof e->code}, inside = {shifted, sizeof shifted};
            if (object_calls_before(e->machine, e->big, front, e->size, patched) != want ||
                object_calls_before(e->machine, e->big, inside, e->size + 8u, patched) != want)
                fail_msg("%s of machine %u, patched %u", e->text, e->machine, patched);
        }
    }
}

/* No byte outside of the code is looked at (the sanitizers say so), and nothing there is a call. */
static void test_edges(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        for (size_t size = 0; size < examples[i].size; size++) {
            uint8_t *cut = malloc(size + 1);
            memcpy(cut, examples[i].code + (examples[i].size - size), size);
            struct bytes code = {cut, size};
            for (size_t at = 0; at < 4 * sizeof examples[i].code; at++)
                object_calls_before(examples[i].machine, examples[i].big, code, at, true);
            assert_false(object_calls_before(examples[i].machine, examples[i].big, code, size + 1, true));
            assert_false(object_calls_before(examples[i].machine, examples[i].big, code, 0, true));
            free(cut);
        }
}

static void test_unknown(void **state) {
    (void)state;
    static const uint8_t call[] = {0xe8, 1, 2, 3, 4};
    assert_false(object_calls_known(EM_SPARCV9));
    assert_false(object_calls_before(EM_SPARCV9, false, (struct bytes){call, 5}, 5, true));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_machines),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
