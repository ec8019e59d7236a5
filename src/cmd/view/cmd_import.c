/* SPDX-License-Identifier: Apache-2.0 */
/* Another tool's stacks as sonde's JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/view/stacks_file.h"
#include "cmd/view/stacks_output.h"

struct own {
    const char *input, *output;
    int verbose;
    bool quiet;
};

static const struct option options[] = {
    OPTION_STRING('i', "input", struct own, input, "file", "file to read (-: standard input)"),
    OPTION_STRING('o', "output", struct own, output, "file", "write to this file, not to standard output"),
    OPTION_COUNT('v', "verbose", struct own, verbose, "say more"),
    OPTION_BOOL('q', "quiet", struct own, quiet, "print no warnings or messages"),
    OPTION_END,
};

/* *status: EXIT_ERROR if something was left out. */
static bool import(const struct own *o, struct stacks *s, int *status, struct err *err) {
    static const struct export_options all = {0};
    struct stacks_file file;
    bool ok = stacks_init(s, err) && stacks_file_open(&file, o->input, true, err);
    if (!ok)
        return false;
    ok = stacks_file_read(&file, o->input, s, status, err);
    stacks_file_close(&file);
    if (ok && !s->rows.count)
        ok = err_set(err, ERR_ABSENT, o->input, "no stacks");
    return ok && stacks_write(s, export_format_find("json"), &all, o->output, err);
}

static int run(struct command_env *env, int argc, char **argv) {
    struct own o = {0};
    struct err err = ERR_INIT;
    struct stacks s = {0};
    int status;
    if (!command_options(env, &o, 0, &argc, &argv, &status))
        return status;
    if (argc + !!o.input != 1)
        return command_usage(env, NULL);
    if (argc)
        o.input = argv[0];
    command_log(env, o.verbose, o.quiet);
    if (!import(&o, &s, &status, &err))
        status = command_fail(&err);
    stacks_fini(&s);
    return status;
}

const struct command cmd_import = {
    .name = "import",
    .summary = "Read another tool's stacks: perf script's text, folded stacks, pprof",
    .usage = (const char *const[]){"import [<options>] <file>", NULL},
    .options = options,
    .run = run,
};
