/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "cmd/common/command.h"
#include "cmd/common/feature_list.h"

struct check_options {
    bool quiet;
};

static const struct option options[] = {
    OPTION_BOOL('q', "quiet", struct check_options, quiet, "do not show any warnings or messages"),
    OPTION_END,
};

/* As perf: prints the features in the given order, up to the first unknown one; the status is 0 if all of
 * them are built in. */
static int check(struct command_env *env, const char *list, bool quiet) {
    struct out out;
    int status = EXIT_OK;
    env->pager = 0;
    if (!command_output(env, &out))
        return EXIT_ERROR;
    while (*list) {
        size_t len = strcspn(list, ",");
        const struct feature_row *row = feature_find(list, len);
        if (!row) {
            status = EXIT_ERROR;
            out_flush(&out);
            if (!quiet)
                fprintf(stderr,
                        "Unknown feature '%.*s', please use '%s version --build-options' to see which ones "
                        "are available.\n",
                        (int)len, list, env->program);
            break;
        }
        if (!quiet)
            feature_print(&out, row);
        if (!row->built_in)
            status = EXIT_ERROR;
        list += len + (list[len] == ',');
    }
    return command_finish(env, &out, status);
}

static int run(struct command_env *env, int argc, char **argv) {
    struct check_options o = {0};
    int status;
    if (!command_options(env, &o, 0, &argc, &argv, &status))
        return status;
    if (argc == 0)
        return command_usage(env, NULL);
    if (strcmp(argv[0], "feature") != 0)
        return command_usage(env, "unknown subcommand: %s", argv[0]);
    if (argc != 2)
        return command_usage(
            env, argc < 2 ? "check feature: name a feature"
                          : "check feature takes one word: give features with commas between them");
    return check(env, argv[1], o.quiet);
}

const struct command cmd_check = {
    .name = "check",
    .summary = "Tell whether a feature is built in",
    .usage = (const char *const[]){"check [<options>] feature <feature_list>", NULL},
    .options = options,
    .run = run,
};
