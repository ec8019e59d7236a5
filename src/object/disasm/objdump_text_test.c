/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "object/disasm/objdump_text.h"
#include "tests/support/fail_alloc.h"

static const uint8_t code[] = {0x55, 0xe8, 0xfb, 0x0f, 0,    0,    0x8b, 0x05,
                               0x10, 0,    0,    0,    0x75, 0xfe, 0xc3, 0x06};
static const char output[] =
    "\n/proc/self/fd/0:     file format binary\n\n\nDisassembly of section .data:\n\n"
    "0000000000001000 <.data>:\n"
    "    1000:\tpush   %rbp\n"
    "    1001:\tcall   0x2001\n"
    "    1006:\tmov    0x10(%rip),%eax        # 0x101c\n"
    "    100c:\tjne    0x100c\n"
    "    100e:\tret    \n"
    "    100f:\t(bad)\n";

static bool read_text(const char *text, struct disasm_list *l, const struct disasm_options *o,
                      struct err *err) {
    struct bytes t = {(const uint8_t *)text, strlen(text)};
    return disasm_objdump_read(t, (struct bytes){code, sizeof code}, 0x1000, o, l, err);
}

static bool name(void *ctx, uint64_t address, struct disasm_symbol *out) {
    (void)ctx;
    *out = (struct disasm_symbol){"f", 1, (int64_t)(address - 0x2000)};
    return address != 0x100c;
}

static void test_text(void **state) {
    (void)state;
    struct disasm_list l = {0};
    const struct disasm_options o = {.arch = DISASM_X86_64, .symbol = name};
    assert_true(read_text(output, &l, &o, NULL));
    assert_int_equal(l.instructions.count, 6);
    assert_int_equal(l.unknown, 1);
    const struct disasm_instruction *i = l.instructions.items;
    assert_string_equal(i[0].text, "push   %rbp");
    assert_true(i[0].length == 1 && i[0].bytes == code);
    assert_string_equal(i[1].text, "call   2001 <f+0x1>");
    assert_true(i[1].is_call && i[1].target == 0x2001 && i[1].length == 5);
    assert_string_equal(i[2].text, "mov    0x10(%rip),%eax        # 101c <f-0xfe4>");
    assert_string_equal(i[3].text, "jne    0x100c");
    assert_true(i[3].is_jump && i[3].target == 0x100c);
    assert_string_equal(i[4].text, "ret");
    assert_true(i[4].is_return);
    assert_true(i[5].unknown && i[5].length == 1);
    disasm_list_fini(&l);
}

static void test_broken(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",                                     /* nothing */
        "1001:\tret\n",                         /* not from the start */
        "1000:\tret\n1000:\tret\n",             /* no step */
        "1000:\tnop\n1004:\tnop\n1002:\tnop\n", /* back */
        "1000:\tnop\n",                         /* does not reach the end */
        "1000:\tnop\n1010:\tnop\n",             /* beyond it */
        "1000:\tnop\nffffffffffffffff1:\tnop",
    };
    const struct disasm_options o = {.arch = DISASM_X86_64};
    struct disasm_list l = {0};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err err = ERR_INIT;
        assert_false(read_text(bad[i], &l, &o, &err));
        assert_int_equal(err.code, ERR_BROKEN);
        assert_int_equal(l.instructions.count, 0);
    }
    assert_true(disasm_objdump_read((struct bytes){NULL, 0}, (struct bytes){NULL, 0}, 0, &o, &l, NULL));
    disasm_list_fini(&l);
}

static void test_arm64(void **state) {
    (void)state;
    static const uint8_t words[] = {0x00, 0x00, 0x00, 0x94, 0x40, 0x00, 0x00, 0x54, 0xc0, 0x03,
                                    0x5f, 0xd6, 0x00, 0x00, 0x1f, 0xd6, 0x00, 0x00, 0x00, 0x90};
    static const char text[] =
        "1000:\tbl\t0x1000\n1004:\tb.eq\t0x100c  // b.none\n1008:\tret\n100c:\tbr\tx0\n"
        "1010:\tadrp\tx0, 0x1000\n";
    const struct disasm_options o = {.arch = DISASM_ARM64, .symbol = name};
    struct disasm_list l = {0};
    assert_true(disasm_objdump_read((struct bytes){(const uint8_t *)text, sizeof text - 1},
                                    (struct bytes){words, sizeof words}, 0x1000, &o, &l, NULL));
    const struct disasm_instruction *i = l.instructions.items;
    assert_string_equal(i[0].text, "bl 1000 <f-0x1000>");
    assert_true(i[0].is_call && i[0].target == 0x1000);
    assert_true(i[1].is_jump && i[1].target == 0x100c && i[2].is_return && i[3].is_jump && !i[3].has_target);
    assert_string_equal(i[4].text, "adrp x0, 1000 <f-0x1000>");
    disasm_list_fini(&l);
}

static void test_allocations(void **state) {
    (void)state;
    const struct disasm_options o = {.arch = DISASM_X86_64};
    FAIL_EACH_ALLOC({
        struct err err = ERR_INIT;
        struct disasm_list l = {0};
        bool ok = read_text(output, &l, &o, &err);
        assert_true(ok || (err.code == ERR_MEMORY && l.instructions.count == 0));
        disasm_list_fini(&l);
    });
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_text), cmocka_unit_test(test_broken),
                                       cmocka_unit_test(test_arm64), cmocka_unit_test(test_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
