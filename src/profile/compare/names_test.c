/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "profile/compare/names.h"

static void check_function(const char *name, const char *stem) {
    size_t len = compare_function_stem(name, strlen(name));
    assert_int_equal(len, strlen(stem));
    assert_memory_equal(name, stem, len);
}

static void test_functions(void **state) {
    (void)state;
    check_function("mix", "mix");
    check_function("mix.constprop.0", "mix");
    check_function("mix.isra.0.constprop.12", "mix");
    check_function("mix.part.0.cold", "mix");
    check_function("mix.lto_priv.3", "mix");
    check_function("mix.llvm.1234567890", "mix");
    check_function("mix.cold", "mix");
    /* No clones: numbers alone, what only looks like it, and names that begin with a dot. */
    check_function("counter.1", "counter.1");
    check_function("std::vector<a.b>", "std::vector<a.b>");
    check_function("a.island", "a.island");
    check_function(".cold", ".cold");
    check_function("x..cold", "x.");
    check_function("", "");
    check_function(".", ".");
}

static void check_library(const char *path, const char *stem) {
    size_t from, len = compare_library_stem(path, &from);
    assert_int_equal(len, strlen(stem));
    assert_memory_equal(path + from, stem, len);
}

static void test_libraries(void **state) {
    (void)state;
    check_library("/usr/lib/libfoo.so.1.2.3", "libfoo");
    check_library("libfoo.so", "libfoo");
    check_library("/lib/libc-2.31.so", "libc");
    check_library("/opt/x-1.2/tool", "tool");
    check_library("/opt/my.soap", "my.soap");
    check_library("[kernel.kallsyms]", "[kernel.kallsyms]");
    check_library(".so", ".so");
    check_library("1.so", "1");
    check_library("", "");
    check_library("/", "");
}

static void check_program(const char *name, const char *stem) {
    size_t len = compare_program_stem(name, strlen(name));
    assert_int_equal(len, strlen(stem));
    assert_memory_equal(name, stem, len);
}

static void test_programs(void **state) {
    (void)state;
    check_program("tool", "tool");
    check_program("tool.old", "tool");
    check_program("tool-new", "tool");
    check_program("tool_v2", "tool");
    check_program("tool-1.10.3", "tool");
    check_program("tool-1.2.orig", "tool");
    check_program("tool~", "tool");
    check_program("python3.11", "python3");
    check_program("my-tool.debug", "my-tool");
    /* Other programs. */
    check_program("golden", "golden");
    check_program("bold", "bold");
    check_program("tool-server", "tool-server");
    check_program("tool-v", "tool-v");
    check_program("tool.1x", "tool.1x");
    check_program("tool.", "tool.");
    check_program(".old", ".old");
    check_program("-1", "-1");
    check_program("~", "~");
    check_program("", "");
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions), cmocka_unit_test(test_programs), cmocka_unit_test(test_libraries)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
