/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "object/disasm/disasm.h"
#include "tests/support/fail_alloc.h"

static void test_arch(void **state) {
    (void)state;
    enum disasm_arch arch;
    uint8_t head[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1, [18] = 62};
    assert_true(disasm_arch_of((struct bytes){head, sizeof head}, &arch));
    assert_int_equal(arch, DISASM_X86_64);
    head[18] = 183;
    assert_true(disasm_arch_of((struct bytes){head, sizeof head}, &arch));
    assert_int_equal(arch, DISASM_ARM64);
    head[18] = 22; /* s390 */
    assert_false(disasm_arch_of((struct bytes){head, sizeof head}, &arch));
    head[18] = 62, head[5] = 2;
    assert_false(disasm_arch_of((struct bytes){head, sizeof head}, &arch));
    assert_false(disasm_arch_of((struct bytes){NULL, 0}, &arch));
}

static void test_function(void **state) {
    (void)state;
    if (!disasm_supported())
        skip();
    static const uint8_t code[] = {0x55, 0xe8, 0, 0, 0, 0, 0x75, 0xfe, 0xff, 0xe0, 0xc3, 0xff, 0xff};
    struct disasm *d = disasm_new(&(struct disasm_options){.arch = DISASM_X86_64}, NULL);
    struct disasm_list l = {0};
    assert_non_null(d);
    assert_true(disasm_function(d, (struct bytes){code, sizeof code}, 0x1000, &l, NULL));
    const struct disasm_instruction *i = l.instructions.items;
    assert_true(l.instructions.count >= 6);
    assert_true(i[1].is_call && i[1].has_target && i[1].target == 0x1006 && i[1].length == 5);
    assert_true(i[2].is_jump && i[2].has_target && i[2].target == 0x1006);
    assert_true(i[3].is_jump && !i[3].has_target && !i[3].unknown);
    assert_true(i[4].is_return && i[4].address == 0x100a && i[4].bytes == code + 10);
    assert_true(i[5].unknown && l.unknown >= 1);
    disasm_list_fini(&l);
    assert_true(disasm_function(d, (struct bytes){NULL, 0}, 0, &l, NULL));
    assert_int_equal(l.instructions.count, 0);
    disasm_free(d);
    disasm_free(NULL);
}

static void test_allocations(void **state) {
    (void)state;
    if (!disasm_supported())
        skip();
    static const uint8_t code[] = {0x55, 0xe8, 0, 0, 0, 0, 0x62, 0xc3};
    FAIL_EACH_ALLOC({
        struct err err = ERR_INIT;
        struct disasm *d = disasm_new(&(struct disasm_options){.arch = DISASM_X86_64}, &err);
        struct disasm_list l = {0};
        bool ok = d && disasm_function(d, (struct bytes){code, sizeof code}, 0x1000, &l, &err);
        assert_true(ok || err.code == ERR_MEMORY);
        disasm_list_fini(&l);
        disasm_free(d);
    });
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_arch), cmocka_unit_test(test_function),
                                       cmocka_unit_test(test_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
