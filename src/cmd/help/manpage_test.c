/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cmd/help/completion.h"
#include "cmd/help/manpage.h"

struct want {
    bool force;
    const char *input;
};

static const struct option rows[] = {
    OPTION_BOOL('f', "force", struct want, force, "don't complain"),
    OPTION_STRING('i', "in-put", struct want, input, "file", ".dotted\nsecond"),
    OPTION_STRING(0, "style", struct want, input, "s", "style", .flags = OPTION_VALUE_OPTIONAL),
    OPTION_STRING('z', NULL, struct want, input, "n", "letter only"),
    OPTION_BOOL(0, "secret", struct want, force, "hidden", .flags = OPTION_HIDDEN),
    OPTION_END,
};

static const struct command command = {
    .name = "try",
    .summary = "Try well-known things",
    .usage = (const char *const[]){"try [<options>]", "try <verb>", NULL},
    .options = rows,
};

/* The page between two of its lines. */
static void part(const char *text, const char *from, const char *to, const char *want) {
    struct out o;
    assert_true(out_init(&o, NULL, NULL));
    manpage_command(&o, &command, text);
    const char *page = out_text(&o), *start = strstr(page, from);
    assert_non_null(start);
    start += strlen(from);
    const char *end = strstr(start, to);
    assert_non_null(end);
    char got[2048];
    assert_true((size_t)(end - start) < sizeof got);
    memcpy(got, start, (size_t)(end - start));
    got[end - start] = 0;
    assert_string_equal(got, want);
    out_fini(&o);
}

static void page_frame(void **state) {
    (void)state;
    part(NULL, ".SH NAME\n", ".SH SYNOPSIS\n", "sonde\\-try \\- Try well\\-known things\n");
    part(NULL, ".SH SYNOPSIS\n", ".SH DESCRIPTION\n",
         "\\fBsonde\\fR try [<options>]\n.br\n\\fBsonde\\fR try <verb>\n");
    part(NULL, ".SH DESCRIPTION\n", ".SH OPTIONS\n", ".PP\nTry well\\-known things\n");
}

static void page_options(void **state) {
    (void)state;
    part(NULL, ".SH OPTIONS\n", ".SH SEE ALSO\n",
         ".TP\n\\fB\\-f\\fR, \\fB\\-\\-force\\fR\ndon't complain\n"
         ".TP\n\\fB\\-i\\fR, \\fB\\-\\-in\\-put\\fR=\\fIfile\\fR\n\\&.dotted\n.br\nsecond\n"
         ".TP\n\\fB\\-\\-style\\fR[=\\fIs\\fR]\nstyle\n"
         ".TP\n\\fB\\-z\\fR \\fIn\\fR\nletter only\n");
}

static void page_text(void **state) {
    (void)state;
    static const char text[] = "One `a-b` and *c*,\ntwo \\ and 2 * 3 `open.\n"
                               "\n"
                               ".hidden request\n"
                               "\n"
                               "    example -x\n"
                               "    'quoted\n"
                               "\n"
                               "After.\n"
                               "# FILES\n"
                               "- `x`: one\n"
                               "  more\n"
                               "- y\n"
                               "# WORDS\n"
                               "`one`\n"
                               ": first\n"
                               "more\n"
                               "\n"
                               "two, 2\n"
                               ": second\n"
                               "\n"
                               "After.\n"
                               "# LAST\n"
                               "    end\n";
    part(text, ".SH DESCRIPTION\n", ".SH OPTIONS\n",
         ".PP\nOne \\fBa\\-b\\fR and \\fIc\\fR,\ntwo \\e and 2 * 3 `open.\n"
         ".PP\n\\&.hidden request\n"
         ".PP\n.RS 4\n.nf\nexample \\-x\n\\&'quoted\n.fi\n.RE\n"
         ".PP\nAfter.\n");
    part(text, ".SH WORDS\n", ".SH LAST\n",
         ".TP\n\\fBone\\fR\nfirst\nmore\n.TP\ntwo, 2\nsecond\n.PP\nAfter.\n");
    part(text, ".SH FILES\n", ".SH WORDS\n", ".IP \\(bu 2\n\\fBx\\fR: one\nmore\n.IP \\(bu 2\ny\n");
    part(text, ".SH LAST\n", ".SH SEE ALSO\n", ".PP\n.RS 4\n.nf\nend\n.fi\n.RE\n");
}

/* Every script names every command; their grammar is the shells' business (tests/cli_test.py). */
static void completion_names_commands(void **state) {
    (void)state;
    void (*const make[])(struct out *) = {completion_bash, completion_zsh, completion_fish};
    for (size_t i = 0; i < 3; i++) {
        struct out o;
        assert_true(out_init(&o, NULL, NULL));
        make[i](&o);
        for (size_t c = 0; command_table[c]; c++)
            assert_non_null(strstr(out_text(&o), command_table[c]->name));
        out_fini(&o);
    }
}

static void tables_are_sound(void **state) {
    (void)state;
    for (size_t i = 0; command_table[i]; i++) {
        const struct command *c = command_table[i];
        if (i)
            assert_true(strcmp(command_table[i - 1]->name, c->name) < 0);
        assert_ptr_equal(command_find(c->name), c);
        assert_null(command_find_absent(c->name));
        assert_true(c->summary && c->usage[0] && c->run);
        for (const struct option *row = c->options; row && row->kind; row++) {
            assert_true((row->letter || row->name) && row->help);
            assert_true(row->kind != OPTION_KIND_CALL || row->call);
            for (const struct option *other = c->options; other != row; other++) {
                assert_false(row->letter && row->letter == other->letter);
                assert_false(row->name && other->name && strcmp(row->name, other->name) == 0);
            }
        }
    }
    for (const struct command_absent *a = command_absent_table; a[0].name && a[1].name; a++)
        assert_true(strcmp(a[0].name, a[1].name) < 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(page_frame),
        cmocka_unit_test(page_options),
        cmocka_unit_test(page_text),
        cmocka_unit_test(tables_are_sound),
        cmocka_unit_test(completion_names_commands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
