/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/timechart/timechart.h"

#define TIME_MAX_NS UINT64_C(1000000000000000) /* eleven days: sums of two do not overflow */

static bool take_time(const struct option *row, void *field, const char *value, bool negated, struct err *e) {
    uint64_t *ns = field;
    *ns = 0;
    return negated || (option_time_ns(value, 1, ns) && *ns <= TIME_MAX_NS) ||
           err_set(e, ERR_USAGE, NULL, "--%s: a time, as 500us: %s", row->name, value);
}

#define OWN struct timechart_options
static const struct option options[] = {
    INPUT_OPTION(OWN, input),
    INPUT_FORCE_OPTION(OWN, force),
    OPTION_STRING('o', "output", OWN, output, "file", "output file name (default: output.svg)"),
    OPTION_COUNT('v', "verbose", OWN, verbose, "be more verbose"),
    OPTION_INT('w', "width", OWN, width, "n", "page width (default: 1000)"),
    OPTION_INT('n', "proc-num", OWN, least, "n", "at least so many threads, if they ran (default: 15)"),
    OPTION_LIST('p', "process", OWN, processes, "process",
                "only threads of this name, pid or tid; may be repeated"),
    OPTION_BOOL('P', "power-only", OWN, power_only, "CPUs only"),
    OPTION_BOOL('T', "tasks-only", OWN, tasks_only, "without idle states and speeds of CPUs"),
    OPTION_BOOL('t', "topology", OWN, topology, "CPUs in the order of sockets and cores"),
    OPTION_BOOL('g', "callchain", OWN, callchain, "for record: with callchains"),
    OPTION_STRING(0, "highlight", OWN, highlight, "duration or name",
                  "another colour for threads that ran so many ns at once, or have this name"),
    OPTION_BOOL('I', "io-only", OWN, io_only, "input and output only"),
    OPTION_BOOL(0, "io-skip-eagain", OWN, io_skip_again, "without calls that failed with EAGAIN"),
    OPTION_CALL(0, "io-min-time", OWN, io_least_ns, "time",
                "draw calls at least as long as this (ns, us, ms)", take_time),
    OPTION_CALL(0, "io-merge-dist", OWN, io_merge_ns, "time",
                "draw calls as one that are so near (ns, us, ms)", take_time),
    OPTION_STRING(0, "symfs", OWN, symbols.symfs, "directory",
                  "look for files with symbols below this directory"),
    OPTION_END,
};

static int run(struct command_env *env, int argc, char **argv) {
    struct timechart_options o = {.width = 1000, .output = "output.svg"};
    int status;
    if (!command_options(env, &o, OPTION_STOP_AT_OPERAND, &argc, &argv, &status))
        return status;
    if (argc && !strcmp(argv[0], "record"))
        status = timechart_record(env, &o, argc, argv);
    else if (argc)
        status = command_usage(env, "unexpected argument `%s'", argv[0]);
    else if (o.width < TIMECHART_SVG_WIDTH_MIN || o.width > TIMECHART_COLUMNS_MAX)
        status = command_usage(env, "-w %d: a width from %d to %d", o.width, TIMECHART_SVG_WIDTH_MIN,
                               TIMECHART_COLUMNS_MAX);
    else if (o.power_only && o.tasks_only)
        status = command_usage(env, "-P and -T leave nothing together");
    else if (o.io_only && (o.power_only || o.tasks_only))
        status = command_usage(env, IO_ALONE);
    else if (!o.output || !*o.output)
        status = command_usage(env, "-o: the chart needs a file");
    else
        status = timechart_draw(env, &o);
    option_list_fini(&o.processes);
    return status;
}

const struct command cmd_timechart = {
    .name = "timechart",
    .summary = "Draw what the system did over time",
    .usage = (const char *const[]){"timechart [<options>]", "timechart record [<options>] [<command>]", NULL},
    .options = options,
    .run = run,
};
