/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "format/modules/modules.h"

static struct bytes span(const char *s) {
    return (struct bytes){(const uint8_t *)s, strlen(s)};
}

static void test_lines(void **state) {
    (void)state;
    struct bytes rest = span("ext4 983040 2 - Live 0xffffffffc0400000\n"
                             "broken line\n"
                             "crc32c_intel 24576 3 jbd2,ext4, Live 0xffffffffc0300000 (E)\n"
                             "x 1 0 - Live zzz\n");
    struct modules_entry e;
    assert_true(modules_next(&rest, &e));
    assert_true(bytes_equal(e.name, span("ext4")) && e.size == 983040 && e.address == 0xffffffffc0400000);
    assert_true(modules_next(&rest, &e));
    assert_true(bytes_equal(e.name, span("crc32c_intel")) && e.address == 0xffffffffc0300000);
    assert_false(modules_next(&rest, &e));
}

static void test_paths(void **state) {
    (void)state;
    struct bytes dep = span("kernel/fs/ext4/ext4.ko.xz: kernel/fs/jbd2/jbd2.ko.xz\n"
                            "updates/crc32c-intel.ko:\n"
                            "top.ko:\n");
    assert_true(bytes_equal(modules_dep_path(dep, span("ext4")), span("kernel/fs/ext4/ext4.ko.xz")));
    assert_true(bytes_equal(modules_dep_path(dep, span("crc32c_intel")), span("updates/crc32c-intel.ko")));
    assert_true(bytes_equal(modules_dep_path(dep, span("top")), span("top.ko")));
    assert_int_equal(modules_dep_path(dep, span("jbd2")).size, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines), cmocka_unit_test(test_paths)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
