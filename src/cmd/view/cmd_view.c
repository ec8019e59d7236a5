/* SPDX-License-Identifier: Apache-2.0 */
/* A recording as a page: flame graph, time strip, tables. */
#include <stdlib.h>

#include "cmd/common/input.h"
#include "cmd/view/show.h"
#include "cmd/view/show_verdict.h"

struct own {
    struct stacks_options in;
    struct show_options show;
    const char *frames;
    bool serve;
};

static bool take_serve(const struct option *row, void *field, const char *value, bool negated,
                       struct err *err) {
    struct own *o = field;
    (void)row, (void)err;
    o->serve = !negated;
    o->show.port = value;
    return true;
}

static const struct option options[] = {
    STACKS_OPTION_ROWS(struct own, in),
    OPTION_STRING('o', "output", struct own, show.output, "file",
                  "write the page to this file (-: standard output)"),
    OPTION_ROW(0, "serve", OPTION_KIND_CALL, 0, "port",
               "serve the page on 127.0.0.1, without opening a browser", .call = take_serve,
               .flags = OPTION_VALUE_OPTIONAL),
    OPTION_END,
};

/* Reads one recording, or two to compare, which `files` keeps. Returns the exit status, or STACKS_FAILED. */
static int read_all(struct command_env *env, struct own *o, int argc, char **argv, struct stacks *s,
                    struct diff_files *files) {
    int status = EXIT_OK;
    for (int i = 0; i < (argc ? argc : 1); i++) {
        struct diff_file *kept = argc == 2 ? &files->list[files->count++] : NULL;
        int one = stacks_read(env, &o->in, argc ? argv[i] : input_path(o->in.report.input), s, kept);
        if (one == STACKS_FAILED)
            return one;
        status = one ? one : status;
    }
    return status;
}

/* Reads what is wanted and shows it. */
static int view(struct command_env *env, struct own *o, int argc, char **argv, struct diff_files *files) {
    struct stacks s = {0};
    struct page_verdicts verdicts = {0};
    struct err err = ERR_INIT;
    int status = read_all(env, o, argc, argv, &s, files), shown = EXIT_OK;
    if (status == STACKS_FAILED)
        shown = EXIT_ERROR;
    else if (argc == 2 && !show_verdict(env, files, &s, &verdicts, &err))
        shown = command_fail(&err);
    o->show.verdicts = &verdicts;
    shown = shown ? shown : show_page(env, &o->show, &s);
    page_verdicts_fini(&verdicts);
    stacks_fini(&s);
    return shown ? shown : status;
}

static int run_with(struct command_env *env, struct own *o, int argc, char **argv) {
    int status;
    if (!command_options(env, o, 0, &argc, &argv, &status))
        return status;
    if (argc > 2 || (argc && o->in.report.input))
        return command_usage(env, NULL);
    if (o->serve && o->show.output)
        return command_usage(env, "--serve and -o exclude each other");
    command_log(env, o->in.report.verbose, o->in.report.quiet);
    o->in.moments = true;
    o->show.open = !o->serve;
    struct diff_files files = {.list = calloc(2, sizeof *files.list)};
    struct err err = ERR_INIT;
    if (files.list)
        status = view(env, o, argc, argv, &files);
    else
        status = command_fail((err_memory(&err, "recordings"), &err));
    diff_files_free(&files);
    return status;
}

static int run(struct command_env *env, int argc, char **argv) {
    struct own o = {0};
    stacks_options_init(&o.in, env->config);
    int status = run_with(env, &o, argc, argv);
    stacks_options_fini(&o.in);
    return status;
}

const struct command cmd_view = {
    .name = "view",
    .summary = "Look at a recording: flame graph, time line, tables, in a browser",
    .usage =
        (const char *const[]){"view [<options>] [<file>]", "view [<options>] <file> <file to compare>", NULL},
    .options = options,
    .run = run,
};
