/* SPDX-License-Identifier: Apache-2.0 */
/* The text of arm64 instructions: objdump's (binutils 2.40) with the spaces that docs/DISASM.md tells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "object/disasm/disasm.h"

enum { START = 0x1000 };

/* In a row, from START on. */
static const struct {
    uint32_t word;
    const char *text;
} rows[] = {
    {0xd2800020, "mov    x0, #0x1  // #1"},
    {0x12800000, "mov    w0, #0xffffffff  // #-1"},
    {0xd2a00021, "mov    x1, #0x10000  // #65536"},
    {0x928001e0, "mov    x0, #0xfffffffffffffff0  // #-16"},
    {0xd2a00000, "movz   x0, #0x0, lsl #16"},
    {0xf2a24680, "movk   x0, #0x1234, lsl #16"},
    {0x910003fd, "mov    x29, sp"},
    {0xaa0103e0, "mov    x0, x1"},
    {0x32009fe0, "mov    w0, #0xff00ff  // #16711935"},
    {0x927cec00, "and    x0, x0, #0xfffffffffffffff0"},
    {0x121c6c00, "and    w0, w0, #0xfffffff0"},
    {0x7200003f, "tst    w1, #0x1"},
    {0x91004020, "add    x0, x1, #0x10"},
    {0x8b020c20, "add    x0, x1, x2, lsl #3"},
    {0xd10083ff, "sub    sp, sp, #0x20"},
    {0x7100041f, "cmp    w0, #0x1"},
    {0xf9400820, "ldr    x0, [x1, #16]"},
    {0xf8627820, "ldr    x0, [x1, x2, lsl #3]"},
    {0xa9bf7bfd, "stp    x29, x30, [sp, #-16]!"},
    {0xa8c37bfd, "ldp    x29, x30, [sp], #48"},
    {0x54000040, "b.eq   0x1058  // b.none"},
    {0x54000042, "b.cs   0x105c  // b.hs, b.nlast"},
    {0x17ffffff, "b      0x1054"},
    {0x94000040, "bl     0x115c"},
    {0xb4000080, "cbz    x0, 0x1070"},
    {0x36180041, "tbz    w1, #3, 0x106c"},
    {0x90000000, "adrp   x0, 0x1000"},
    {0x10000080, "adr    x0, 0x107c"},
    {0x58000040, "ldr    x0, 0x1078"},
    {0xd65f03c0, "ret"},
    {0xd61f0020, "br     x1"},
    {0xd63f0060, "blr    x3"},
    {0x9a822020, "csel   x0, x1, x2, cs  // cs = hs, nlast"},
    {0x1a9f27e0, "cset   w0, cc  // cc = lo, ul, last"},
    {0xfa431824, "ccmp   x1, #0x3, #0x4, ne  // ne = any"},
    {0xd37cec20, "lsl    x0, x1, #4"},
    {0x53082000, "ubfx   w0, w0, #8, #1"},
    {0x1e6e1000, "fmov   d0, #1.000000000000000000e+00"},
    {0x1e602008, "fcmp   d0, #0.0"},
    {0xd4000001, "svc    #0x0"},
    {0xd503201f, "nop"},
    {0xb8200041, "ldadd  w0, w1, [x2]"},
    {0xf8e003e1, "ldaddal x0, x1, [sp]"},
    {0xb820003f, "stadd  w0, [x1]"},
    {0xf8a0805f, "swpa   x0, xzr, [x2]"},
    {0xc8eafc4b, "casal  x10, x11, [x2]"},
    {0x48207c82, "casp   x0, x1, x2, x3, [x4]"},
    {0x38201041, "ldclrb w0, w1, [x2]"},
    {0xd503245f, "bti    c"},
    {0xd503233f, "paciasp"},
    {0x00000011, "udf    #17"},
    {0x2f20a420, "uxtl   v0.2d, v1.2s"},
    {0x4e181c20, "mov    v0.d[1], x1"},
    {0x4f000400, "movi   v0.4s, #0x0"},
};

static void test_text(void **state) {
    (void)state;
    if (!disasm_supported())
        skip();
    enum { COUNT = sizeof rows / sizeof *rows };
    uint8_t code[4 * COUNT];
    for (size_t i = 0; i < COUNT; i++)
        for (size_t k = 0; k < 4; k++)
            code[4 * i + k] = (uint8_t)(rows[i].word >> 8 * k);
    struct disasm *d = disasm_new(&(struct disasm_options){.arch = DISASM_ARM64}, NULL);
    struct disasm_list l = {0};
    size_t wrong = 0;
    assert_non_null(d);
    assert_true(disasm_function(d, (struct bytes){code, sizeof code}, START, &l, NULL));
    assert_int_equal(l.instructions.count, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        if (strcmp(l.instructions.items[i].text, rows[i].text) != 0) {
            print_error("%08x: \"%s\" for \"%s\"\n", rows[i].word, l.instructions.items[i].text,
                        rows[i].text);
            wrong++;
        }
    assert_int_equal(wrong, 0);
    assert_int_equal(l.unknown, 0);
    disasm_list_fini(&l);
    disasm_free(d);
}

static void test_flow(void **state) {
    (void)state;
    if (!disasm_supported())
        skip();
    static const uint8_t code[] = {0x40, 0,    0,    0x94, 0x41, 0,    0x18, 0x36, 0x20,
                                   0,    0x1f, 0xd6, 0xc0, 0x03, 0x5f, 0xd6, 0xff, 0xff};
    struct disasm *d = disasm_new(&(struct disasm_options){.arch = DISASM_ARM64}, NULL);
    struct disasm_list l = {0};
    assert_true(disasm_function(d, (struct bytes){code, sizeof code}, START, &l, NULL));
    const struct disasm_instruction *i = l.instructions.items;
    assert_true(i[0].is_call && i[0].target == START + 0x100);
    assert_true(i[1].is_jump && i[1].has_target && i[1].target == START + 12);
    assert_true(i[2].is_jump && !i[2].has_target);
    assert_true(i[3].is_return);
    assert_true(i[4].unknown && i[4].length == 2 && l.unknown == 1);
    disasm_list_fini(&l);
    disasm_free(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_text), cmocka_unit_test(test_flow)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
