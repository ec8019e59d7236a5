/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/nearest.h"
#include "cmd/common/options/option.h"
#include "cmd/common/options/usage.h"

struct want {
    bool force, inherit_off, inline_;
    int verbose, depth;
    uint64_t count;
    const char *input;
    struct option_list comms;
    char graph[64];
};

static bool set_graph(const struct option *row, void *field, const char *value, bool negated, struct err *e) {
    if (value && strcmp(value, "wrong") == 0)
        return err_set(e, ERR_USAGE, "", "unknown graph `%s'", value);
    snprintf(field, sizeof((struct want *)0)->graph, "%c:%s", negated ? 'n' : row->letter,
             value ? value : "-");
    return true;
}

static const struct option rows[] = {
    OPTION_BOOL('f', "force", struct want, force, "don't complain"),
    OPTION_BOOL('N', "no-inherit", struct want, inherit_off, "children are not counted"),
    OPTION_BOOL(0, "inline", struct want, inline_, "inlined frames"),
    OPTION_COUNT('v', "verbose", struct want, verbose, "say more"),
    OPTION_INT(0, "max-stack", struct want, depth, "n", "frames at most"),
    OPTION_U64('c', "count", struct want, count, "n", "period"),
    OPTION_STRING('i', "input", struct want, input, "file", "input file name"),
    OPTION_LIST(0, "comms", struct want, comms, "comm", "only these"),
    OPTION_CALL('g', "call-graph", struct want, graph, "style", "call graph", set_graph,
                .flags = OPTION_VALUE_ADOPT, .fallback = "fp"),
    OPTION_CALL('w', "width", struct want, graph, "n", "width", set_graph,
                .flags = OPTION_VALUE_OPTIONAL | OPTION_NO_NEGATION, .fallback = "80"),
    OPTION_CALL('H', "header", struct want, graph, NULL, "header", set_graph, .flags = OPTION_NO_VALUE),
    OPTION_CALL('O', "header-only", struct want, graph, NULL, "header only", set_graph,
                .flags = OPTION_NO_VALUE),
    OPTION_ABSENT(0, "later", "n", "to come", .flags = OPTION_HIDDEN),
    OPTION_BOOL(0, "secret", struct want, force, "hidden", .flags = OPTION_HIDDEN),
    OPTION_END,
};

/* The words of one command line, split at blanks, kept for one test. */
struct line {
    char text[256];
    char *argv[32];
    struct want w;
    struct option_result r;
};

static void parse_flags(struct line *l, unsigned flags, const char *text) {
    int argc = 0;
    *l = (struct line){0};
    l->argv[argc++] = (char *)"cmd";
    snprintf(l->text, sizeof l->text, "%s", text);
    for (char *save = NULL, *word = strtok_r(l->text, " ", &save); word; word = strtok_r(NULL, " ", &save))
        l->argv[argc++] = word;
    l->r = option_parse(rows, &l->w, flags, argc, l->argv);
}

static void parse(struct line *l, const char *text) {
    parse_flags(l, 0, text);
}

static void bad(const char *text, const char *message) {
    struct line l;
    parse(&l, text);
    assert_int_equal(l.r.status, OPTION_BAD);
    assert_int_equal(l.r.err.code, ERR_USAGE);
    assert_string_equal(l.r.err.message, message);
    option_list_fini(&l.w.comms);
}

static void good(struct line *l, const char *text) {
    parse(l, text);
    if (l->r.status != OPTION_DONE)
        fail_msg("%s: %s", text, l->r.err.message);
}

static void short_options_bundle(void **state) {
    (void)state;
    struct line l;
    good(&l, "-fv -v");
    assert_true(l.w.force);
    assert_int_equal(l.w.verbose, 2);
    good(&l, "-vvvfi data");
    assert_int_equal(l.w.verbose, 3);
    assert_string_equal(l.w.input, "data");
    good(&l, "-fidata");
    assert_true(l.w.force);
    assert_string_equal(l.w.input, "data");
    good(&l, "-if -v"); /* the f is the value */
    assert_false(l.w.force);
    assert_string_equal(l.w.input, "f");
    assert_int_equal(l.w.verbose, 1);
}

static void values_attach_or_follow(void **state) {
    (void)state;
    struct line l;
    good(&l, "-c99");
    assert_int_equal(l.w.count, 99);
    good(&l, "-c 99");
    assert_int_equal(l.w.count, 99);
    good(&l, "--count=99");
    assert_int_equal(l.w.count, 99);
    good(&l, "--count 18446744073709551615");
    assert_true(l.w.count == UINT64_MAX);
    good(&l, "--max-stack -5");
    assert_int_equal(l.w.depth, -5);
    good(&l, "-i --force"); /* whatever follows is the value */
    assert_string_equal(l.w.input, "--force");
    assert_false(l.w.force);
    good(&l, "--input=");
    assert_string_equal(l.w.input, "");
    good(&l, "--input=a=b -i -");
    assert_string_equal(l.w.input, "-");
    assert_int_equal(l.r.argc, 0);
    good(&l, "--comms a --comms=b --comms c,d");
    assert_int_equal(l.w.comms.count, 3);
    assert_string_equal(l.w.comms.items[1], "b");
    option_list_fini(&l.w.comms);
}

static void numbers_are_checked(void **state) {
    (void)state;
    bad("--max-stack x", "option `max-stack' expects a numerical value");
    bad("--max-stack=99k", "option `max-stack' expects a numerical value");
    bad("--max-stack=0x10", "option `max-stack' expects a numerical value");
    bad("--max-stack=2147483648", "option `max-stack' expects a numerical value");
    bad("--max-stack=", "option `max-stack' expects a numerical value");
    bad("-c -1", "switch `c' expects a numerical value");
    bad("-c 18446744073709551616", "switch `c' expects a numerical value");
    bad("-c", "switch `c' requires a value");
    bad("--count", "option `count' requires a value");
    bad("-fi", "switch `i' requires a value");
    bad("--force=yes", "option `force' takes no value");
    bad("--no-force=yes", "option `no-force' takes no value");
}

static void long_names_may_be_cut(void **state) {
    (void)state;
    struct line l;
    good(&l, "--forc --inp=x --verb --verb");
    assert_true(l.w.force);
    assert_string_equal(l.w.input, "x");
    assert_int_equal(l.w.verbose, 2);
    good(&l, "--header"); /* an exact match, though a longer name begins with it */
    assert_string_equal(l.w.graph, "H:-");
    good(&l, "--header-o");
    assert_string_equal(l.w.graph, "O:-");
    bad("--head", "ambiguous option: head (could be --header or --header-only)");
    bad("--in", "ambiguous option: in (could be --inherit or --inline)");
    bad("--no-in", "ambiguous option: no-in (could be --no-inherit or --no-inline)");
}

static void no_takes_back(void **state) {
    (void)state;
    struct line l;
    good(&l, "--force --no-force");
    assert_false(l.w.force);
    good(&l, "-vv --no-verbose -v");
    assert_int_equal(l.w.verbose, 1);
    good(&l, "-i x --no-input");
    assert_null(l.w.input);
    good(&l, "--comms a --no-comms --comms b");
    assert_int_equal(l.w.comms.count, 1);
    assert_string_equal(l.w.comms.items[0], "b");
    option_list_fini(&l.w.comms);
    good(&l, "--no-call-graph");
    assert_string_equal(l.w.graph, "n:-");
    good(&l, "--no-forc");
    assert_false(l.w.force);
    bad("--no-count", "unknown option `no-count', did you mean `--count'?");
    bad("--no-width", "unknown option `no-width', did you mean `--width'?");
}

static void an_option_named_no_x_has_an_x(void **state) {
    (void)state;
    struct line l;
    good(&l, "--no-inherit");
    assert_true(l.w.inherit_off);
    good(&l, "-N --inherit");
    assert_false(l.w.inherit_off);
    good(&l, "--no-inherit --inh");
    assert_false(l.w.inherit_off);
    good(&l, "--no-inh");
    assert_true(l.w.inherit_off);
    bad("--inherit=1", "option `inherit' takes no value");
}

static void optional_values(void **state) {
    (void)state;
    struct line l;
    good(&l, "-g");
    assert_string_equal(l.w.graph, "g:fp");
    good(&l, "-g caller x"); /* this row takes the next word */
    assert_string_equal(l.w.graph, "g:caller");
    assert_int_equal(l.r.argc, 1);
    good(&l, "-g -f");
    assert_string_equal(l.w.graph, "g:fp");
    assert_true(l.w.force);
    good(&l, "-fgcaller");
    assert_string_equal(l.w.graph, "g:caller");
    good(&l, "--call-graph=");
    assert_string_equal(l.w.graph, "g:");
    good(&l, "-w 5"); /* this one does not */
    assert_string_equal(l.w.graph, "w:80");
    assert_int_equal(l.r.argc, 1);
    good(&l, "--width=5");
    assert_string_equal(l.w.graph, "w:5");
    bad("-g wrong", "unknown graph `wrong'");
}

static void operands_and_the_end_of_options(void **state) {
    (void)state;
    struct line l;
    good(&l, "a -f b - c -- -v d");
    assert_true(l.w.force);
    assert_int_equal(l.w.verbose, 0);
    assert_int_equal(l.r.argc, 6);
    const char *want[] = {"a", "b", "-", "c", "-v", "d"};
    for (int i = 0; i < 6; i++)
        assert_string_equal(l.r.argv[i], want[i]);
    assert_null(l.r.argv[6]);
    good(&l, "");
    assert_int_equal(l.r.argc, 0);

    parse_flags(&l, OPTION_STOP_AT_OPERAND, "-f ls -l --verbose");
    assert_int_equal(l.r.argc, 3);
    assert_string_equal(l.r.argv[1], "-l");
    assert_int_equal(l.w.verbose, 0);
    parse_flags(&l, OPTION_STOP_AT_OPERAND, "-f -- -l");
    assert_int_equal(l.r.argc, 1);

    parse_flags(&l, OPTION_KEEP_UNKNOWN, "-f x --strange -v");
    assert_int_equal(l.r.status, OPTION_DONE);
    assert_int_equal(l.r.argc, 3);
    assert_string_equal(l.r.argv[1], "--strange");
    assert_string_equal(l.r.argv[2], "-v");
}

static void help_is_everywhere(void **state) {
    (void)state;
    struct line l;
    parse(&l, "-h");
    assert_int_equal(l.r.status, OPTION_HELP);
    assert_int_equal(l.r.argc, 0);
    parse(&l, "-fh header input");
    assert_int_equal(l.r.status, OPTION_HELP);
    assert_int_equal(l.r.argc, 2);
    parse(&l, "x --help");
    assert_int_equal(l.r.status, OPTION_HELP);
}

static void unknown_ones_bring_a_suggestion(void **state) {
    (void)state;
    bad("-x", "unknown switch `x'");
    bad("-fx", "unknown switch `x'");
    bad("--froce", "unknown option `froce', did you mean `--force'?");
    bad("--max_stack=3", "unknown option `max_stack', did you mean `--max-stack'?");
    bad("--zzzzzz", "unknown option `zzzzzz'");
    bad("--secrte", "unknown option `secrte'");
    bad("--secr", "unknown option `secr'");
    bad("--no", "unknown option `no'");
    bad("--n", "unknown option `n'");
    bad("--no-", "unknown option `no-'");
    bad("-force", "did you mean `--force' (with two dashes)?");
    bad("-fi x -inline", "did you mean `--inline' (with two dashes)?");
    struct line l;
    good(&l, "--secret"); /* hidden, but it works */
    assert_true(l.w.force);
}

static void what_is_not_there_yet_says_so(void **state) {
    (void)state;
    struct line l;
    parse(&l, "--later=3 -f");
    assert_int_equal(l.r.status, OPTION_BAD);
    assert_int_equal(l.r.err.code, ERR_UNSUPPORTED);
    assert_string_equal(l.r.err.message, "option --later is not there yet");
    good(&l, "--no-later -f");
    assert_true(l.w.force);
}

static void nearest_names(void **state) {
    (void)state;
    assert_int_equal(nearest_distance("report", "report"), 0);
    assert_int_equal(nearest_distance("repotr", "report"), 1);
    assert_int_equal(nearest_distance("reprt", "report"), 1);
    assert_int_equal(nearest_distance("", "abc"), 3);
    assert_int_equal(nearest_distance("kitten", "sitting"), 3);
    static const struct {
        const char *word, *best;
    } cases[] = {{"repotr", "report"}, {"scirpt", "script"}, {"recrod", "record"}, {"stats", "stat"},
                 {"to", "top"},        {"xyzzyq", NULL},     {"a", NULL}};
    static const char *const names[] = {"record", "report", "script", "stat", "top"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct nearest n = nearest_start(cases[i].word);
        for (size_t j = 0; j < sizeof names / sizeof *names; j++)
            nearest_try(&n, names[j]);
        if (cases[i].best)
            assert_string_equal(n.best, cases[i].best);
        else
            assert_null(n.best);
    }
}

static void usage_looks_like_perfs(void **state) {
    (void)state;
    struct out o;
    assert_true(out_init(&o, NULL, NULL));
    const char *const lines[] = {"x [<options>]", "x verb", NULL};
    usage_lines(&o, "sonde", lines);
    usage_options(&o, rows, 0, NULL);
    assert_string_equal(out_text(&o), " Usage: sonde x [<options>]\n"
                                      "    or: sonde x verb\n"
                                      "    -c, --count <n>       period\n"
                                      "    -f, --force           don't complain\n"
                                      "    -g, --call-graph[=<style>]\n"
                                      "                          call graph\n"
                                      "    -H, --header          header\n"
                                      "    -i, --input <file>    input file name\n"
                                      "    -N, --no-inherit      children are not counted\n"
                                      "    -O, --header-only     header only\n"
                                      "    -v, --verbose         say more\n"
                                      "    -w, --width[=<n>]     width\n"
                                      "        --comms <comm>    only these\n"
                                      "        --inline          inlined frames\n"
                                      "        --max-stack <n>   frames at most\n");
    out_fini(&o);
    assert_true(out_init(&o, NULL, NULL));
    char *words[] = {(char *)"head", (char *)"-c"};
    usage_options(&o, rows, 2, words);
    assert_string_equal(out_text(&o), "    -c, --count <n>       period\n"
                                      "    -H, --header          header\n"
                                      "    -O, --header-only     header only\n");
    out_fini(&o);
}

static void test_times(void **state) {
    static const struct {
        const char *text;
        uint64_t bare, ns; /* ns 0: it is none */
    } ROWS[] = {{"5us", 0, 5000},
                {"2s", 0, 2000000000},
                {"7", 1, 7},
                {"7", 1000, 7000},
                {"7", 0, 0},
                {"", 1, 0},
                {"-1", 1, 0},
                {"1 ms", 1, 0},
                {"1h", 1, 0},
                {"3ns", 0, 3},
                {"18446744073709551", 1000, 18446744073709551000u},
                {"18446744073709552", 1000, 0},
                {"99999999999999999999", 1, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        uint64_t ns = 0;
        assert_int_equal(option_time_ns(ROWS[i].text, ROWS[i].bare, &ns), ROWS[i].ns > 0);
        assert_int_equal(ns, ROWS[i].ns);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times),
        cmocka_unit_test(short_options_bundle),
        cmocka_unit_test(values_attach_or_follow),
        cmocka_unit_test(numbers_are_checked),
        cmocka_unit_test(long_names_may_be_cut),
        cmocka_unit_test(no_takes_back),
        cmocka_unit_test(an_option_named_no_x_has_an_x),
        cmocka_unit_test(optional_values),
        cmocka_unit_test(operands_and_the_end_of_options),
        cmocka_unit_test(help_is_everywhere),
        cmocka_unit_test(unknown_ones_bring_a_suggestion),
        cmocka_unit_test(what_is_not_there_yet_says_so),
        cmocka_unit_test(nearest_names),
        cmocka_unit_test(usage_looks_like_perfs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
