/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cmd/common/options/perfconfig.h"
#include "cmd/config/config_edit.h"
#include "cmd/config/config_keys.h"
#include "tests/support/fail_alloc.h"

static struct bytes text_of(const char *text) {
    return (struct bytes){(const uint8_t *)text, strlen(text)};
}

static void edit(const char *before, const char *key, const char *value, const char *after) {
    struct out o;
    struct err e = ERR_INIT;
    assert_true(out_init(&o, NULL, NULL));
    if (!config_edit(&o, text_of(before), key, value, "FILE", &e))
        fail_msg("%s: %s", key, e.message);
    assert_string_equal(out_text(&o), after);
    out_fini(&o);
}

static void set(void **state) {
    (void)state;
    edit("", "report.children", "false", "[report]\n\tchildren = false\n");
    edit("# mine\n[report]\n  children=true ; yes\n[x]\n", "report.children", "no",
         "# mine\n[report]\n  children = no ; yes\n[x]\n");
    edit("[report]\n\tgroup = yes\n\n# next\n[x]\n", "Report.Children", "no",
         "[report]\n\tgroup = yes\n\tChildren = no\n\n# next\n[x]\n");
    edit("[report] # first\n", "report.children", "no", "[report] # first\n\tchildren = no\n");
    edit("[report]", "report.children", "no", "[report]\n\tchildren = no\n");
    edit("[a]\nx", "a.x", "1", "[a]\nx = 1");
    edit("[a]\nx = 1\n[b]\n[A]\nX = 2\n", "a.x", "3",
         "[a]\nx = 1\n[b]\n[A]\nX = 3\n"); /* the last one counts */
    edit("[a] x=1\n", "a.y", "2", "[a] x=1\n\ty = 2\n");
    edit("[a]\r\nx=1\r\n", "a.x", "2", "[a]\r\nx = 2\r\n");
    edit("[a]\nx = a\\\n b # c\ny = 1\n", "a.x", "z", "[a]\nx = z # c\ny = 1\n");
}

static void unset(void **state) {
    (void)state;
    edit("[a]\nx = 1 # one\ny = 2\nX = 3\n", "a.x", NULL, "[a]\ny = 2\n");
    edit("[a] x = 1\ny = 2\n", "a.x", NULL, "[a] \ny = 2\n");
    edit("[a]\nx", "a.x", NULL, "[a]\n");
    edit("[a]\ny = 2\n", "a.x", NULL, "[a]\ny = 2\n");
}

/* What is set is read back, whatever it is made of, and nothing else changes. */
static void round_trip(void **state) {
    (void)state;
    static const char *const values[] = {"x",          "a b",         " a ",     "a # b ; c",
                                         "\"q\"",      "back\\slash", "\ttab\t", "li\nne\n",
                                         "b\bell\r\n", "=",           "",        "\\"};
    static const char *const keys[] = {"a.x",          "a.b.c", "a b.x",     "a.b c.x",
                                       "s\"q\\.e]f.x", "[.y",   "sp ace.d.y"};
    static const char before[] = "[a]\nx = 1\n[keep \"th is\"]\nz = \" 5 \"\n";
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
        for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
            struct out o;
            struct err e = ERR_INIT;
            struct perfconfig c = PERFCONFIG_INIT;
            assert_true(out_init(&o, NULL, NULL));
            if (!config_edit(&o, text_of(before), keys[k], values[v], "FILE", &e))
                fail_msg("%s: %s", keys[k], e.message);
            if (!perfconfig_parse(&c, text_of(out_text(&o)), "FILE", &e))
                fail_msg("%s in\n%s", e.message, out_text(&o));
            assert_non_null(perfconfig_text(&c, keys[k]));
            assert_string_equal(perfconfig_text(&c, keys[k]), values[v]);
            assert_string_equal(perfconfig_text(&c, "keep.th is.z"), " 5 ");
            assert_int_equal(c.entries.count, k == 0 ? 2 : 3);
            perfconfig_fini(&c);
            out_fini(&o);
        }
}

static void refused(const char *before, const char *key, const char *value, enum err_code code,
                    const char *why) {
    struct out o;
    struct err e = ERR_INIT;
    assert_true(out_init(&o, NULL, NULL));
    assert_false(config_edit(&o, text_of(before), key, value, "FILE", &e));
    assert_int_equal(e.code, code);
    assert_string_equal(e.message, why);
    out_fini(&o);
}

static void refusals(void **state) {
    (void)state;
    refused("[a]\n1\n", "a.x", "1", ERR_BROKEN, "bad config file line 2 in FILE");
    refused("", "x", "1", ERR_USAGE, "The config variable does not contain a section name: x");
    refused("", ".x", "1", ERR_USAGE, "The config variable does not contain a section name: .x");
    refused("", "a.", "1", ERR_USAGE, "The config variable does not contain a variable name: a.");
    refused("", "a.1", "1", ERR_USAGE, "'1' is no name of a variable: letters, digits, - and _ make one");
    refused("", "a\nb.x", "1", ERR_USAGE, "the name of the variable is too long, or has a line end in it");
    char *longest = calloc(1, 5000);
    assert_non_null(longest);
    memset(longest, 'v', 4999);
    refused("", "a.x", longest, ERR_USAGE, "a.x: the value is longer than 4094 bytes");
    longest[4094] = 0;
    struct out o;
    struct err e = ERR_INIT;
    assert_true(out_init(&o, NULL, NULL));
    assert_true(config_edit(&o, text_of(""), "a.x", longest, "FILE", &e));
    struct perfconfig c = PERFCONFIG_INIT;
    assert_true(perfconfig_parse(&c, text_of(out_text(&o)), "FILE", &e));
    assert_string_equal(perfconfig_text(&c, "a.x"), longest);
    perfconfig_fini(&c);
    out_fini(&o);
    free(longest);
    FAIL_EACH_ALLOC({
        if (out_init(&o, NULL, NULL)) {
            config_edit(&o, text_of("[b]\ny = 1\n"), "a.x", "1", "FILE", &e);
            out_fini(&o);
        }
    });
}

static void keys(void **state) {
    (void)state;
    struct err e = ERR_INIT;
    for (size_t i = 1; config_key_at(i); i++)
        assert_true(strcmp(config_key_at(i - 1)->name, config_key_at(i)->name) < 0);
    assert_non_null(config_key_find("Report.Children"));
    assert_non_null(config_key_find("pager.report"));
    assert_null(config_key_find("pager.nonsense"));
    assert_null(config_key_find("pager"));
    assert_string_equal(config_key_nearest("report.chldren"), "report.children");
    assert_true(config_key_takes(config_key_find("report.children"), "YES", &e));
    assert_false(config_key_takes(config_key_find("report.children"), "maybe", &e));
    assert_string_equal(e.message, "report.children is true or false, not 'maybe'");
    assert_true(config_key_takes(config_key_find("call-graph.order"), "caller", &e));
    assert_false(config_key_takes(config_key_find("call-graph.order"), "call", &e));
    assert_false(config_key_takes(config_key_find("call-graph.order"), "caller|callee", &e));
    assert_true(config_key_takes(config_key_find("report.percent-limit"), "0.5", &e));
    assert_false(config_key_takes(config_key_find("report.percent-limit"), "5x", &e));
    assert_true(config_key_takes(config_key_find("buildid.dir"), "/x", &e));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(set), cmocka_unit_test(unset),
                                       cmocka_unit_test(round_trip), cmocka_unit_test(refusals),
                                       cmocka_unit_test(keys)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
