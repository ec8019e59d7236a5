/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "cmd/common/command.h"
#include "cmd/common/options/usage.h"
#include "cmd/help/toplevel.h"

static int help_command(struct command_env *env, const struct command *c) {
    struct out out;
    if (!command_output(env, &out))
        return EXIT_ERROR;
    out_printf(&out, "%s %s - %s\n\n", env->program, c->name, c->summary);
    usage_lines(&out, env->program, c->usage);
    out_char(&out, '\n');
    usage_options(&out, c->options, 0, NULL);
    return command_finish(env, &out, EXIT_OK);
}

static int run(struct command_env *env, int argc, char **argv) {
    struct out out;
    int status;
    if (!command_options(env, NULL, 0, &argc, &argv, &status))
        return status;
    if (argc > 1)
        return command_usage(env, NULL);
    if (argc == 1) {
        const struct command *c = command_find(argv[0]);
        return c ? help_command(env, c) : toplevel_no_command(env->program, argv[0]);
    }
    if (!command_output(env, &out))
        return EXIT_ERROR;
    toplevel_overview(&out, env->program);
    return command_finish(env, &out, EXIT_OK);
}

const struct command cmd_help = {
    .name = "help",
    .summary = "Show what a command does and its options",
    .usage = (const char *const[]){"help [<command>]", NULL},
    .run = run,
};
