/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cmd/stat/shell_words.h"
#include "tests/support/fail_alloc.h"

/* `want`: the words with | between them. */
static void splits(const char *text, const char *want) {
    struct shell_words w;
    struct err e = ERR_INIT;
    char got[400] = "";
    if (!shell_words_split(text, &w, &e))
        fail_msg("%s: %s", text, e.message);
    assert_false(w.shell);
    for (char **p = w.argv; *p; p++) {
        strcat(got, p == w.argv ? "" : "|");
        strcat(got, *p);
    }
    assert_string_equal(got, want);
    shell_words_fini(&w);
}

static void words(void **state) {
    (void)state;
    splits("true", "true");
    splits("  ./a  -x\t--long=3 ", "./a|-x|--long=3");
    splits("a 'b c' \"d e\" f\\ g", "a|b c|d e|f g");
    splits("a '$x|y' \"it's\" \\$x", "a|$x|y|it's|$x");
    splits("a \"\\\"q\\\" \\\\ \\n \\$\" ''", "a|\"q\" \\ \\n $|");
    splits("a b\\\nc \"d\\\ne\"", "a|bc|de");
    splits("x'y'\"z\"", "xyz");
}

static void shells(void **state) {
    (void)state;
    static const char *const texts[] = {"a | b",    "a > x", "a; b",      "a && b", "X=1 a", "a $x",
                                        "a \"$x\"", "a `b`", "a \"`b`\"", "a *",    "a ?x",  "a [x]",
                                        "(a)",      "a # b", "a\nb",      "~/a",    "! a",   "a {1,2}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct shell_words w;
        struct err e = ERR_INIT;
        assert_true(shell_words_split(texts[i], &w, &e));
        assert_true(w.shell);
        assert_string_equal(w.argv[0], "sh");
        assert_string_equal(w.argv[1], "-c");
        assert_string_equal(w.argv[2], texts[i]);
        assert_null(w.argv[3]);
        shell_words_fini(&w);
    }
}

static void mistakes(void **state) {
    (void)state;
    static const char *const texts[] = {"", "  ", "a 'b", "a \"b", "a \\"};
    struct shell_words w;
    struct err e = ERR_INIT;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_false(shell_words_split(texts[i], &w, &e));
        assert_int_equal(e.code, ERR_USAGE);
        assert_null(w.argv);
    }
    FAIL_EACH_ALLOC({
        if (shell_words_split("a b 'c'", &w, &e))
            shell_words_fini(&w);
    });
    FAIL_EACH_ALLOC({
        if (shell_words_split("a | b", &w, &e))
            shell_words_fini(&w);
    });
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(words), cmocka_unit_test(shells),
                                       cmocka_unit_test(mistakes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
