/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "object/insn.h"

/* The opening of an ELF header that matters here. */
static struct object_insns *machine(uint8_t number, struct err *err) {
    uint8_t head[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1, [18] = number};
    return object_insns_new((struct bytes){head, sizeof head}, err);
}

static void assert_insn(struct object_insns *n, const char *bytes, size_t len, size_t size, bool leaves,
                        const char *text) {
    struct object_insn insn;
    assert_true(object_insns_decode(n, (struct bytes){(const uint8_t *)bytes, len}, 0x1000, &insn));
    assert_int_equal(insn.size, size);
    assert_int_equal(insn.leaves, leaves);
    assert_string_equal(insn.text, text);
}

static void test_x86(void **state) {
    (void)state;
    if (!object_insns_supported())
        skip();
    struct err err = ERR_INIT;
    struct object_insns *n = machine(62, &err);
    assert_non_null(n);
    assert_insn(n, "\x89\xca\x90", 3, 2, false, "movl %ecx, %edx");
    assert_insn(n, "\x75\xfe", 2, 2, false, "jne 0x1000"); /* a condition */
    assert_insn(n, "\xeb\xfe", 2, 2, true, "jmp 0x1000");
    assert_insn(n, "\xe8\x00\x00\x00\x00", 5, 5, true, "callq 0x1005");
    assert_insn(n, "\xc3", 1, 1, true, "retq");
    struct object_insn insn;
    assert_false(object_insns_decode(n, (struct bytes){(const uint8_t *)"\xe8\x00", 2}, 0, &insn)); /* cut */
    assert_false(object_insns_decode(n, (struct bytes){NULL, 0}, 0, &insn));
    object_insns_free(n);
    n = machine(3, &err);
    assert_insn(n, "\x40", 1, 1, false, "incl %eax"); /* a prefix in 64-bit code */
    object_insns_free(n);
}

static void test_others(void **state) {
    (void)state;
    struct err err = ERR_INIT;
    assert_null(machine(22, &err)); /* s390 */
    assert_int_equal(err.code, ERR_UNSUPPORTED);
    assert_null(object_insns_new((struct bytes){(const uint8_t *)"\x7f", 1}, &err));
    object_insns_free(NULL);
    if (!object_insns_supported())
        skip();
    struct object_insns *n = machine(183, &err);
    assert_insn(n, "\xc0\x03\x5f\xd6", 4, 4, true, "ret");
    object_insns_free(n);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_x86), cmocka_unit_test(test_others)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
