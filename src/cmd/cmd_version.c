/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "cmd/common/command.h"
#include "cmd/common/feature_list.h"
#include "config.h"

/* The perf whose options and output ours are. */
#define PERF_VERSION "7.2"

struct version_options {
    bool build_options;
};

static const struct option options[] = {
    OPTION_BOOL(0, "build-options", struct version_options, build_options, "display the build options"),
    OPTION_END,
};

static int run(struct command_env *env, int argc, char **argv) {
    struct version_options o = {0};
    struct out out;
    int status;
    if (!command_options(env, &o, 0, &argc, &argv, &status))
        return status;
    if (!command_output(env, &out))
        return EXIT_ERROR;
    /* Scripts compare the number after "perf version"; the rest tells people that this is sonde. */
    if (strcmp(env->program, "perf") == 0)
        out_str(&out, "perf version " PERF_VERSION " (sonde " SONDE_VERSION ")\n");
    else
        out_str(&out, "sonde version " SONDE_VERSION "\n");
    for (const struct feature_row *row = feature_table; o.build_options && row->name; row++)
        feature_print(&out, row);
    return command_finish(env, &out, EXIT_OK);
}

const struct command cmd_version = {
    .name = "version",
    .summary = "Show the version and what is built in",
    .usage = (const char *const[]){"version [<options>]", NULL},
    .options = options,
    .run = run,
};
