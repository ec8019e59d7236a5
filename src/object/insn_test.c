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

static bool access_of(struct object_insns *n, const char *bytes, size_t len, struct object_access *out) {
    return object_insns_access(n, (struct bytes){(const uint8_t *)bytes, len}, 0x1000, out);
}

static void test_accesses(void **state) {
    (void)state;
    if (!object_insns_supported())
        skip();
    struct err err = ERR_INIT;
    struct object_insns *n = machine(62, &err);
    struct object_access a;
    assert_true(access_of(n, "\x8b\x57\x08", 3, &a)); /* mov 0x8(%rdi),%edx */
    assert_false(a.stack || a.canary || a.has_address);
    assert_int_equal(a.base, 5);
    assert_int_equal(a.offset, 8);
    assert_true(access_of(n, "\x49\x89\x43\xf8", 4, &a)); /* mov %rax,-0x8(%r11) */
    assert_int_equal(a.base, 11);
    assert_int_equal(a.offset, -8);
    assert_true(access_of(n, "\x8b\x05\x10\x00\x00\x00", 6, &a)); /* mov 0x10(%rip),%eax */
    assert_true(a.has_address);
    assert_int_equal(a.address, 0x1016);
    assert_true(access_of(n, "\x64\x48\x8b\x04\x25\x28\x00\x00\x00", 9, &a)); /* mov %fs:0x28,%rax */
    assert_true(a.canary);
    assert_false(access_of(n, "\x64\x48\x8b\x04\x25\x30\x00\x00\x00", 9, &a));
    assert_true(access_of(n, "\x55", 1, &a) && a.stack);       /* push %rbp */
    assert_true(access_of(n, "\xc3", 1, &a) && a.stack);       /* ret */
    assert_false(access_of(n, "\xf3\x0f\xb8\xc7", 4, &a));     /* popcnt %edi,%eax */
    assert_false(access_of(n, "\x48\x8d\x47\x08", 4, &a));     /* lea 0x8(%rdi),%rax */
    assert_false(access_of(n, "\x0f\x1f\x44\x00\x00", 5, &a)); /* nopl 0x0(%rax,%rax,1) */
    assert_false(access_of(n, "\x89\xca", 2, &a));             /* mov %ecx,%edx */
    assert_false(access_of(n, "\x8b\x57", 2, &a));             /* cut off */
    object_insns_free(n);
    n = machine(3, &err);
    assert_false(access_of(n, "\x8b\x57\x08", 3, &a)); /* registers have other numbers there */
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_x86), cmocka_unit_test(test_accesses),
                                       cmocka_unit_test(test_others)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
