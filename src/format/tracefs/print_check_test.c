/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "format/tracefs/print_check.h"

static struct bytes span(const char *s) {
    return (struct bytes){(const uint8_t *)s, strlen(s)};
}

static bool accepted(const char *print, struct print_check *out) {
    static const char FORMAT[] = "\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n"
                                 "\tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;\n"
                                 "\tfield:__data_loc char[] file;\toffset:64;\tsize:4;\tsigned:0;\n"
                                 "\tfield:__rel_loc u8[] rel;\toffset:68;\tsize:4;\tsigned:0;\n";
    struct tracing_field fields[8];
    struct bytes rest = span(FORMAT);
    *out = (struct print_check){.fields = fields};
    while (tracing_field_next(&rest, &fields[out->field_count]))
        out->field_count++;
    assert_int_equal(out->field_count, 4);
    /* An exactly sized copy: the sanitizer sees every step outside. */
    struct bytes text = span(print);
    uint8_t *copy = malloc(text.size ? text.size : 1);
    assert_non_null(copy);
    memcpy(copy, print, text.size);
    bool ok = print_check_ok(out, (struct bytes){copy, text.size});
    free(copy);
    return ok;
}

static void test_good(void **state) {
    (void)state;
    static const char *const good[] = {
        "\"plain\"",
        "\"100%%\"",
        " \"%d\" \" %u\", REC->a, (unsigned int)REC->a\n",
        "\"%lx %lx\", REC->args[0], REC->args[5]",
        "\"%s\", REC->a > 2 ? \"yes\" : REC->a == 1 ? \"one\" : \"no\"",
        "\"%c\", REC->a ? 'F' : ' '",
        "\"%d\", ((unsigned int) ((REC->a) & ((1U << 20) - 1)))",
        "\"%d\", -REC->a + ~REC->a * !REC->a / 10 % (3)",
        "\"%s\", __print_flags(REC->a, \"|\", { 1, \"A\" }, { (1 << 3), \"B\" \"C\" })",
        "\"%s\", __print_symbolic(REC->a, { ENUM_NAME, \"A\" }, { -1, ((void *)0) })",
        "\"%s\", __get_str(file)",
        "\"%s\", __get_rel_str(rel)",
        "\"%s\", __print_hex(__get_dynamic_array(file), __get_dynamic_array_len(file))",
        "\"%s\", __print_array(REC->args, 6, 8)",
        "\"%*pbl\", __get_dynamic_array_len(file), __get_dynamic_array(file)",
        "\"%.*s\", REC->a, __get_str(file)",
        "\"%08llx %-10s\", (unsigned long long)REC->a, __get_str(file)",
        "\"%p\", (((struct page *)vmemmap_base) + (REC->a))",
        "\"%d\", __builtin_expect(!!(REC->a >= 4), 0)",
        "\"%zu\", sizeof(unsigned long)",
    };
    struct print_check c;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!accepted(good[i], &c))
            fail_msg("%s", good[i]);
    assert_true(accepted("\"%s\", __print_hex(REC->args, REC->a)", &c));
    assert_int_equal(c.length_count, 1);
    assert_int_equal(c.lengths[0], 0);
}

static void test_bad(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",
        "REC->a",
        "\"%d",
        "\"%d\"",
        "\"%d\", ",
        "\"%d\", REC->nothing",
        "\"%d\", REC->a REC->a",
        "\"%d\", (REC->a",
        "\"%d\", REC->a)",
        "\"%d\", REC->a ? 1",
        "\"%d\", REC->a / REC->a",
        "\"%d\", REC->a % 0",
        "\"%d\", REC->a / 0x0",
        "\"%d\", REC->a / (REC->a)",
        "\"%d\", REC->args[REC->a]",
        "\"%d\", REC->args[1000000]",
        "\"%d\", REC->a[0]",
        "\"%d\", \"x\" + 1",
        "\"%d\", REC->args + 1",
        "\"%d\", -\"x\"",
        "\"%d\", function(REC->a)",
        "\"%s\", __get_str(a)",
        "\"%s\", __get_str(file)[0]",
        "\"%s\", __print_flags(REC->a)",
        "\"%s\", __print_flags(\"x\", \"|\", { 1, \"A\" })",
        "\"%s\", __print_symbolic(REC->a, { 1, \"A\" }",
        "\"%s\", __print_hex(REC->args, REC->a * 1000)",
        "\"%s\", __print_hex(REC->a, 4)",
        "\"%s\", __print_hex(REC->args, 100000)",
        "\"%s\", __print_array(REC->args, 6, REC->a)",
        "\"%s\", __print_array(REC->args, 6, 0)",
        "\"%99999d\", REC->a",
        "\"%.99999d\", REC->a",
        "\"%*d\", REC->a, REC->a",
        "\"%n\", REC->a",
        "\"%y\", REC->a",
        "\"%\", REC->a",
        "\"%d\", ({ int x = 1; x; })",
        "\"%d\", REC->a @ 1",
        "\"%d\", 0x1ffffffffffffffff",
        "\"%d\", 09",
    };
    struct print_check c;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (accepted(bad[i], &c))
            fail_msg("%s", bad[i]);
}

/* Long chains of anything that nests. */
static void test_depth(void **state) {
    (void)state;
    static const char *const units[] = {"(", "!", "-", "(int)", "REC->a ? ", "1 + ", "__print_symbolic("};
    static char text[200000];
    struct print_check c;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t n = (size_t)sprintf(text, "\"%%d\", ");
        for (int k = 0; k < 10000; k++)
            n += (size_t)sprintf(text + n, "%s", units[i]);
        sprintf(text + n, "REC->a");
        assert_false(accepted(text, &c));
    }
}

static void test_declarations(void **state) {
    (void)state;
    static const char *const good[] = {"int a",
                                       "char comm[16]",
                                       "__data_loc char[] name",
                                       "const void *const p",
                                       "struct foo * * p",
                                       "u8 x[TASK_COMM_LEN]"};
    static const char *const bad[] = {"",           "int a[",  "int a]", "int a[[1]]", "void (*f)(int)",
                                      "int a[1 2]", "int a;b", "[1]",    "int a\nb"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(print_check_declaration(span(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(print_check_declaration(span(bad[i])));
}

/* A format may have no print line at all. */
static void test_nothing(void **state) {
    (void)state;
    struct print_check none = {0};
    assert_false(print_check_ok(&none, (struct bytes){NULL, 0}));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),  cmocka_unit_test(test_nothing),      cmocka_unit_test(test_bad),
        cmocka_unit_test(test_depth), cmocka_unit_test(test_declarations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
