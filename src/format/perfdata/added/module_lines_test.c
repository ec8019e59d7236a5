/* SPDX-License-Identifier: Apache-2.0 */
#include "format/perfdata/added/module_lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static struct bytes text_of(const char *text) {
    return (struct bytes){(const uint8_t *)text, strlen(text)};
}

static void check_text(struct bytes got, const char *want) {
    assert_int_equal(got.size, strlen(want));
    assert_memory_equal(got.data, want, got.size);
}

static void test_kinds(void **state) {
    (void)state;
    struct perfdata_module_line l;
    struct bytes rest = text_of("module\tffffffffc0000000\tffffffffc0001000\t0aff\text4\t/lib/ext 4.ko\n"
                                "section\tffffffffc0000010\t.text\n"
                                "loaded\t77\n"
                                "module\t10\t20\t-\tx\t[x]\n"
                                "unloaded\t99\t10\t20\tx");
    assert_true(perfdata_module_line_next(&rest, &l));
    assert_true(l.kind == PERFDATA_MODULE_LINE_MODULE && l.start == 0xffffffffc0000000 &&
                l.end == 0xffffffffc0001000);
    assert_true(l.build_id_bytes == 2 && l.build_id[0] == 0x0a && l.build_id[1] == 0xff);
    check_text(l.name, "ext4");
    check_text(l.path, "/lib/ext 4.ko");
    assert_true(perfdata_module_line_next(&rest, &l));
    assert_true(l.kind == PERFDATA_MODULE_LINE_SECTION && l.start == 0xffffffffc0000010);
    check_text(l.name, ".text");
    assert_true(perfdata_module_line_next(&rest, &l));
    assert_true(l.kind == PERFDATA_MODULE_LINE_LOADED && l.time_ns == 77);
    assert_true(perfdata_module_line_next(&rest, &l));
    assert_true(l.kind == PERFDATA_MODULE_LINE_MODULE && l.build_id_bytes == 0);
    assert_true(perfdata_module_line_next(&rest, &l));
    assert_true(l.kind == PERFDATA_MODULE_LINE_UNLOADED && l.time_ns == 99 && l.start == 0x10 &&
                l.end == 0x20);
    check_text(l.name, "x");
    assert_false(perfdata_module_line_next(&rest, &l));
}

/* What is damaged, or of a kind to come, costs its line. */
static void test_damaged(void **state) {
    (void)state;
    static const char *const BAD[] = {
        "module\t10\t20\t-\tx",
        "module\t10\t20\t0\tx\t[x]",
        "module\t10\t20\t0g\tx\t[x]",
        "module\t10\t20\t000102030405060708090a0b0c0d0e0f1011121314\tx\t[x]",
        "module\t-10\t20\t-\tx\t[x]",
        "module\t10000000000000000000000000\t20\t-\tx\t[x]",
        "section\t10",
        "section\tzz\t.text",
        "loaded\t",
        "loaded",
        "unloaded\t1\t10\tx",
        "moved\t1\t2",
        "\t",
        "",
    };
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        char text[160];
        struct perfdata_module_line l;
        snprintf(text, sizeof text, "%s\nloaded\t5\n%s", BAD[i], BAD[i]);
        struct bytes rest = text_of(text);
        assert_true(perfdata_module_line_next(&rest, &l));
        assert_true(l.kind == PERFDATA_MODULE_LINE_LOADED && l.time_ns == 5);
        assert_false(perfdata_module_line_next(&rest, &l));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kinds), cmocka_unit_test(test_damaged)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
