/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "cmd/lock/lock.h"

#define OWN struct lock_common
static const struct option options[] = {
    INPUT_OPTION(OWN, input),
    INPUT_FORCE_OPTION(OWN, force),
    OPTION_BOOL('q', "quiet", OWN, quiet, "no headings, notes and warnings"),
    OPTION_COUNT('v', "verbose", OWN, verbose, "show stacks, and more messages"),
    OPTION_STRING(0, "vmlinux", OWN, symbols.host.vmlinux, "file", "kernel image"),
    OPTION_STRING(0, "kallsyms", OWN, symbols.host.kallsyms, "file", "kallsyms file"),
    OPTION_STRING(0, "output", OWN, output, "file", "output file name"),
    EVENT_VIEW_DUMP_OPTION(OWN, dump),
    OPTION_END,
};

static const struct verb {
    const char *name;
    lock_verb_fn *run;
} verbs[] = {
    {"contention", lock_contention}, {"info", lock_info},     {"record", lock_record},
    {"report", lock_report},         {"script", lock_script},
};

static int run(struct command_env *env, int argc, char **argv) {
    struct lock_common o = {0};
    int status;
    if (!command_options(env, &o, OPTION_STOP_AT_OPERAND, &argc, &argv, &status))
        return status;
    if (!argc)
        return command_usage(env, NULL);
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        size_t n = strlen(argv[0]);
        /* As in perf, a beginning of three letters is enough for the two that have them. */
        if (strcmp(verbs[i].name, argv[0]) == 0 ||
            (n >= 3 && strncmp(verbs[i].name, argv[0], n) == 0 && strncmp(argv[0], "script", n) != 0))
            return verbs[i].run(env, &o, argc, argv);
    }
    return command_usage(env, "unknown command: %s", argv[0]);
}

const struct command cmd_lock = {
    .name = "lock",
    .summary = "Analyse locks",
    .usage =
        (const char *const[]){"lock [<options>] {record|report|script|info|contention} [<options>]", NULL},
    .options = options,
    .run = run,
};
