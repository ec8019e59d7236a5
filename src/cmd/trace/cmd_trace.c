/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "cmd/trace/trace.h"

static int run(struct command_env *env, int argc, char **argv) {
    struct trace_options o;
    struct err err = ERR_INIT;
    int status;
    char *const *line = argv;
    trace_options_init(&o);
    if (argc > 1 && strcmp(argv[1], "record") == 0)
        return trace_record(env, argc - 1, argv + 1);
    if (command_options(env, &o, OPTION_STOP_AT_OPERAND, &argc, &argv, &status)) {
        command_log(env, o.verbose, false);
        if (o.input && argc)
            status = command_usage(env, "a recording is read, and a command run: choose one");
        else if (!trace_options_settle(&o, env->config, &err))
            status = command_fail(&err);
        else if (o.input)
            status = trace_file(env, &o);
        else {
            o.record.command = argc ? argv : NULL;
            status = trace_live(env, &o, line);
        }
    }
    trace_options_fini(&o);
    return status;
}

const struct command cmd_trace = {
    .name = "trace",
    .summary = "Show system calls with their arguments, results and durations",
    .usage =
        (const char *const[]){"trace [<options>] [<command>]", "trace [<options>] -- <command> [<options>]",
                              "trace record [<options>] [<command>]",
                              "trace record [<options>] -- <command> [<options>]", NULL},
    .options = trace_option_rows,
    .run = run,
};
