/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/run/objdump.h"
#include "tests/support/fail_alloc.h"

static const uint8_t code[] = {0x55, 0xc3};

/* A program that stands for objdump: a script with that body. */
static void make_program(char *path, const char *body) {
    strcpy(path, "/tmp/sonde-objdump-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *f = fdopen(fd, "w");
    assert_non_null(f);
    fprintf(f, "#!/bin/sh\n%s\n", body);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(path, 0700), 0);
}

static bool run(const char *program, unsigned most_ms, const char *style, struct bytes *text,
                struct err *err) {
    struct os_objdump how = {
        .program = program, .machine = "i386:x86-64", .style = style, .most_ms = most_ms};
    *err = ERR_INIT;
    return os_objdump_run(&how, (struct bytes){code, sizeof code}, 0x1000, text, err);
}

static void assert_prints(const char *body, const char *style, const char *expected) {
    char path[64];
    struct bytes text;
    struct err err;
    make_program(path, body);
    bool ok = run(path, 0, style, &text, &err);
    unlink(path);
    if (!ok)
        print_error("%s\n", err.message);
    assert_true(ok);
    assert_int_equal(text.size, strlen(expected));
    assert_memory_equal(text.data, expected, text.size);
    free((void *)text.data);
}

static void test_output(void **state) {
    (void)state;
    assert_prints("echo $LC_ALL; cat", NULL, "C\n\x55\xc3");
    assert_prints(
        "echo \"$@\"", "intel;id",
        "--disassemble-all --disassemble-zeroes --no-show-raw-insn --target=binary "
        "--architecture=i386:x86-64 --adjust-vma=0x1000 --disassembler-options=intel;id /proc/self/fd/0\n");
}

static void assert_fails(const char *body, unsigned most_ms, enum err_code code_of_it, const char *words) {
    char path[64];
    struct bytes text;
    struct err err;
    make_program(path, body);
    bool ok = run(path, most_ms, NULL, &text, &err);
    unlink(path);
    assert_false(ok);
    assert_null(text.data);
    assert_int_equal(err.code, code_of_it);
    assert_non_null(strstr(err.message, words));
}

static void test_failures(void **state) {
    (void)state;
    assert_fails("echo first; echo 'no such machine' >&2; exit 1", 0, ERR_UNSUPPORTED, "no such machine");
    assert_fails("exit 3", 0, ERR_UNSUPPORTED, "without a word");
    assert_fails("kill -9 $$", 0, ERR_UNSUPPORTED, "without a word");
    assert_fails("sleep 1000 & sleep 1000", 50, ERR_IO, "too long");
    assert_fails("yes", 600000, ERR_IO, "printed more");
    struct bytes text;
    struct err err;
    assert_false(run("/nonexistent/objdump", 0, NULL, &text, &err));
    assert_int_equal(err.code, ERR_ABSENT);
    assert_false(run("/", 0, NULL, &text, &err));
}

static void test_objdump(void **state) {
    (void)state;
    struct bytes text;
    struct err err;
    if (!run(NULL, 600000, NULL, &text, &err)) {
        print_message("SKIP: %s\n", err.message);
        skip();
    }
    assert_non_null(memmem(text.data, text.size, "1000:\tpush   %rbp\n", 18));
    assert_non_null(memmem(text.data, text.size, "1001:\tret", 9));
    free((void *)text.data);
}

static void test_allocations(void **state) {
    (void)state;
    char path[64];
    make_program(path, "echo x");
    FAIL_EACH_ALLOC({
        struct bytes text;
        struct err err;
        bool ok = run(path, 600000, NULL, &text, &err);
        assert_true(ok || !text.data);
        free((void *)text.data);
    });
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_output), cmocka_unit_test(test_failures),
                                       cmocka_unit_test(test_objdump), cmocka_unit_test(test_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
