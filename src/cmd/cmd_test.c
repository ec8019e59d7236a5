/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/common/command.h"
#include "cmd/own_symbols.h"
#include "os/files/map.h"
#include "workload/workload.h"

struct test_options {
    int verbose;
    bool dont_fork, list_workloads;
    const char *workload, *dso;
    const char *junit; /* where to write; NULL: nowhere */
};

static bool set_junit(const struct option *row, void *field, const char *value, bool negated, struct err *e) {
    (void)row, (void)e;
    *(const char **)field = negated ? NULL : value ? value : "test.xml";
    return true;
}

static const struct option options[] = {
    OPTION_BOOL('F', "dont-fork", struct test_options, dont_fork, "Do not fork for testcase (it never does)"),
    OPTION_CALL('j', "junit", struct test_options, junit, "file",
                "Generate junit XML output, default test.xml", set_junit, .flags = OPTION_VALUE_OPTIONAL),
    OPTION_COUNT('v', "verbose", struct test_options, verbose,
                 "be more verbose (twice: show what a test prints)"),
    OPTION_STRING('w', "workload", struct test_options, workload, "work",
                  "workload to run, use '--list-workloads' to list the available ones."),
    OPTION_STRING(0, "dso", struct test_options, dso, "dso", "dso to test"),
    OPTION_BOOL(0, "list-workloads", struct test_options, list_workloads,
                "List the available builtin workloads to use with -w/--workload"),
    OPTION_END,
};

/* A self test prints what it sees if `show`; false and *err when it fails. */
struct self_test {
    const char *name;
    bool (*run)(const struct test_options *o, struct out *show, struct err *err);
};

/* The file has symbols; our own has those that the workloads promise. */
static bool test_symbols(const struct test_options *o, struct out *show, struct err *err) {
    char exe[4096];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    const char *path = o->dso ? o->dso : "/proc/self/exe";
    struct os_file f;
    struct os_map map;
    exe[n > 0 ? n : 0] = 0;
    if (!os_file_open(path, &f, err))
        return false;
    bool ok = os_map_file(&f, path, &map, err);
    os_file_close(&f);
    if (!ok)
        return false;
    if (show)
        out_printf(show, "Testing %s\n", o->dso ? o->dso : exe);
    size_t count = 0;
    ok = own_symbols_list(map.bytes, show, o->dso ? NULL : "noploop", &count, err);
    os_map_fini(&map);
    if (ok && count == 0)
        return err_set(err, ERR_ABSENT, path, "it has no symbols");
    return ok;
}

static const struct self_test tests[] = {
    {"Symbols", test_symbols},
};
enum { TEST_COUNT = sizeof tests / sizeof *tests };

static bool chosen(size_t i, int argc, char **argv) {
    for (int a = 0; a < argc; a++) {
        bool number = argv[a][0] && argv[a][strspn(argv[a], "0123456789")] == 0;
        if (number ? strtoul(argv[a], NULL, 10) == i + 1 : strcasestr(tests[i].name, argv[a]) != NULL)
            return true;
    }
    return argc == 0;
}

static int list_tests(struct command_env *env, int argc, char **argv) {
    struct out out;
    if (!command_output(env, &out))
        return EXIT_ERROR;
    for (size_t i = 0; i < TEST_COUNT; i++)
        if (chosen(i, argc, argv))
            out_printf(&out, "%3zu: %s\n", i + 1, tests[i].name);
    return command_finish(env, &out, EXIT_OK);
}

static int list_workloads(struct command_env *env) {
    struct out out;
    if (!command_output(env, &out))
        return EXIT_ERROR;
    for (size_t i = 0; workload_table[i]; i++)
        out_printf(&out, "%s\n", workload_table[i]->name);
    return command_finish(env, &out, EXIT_OK);
}

/* What became of a test. */
struct outcome {
    const char *name;
    bool ok;
    double seconds;
    struct err err; /* why, where it failed */
};

static void xml_text(struct out *o, const char *text) {
    for (; *text; text++) {
        if (*text == '<' || *text == '>' || *text == '&' || *text == '"')
            out_printf(o, "&#%d;", *text);
        else
            out_char(o, (unsigned char)*text < ' ' ? ' ' : *text); /* control characters are not allowed */
    }
}

static void junit_case(struct out *o, const struct outcome *x) {
    out_str(o, "    <testcase classname=\"");
    xml_text(o, x->name);
    out_str(o, "\" name=\"");
    xml_text(o, x->name);
    out_printf(o, "\" time=\"%.2f\">\n", x->seconds);
    if (!x->ok) {
        out_str(o, "      <failure message=\"");
        xml_text(o, x->err.where);
        out_str(o, x->err.where[0] ? ": " : "");
        xml_text(o, x->err.message);
        out_str(o, "\"/>\n");
    }
    out_str(o, "    </testcase>\n");
}

/* -j; the layout is the one that Jenkins made common, as perf writes it. */
static bool write_junit(const char *path, const char *program, const struct outcome *all, size_t count,
                        struct err *err) {
    struct command_sink sink = {.fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)};
    struct out o;
    size_t failed = 0;
    if (sink.fd < 0)
        return err_errno(err, errno, path, "cannot write");
    if (!out_init(&o, command_write_fd, &sink)) {
        close(sink.fd);
        return err_memory(err, path);
    }
    for (size_t i = 0; i < count; i++)
        failed += !all[i].ok;
    out_str(&o, "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<testsuites>\n");
    out_printf(&o, "  <testsuite name=\"%s-tests\" tests=\"%zu\" failures=\"%zu\" skipped=\"0\">\n", program,
               count, failed);
    for (size_t i = 0; i < count; i++)
        junit_case(&o, &all[i]);
    out_str(&o, "  </testsuite>\n</testsuites>\n");
    bool ok = out_flush(&o);
    out_fini(&o);
    ok = close(sink.fd) == 0 && ok;
    if (ok)
        fprintf(stderr, "Wrote junit XML output to %s\n", path);
    return ok || err_errno(err, sink.errnum ? sink.errnum : EIO, path, "cannot write");
}

static struct outcome run_test(const struct test_options *o, size_t i, struct out *out) {
    struct outcome x = {.name = tests[i].name, .err = ERR_INIT};
    struct timespec from, to;
    bool show = o->verbose > 1;
    if (show)
        out_str(out, "--- start ---\n");
    clock_gettime(CLOCK_MONOTONIC, &from);
    x.ok = tests[i].run(o, show ? out : NULL, &x.err);
    clock_gettime(CLOCK_MONOTONIC, &to);
    x.seconds = (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
    if (show)
        out_str(out, "---- end ----\n");
    if (!x.ok && o->verbose)
        out_printf(out, "%s%s%s\n", x.err.where, x.err.where[0] ? ": " : "", x.err.message);
    out_printf(out, "%3zu: %-64s: %s\n", i + 1, x.name, x.ok ? "Ok" : "FAILED!");
    return x;
}

static int run_tests(struct command_env *env, const struct test_options *o, int argc, char **argv) {
    struct outcome outcomes[TEST_COUNT];
    struct err err = ERR_INIT;
    struct out out;
    size_t count = 0;
    int status = EXIT_OK;
    if (!command_output(env, &out))
        return EXIT_ERROR;
    for (size_t i = 0; i < TEST_COUNT; i++) {
        if (!chosen(i, argc, argv))
            continue;
        outcomes[count] = run_test(o, i, &out);
        if (!outcomes[count++].ok)
            status = EXIT_ERROR;
    }
    status = command_finish(env, &out, status);
    if (o->junit && !write_junit(o->junit, env->program, outcomes, count, &err))
        status = command_fail(&err);
    return status;
}

static int run(struct command_env *env, int argc, char **argv) {
    struct test_options o = {0};
    int status;
    if (!command_options(env, &o, 0, &argc, &argv, &status))
        return status;
    if (o.list_workloads)
        return list_workloads(env);
    if (o.workload) {
        status = workload_run(o.workload, argc, argv);
        if (status < 0)
            fprintf(stderr, "No workload found: %s\n", o.workload);
        return status < 0 ? EXIT_ERROR : status;
    }
    if (argc == 0 && !o.junit)
        return list_tests(env, 0, NULL);
    if (argc && strcmp(argv[0], "list") == 0)
        return list_tests(env, argc - 1, argv + 1);
    return run_tests(env, &o, argc, argv);
}

const struct command cmd_test = {
    .name = "test",
    .summary = "Run built-in workloads and self tests",
    .usage =
        (const char *const[]){
            "test [<options>] [{list <test-name-fragment>|[<test-name-fragments>|<test-numbers>]}]",
            "test -w <work> [<arguments>]", NULL},
    .options = options,
    .run = run,
};
