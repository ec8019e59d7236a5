/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/command.h"
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
    out_printf(&out, "%s version %s\n", env->program, SONDE_VERSION);
    return command_finish(env, &out, EXIT_OK);
}

const struct command cmd_version = {
    .name = "version",
    .summary = "Show the version and what is built in",
    .usage = (const char *const[]){"version [<options>]", NULL},
    .options = options,
    .run = run,
};
