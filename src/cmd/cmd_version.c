/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "cmd/command.h"
#include "cmd/feature_list.h"
#include "config.h"

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
    /* Scripts look for "perf version N"; people should see what it really is. */
    bool as_perf = strcmp(env->program, "sonde") != 0;
    out_printf(&out, "%s version %s%s\n", env->program, SONDE_VERSION, as_perf ? " (sonde)" : "");
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
