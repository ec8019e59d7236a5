/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/log.h"
#include "cmd/common/options/perfconfig.h"

static bool parse(struct perfconfig *c, const char *text, struct err *e) {
    *c = PERFCONFIG_INIT;
    return perfconfig_parse(c, (struct bytes){(const uint8_t *)text, strlen(text)}, "FILE", e);
}

static void one(const char *text, const char *key, const char *value) {
    struct perfconfig c;
    struct err e = ERR_INIT;
    if (!parse(&c, text, &e))
        fail_msg("%s: %s", text, e.message);
    const char *got = perfconfig_text(&c, key);
    if (value)
        assert_non_null(got);
    if (value)
        assert_string_equal(got, value);
    else
        assert_null(got);
    perfconfig_fini(&c);
}

static void broken(const char *text, const char *message) {
    struct perfconfig c;
    struct err e = ERR_INIT;
    assert_false(parse(&c, text, &e));
    assert_int_equal(e.code, ERR_BROKEN);
    assert_string_equal(e.message, message);
    perfconfig_fini(&c);
}

static void values(void **state) {
    (void)state;
    one("[a]\nx = y # c\n", "a.x", "y");
    one("[a]\nx = y ; c\n", "a.x", "y");
    one("[a]\n\tx =   y z  \t\n", "a.x", "y z");
    one("[A]\nX_Y-z = \"a b ; c\" d ; e\n", "a.x_y-z", "a b ; c d");
    one("[a]\nx = \"  y  \"  \n", "a.x", "  y  ");
    one("[a]\nx = a\\\n b\n", "a.x", "a b");
    one("[a]\nx = \\\"q\\\"\\t\\\\\n", "a.x", "\"q\"\t\\");
    one("[a]\nx =\n", "a.x", "");
    one("[a] y=2\nx=1", "a.y", "2");
    one("[a]\nx=1\n[a]\nx=2\n", "A.X", "2");
    one("[a \"b c\"]\nx=1\n", "a.b c.x", "1");
    one("[a.b]\r\nx=1\r\n", "a.b.x", "1");
    one("\xef\xbb\xbf# comment\n; comment\n\n[report]\nchildren\n", "report.children", NULL);
    one("[a]\nx=1\n", "a.y", NULL);
    one("", "a.y", NULL);
}

static void damage(void **state) {
    (void)state;
    broken("x = 1\n", "bad config file line 1 in FILE");
    broken("[a\nx=1\n", "bad config file line 1 in FILE");
    broken("[]\nx=1\n", "bad config file line 1 in FILE");
    broken("[a]\nx = a\\qb\n", "bad config file line 2 in FILE");
    broken("[a]\n1x = 3\n", "bad config file line 2 in FILE");
    broken("[a]\n\nx = \"unterminated\n", "bad config file line 3 in FILE");
    broken("[a]\nx..y = 1\n", "bad config file line 2 in FILE");
    broken("[a]\nx y = 1\n", "bad config file line 2 in FILE");
    char *longest = malloc(9000);
    assert_non_null(longest);
    memset(longest, 'a', 9000);
    memcpy(longest, "[s]\nx=", 6);
    longest[8999] = 0;
    broken(longest, "bad config file line 2 in FILE");
    memset(longest + 1, 'b', 8998); /* a section name without end */
    broken(longest, "bad config file line 1 in FILE");
    free(longest);
}

static void count_lines(void *ctx, enum log_level level, const char *line) {
    (void)level, (void)line;
    ++*(int *)ctx;
}

static void truth(void **state) {
    (void)state;
    struct perfconfig c;
    struct err e = ERR_INIT;
    int warnings = 0;
    log_set_sink(count_lines, &warnings);
    assert_true(parse(&c, "[a]\nt=true\ny=Yes\no=on\ni=1\nf=FALSE\nn=no\noff=off\nz=0\nbare\nm=maybe\n", &e));
    static const char *const yes[] = {"a.t", "a.y", "a.o", "a.i", "a.bare"}, *const no[] = {"a.f", "a.n",
                                                                                            "a.off", "a.z"};
    for (size_t i = 0; i < 5; i++)
        assert_true(perfconfig_bool(&c, yes[i], false));
    for (size_t i = 0; i < 4; i++)
        assert_false(perfconfig_bool(&c, no[i], true));
    assert_int_equal(warnings, 0);
    assert_true(perfconfig_bool(&c, "a.absent", true));
    assert_false(perfconfig_bool(&c, "a.absent", false));
    assert_int_equal(warnings, 0);
    assert_true(perfconfig_bool(&c, "a.m", true));
    assert_int_equal(warnings, 1);
    log_set_sink(NULL, NULL);
    perfconfig_fini(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(values), cmocka_unit_test(damage),
                                       cmocka_unit_test(truth)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
