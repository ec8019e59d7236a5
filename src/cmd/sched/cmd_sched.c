/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "cmd/sched/sched.h"

#define OWN struct sched_common
static const struct option options[] = {
    INPUT_OPTION(OWN, input),
    INPUT_FORCE_OPTION(OWN, force),
    OPTION_COUNT('v', "verbose", OWN, verbose, "be more verbose"),
    EVENT_VIEW_DUMP_OPTION(OWN, dump),
    OPTION_END,
};

static const struct verb {
    const char *name;
    sched_verb_fn *run; /* NULL: perf has it, sonde not yet */
} verbs[] = {
    {"latency", sched_latency},   {"map", sched_map},       {"record", sched_record},
    {"replay", sched_replay},     {"script", sched_script}, {"stats", sched_stats},
    {"timehist", sched_timehist},
};

static int run(struct command_env *env, int argc, char **argv) {
    struct sched_common o = {0};
    struct err err = ERR_INIT;
    int status;
    if (!command_options(env, &o, OPTION_STOP_AT_OPERAND, &argc, &argv, &status))
        return status;
    if (!argc)
        return command_usage(env, NULL);
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        /* As in perf, the beginning of "latency" is enough: "lat" is what its manual uses. */
        if (strcmp(verbs[i].name, argv[0]) != 0 && !(i == 0 && strcmp(argv[0], "lat") == 0))
            continue;
        if (verbs[i].run)
            return verbs[i].run(env, &o, argc, argv);
        err_set(&err, ERR_UNSUPPORTED, NULL, "sched %s is not there yet", argv[0]);
        return command_fail(&err);
    }
    return command_usage(env, "unknown command: %s", argv[0]);
}

const struct command cmd_sched = {
    .name = "sched",
    .summary = "Analyse scheduling",
    .usage =
        (const char *const[]){
            "sched [<options>] {latency|map|record|replay|script|stats|timehist} [<options>]", NULL},
    .options = options,
    .run = run,
};
