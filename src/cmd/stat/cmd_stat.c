/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "cmd/common/options/perfconfig.h"
#include "cmd/stat/stat.h"

/* --per-core and the like, -A; the last one counts. */
bool stat_set_level(const struct option *row, void *field, const char *value, bool negated, struct err *e) {
    static const struct {
        const char *name;
        enum count_level level;
    } LEVELS[] = {{"no-aggr", COUNT_CPU},         {"no-merge", COUNT_CPU},     {"per-core", COUNT_CORE},
                  {"per-cluster", COUNT_CLUSTER}, {"per-cache", COUNT_CACHE},  {"per-die", COUNT_DIE},
                  {"per-socket", COUNT_SOCKET},   {"per-node", COUNT_NODE},    {"per-thread", COUNT_THREAD},
                  {"per-comm", COUNT_COMM},       {"per-cgroup", COUNT_CGROUP}};
    struct stat_cli *c = field;
    c->level_given = !negated;
    for (size_t i = 0; i < sizeof LEVELS / sizeof *LEVELS; i++)
        if (strcmp(LEVELS[i].name, row->name) == 0)
            c->o.level = negated ? COUNT_ALL : LEVELS[i].level;
    if (c->o.level != COUNT_CACHE || negated || !value)
        return true;
    char *end;
    c->o.cache_level = *value == 'l' || *value == 'L' ? (unsigned)strtoul(value + 1, &end, 10) : 0;
    return (c->o.cache_level && !*end) ||
           err_set(e, ERR_USAGE, NULL, "bad cache level '%s': use L2 or L3, for example", value);
}

static bool set_delay(const struct option *row, void *field, const char *value, bool negated, struct err *e) {
    int64_t *ms = field;
    char *end = NULL;
    (void)row;
    *ms = negated ? 0 : strtoll(value, &end, 10);
    return negated || (end != value && !*end && *ms >= -1 && *ms <= INT32_MAX) ||
           err_set(e, ERR_USAGE, NULL, "bad delay '%s': use milliseconds, or -1", value);
}

static bool set_repeat(const struct option *row, void *field, const char *value, bool negated,
                       struct err *e) {
    int64_t *runs = field;
    char *end = NULL;
    (void)row;
    *runs = negated ? 1 : strtoll(value, &end, 10);
    return negated || (end != value && !*end && *runs >= 0 && *runs <= 1000000) ||
           err_set(e, ERR_USAGE, NULL, "bad number of runs '%s': use 0 (for ever) or more", value);
}

static bool set_metrics(const struct option *row, void *field, const char *value, bool negated,
                        struct err *e) {
    struct stat_cli *c = field;
    (void)row, (void)e;
    c->metrics = negated ? NULL : value;
    return true;
}

static bool set_metric_only(const struct option *row, void *field, const char *value, bool negated,
                            struct err *e) {
    struct stat_cli *c = field;
    (void)row, (void)value, (void)e;
    c->metric_only = !negated;
    c->metric_only_given = true;
    return true;
}

/* What is not done here, and what to do instead. */
static bool refuse(const struct option *row, void *field, const char *value, bool negated, struct err *e) {
    static const struct {
        const char *name, *why;
    } WHY[] = {
        {"bpf-prog",
         "the kernel tells of a BPF program's start and end by fentry and fexit programs, which sonde does "
         "not load: use bpftool prog profile id ID"},
        {"bpf-attr-map", "measurements do not share counters with each other: leave it out"},
        {"iostat", "it needs Intel's uncore IIO PMUs by their root ports; count their events with -e"},
        {"smi-cost", "count msr/smi/ and msr/aperf/ with -e"},
        {"record-tpebs", "latencies are not sampled while counting"},
        {"tpebs-mode", "latencies are not sampled while counting"},
    };
    (void)field, (void)value;
    for (size_t i = 0; !negated && i < sizeof WHY / sizeof *WHY; i++)
        if (strcmp(WHY[i].name, row->name) == 0)
            return err_set(e, ERR_UNSUPPORTED, "", "--%s: %s", row->name, WHY[i].why);
    return true;
}

/* What changes nothing here. */
static bool ignore(const struct option *row, void *field, const char *value, bool negated, struct err *e) {
    (void)row, (void)field, (void)value, (void)negated, (void)e;
    return true;
}

#define CLI struct stat_cli
#define SELECT(letter, name, arg, help, ...) \
    OPTION_CALL(letter, name, CLI, chosen, arg, help, event_choices_set, __VA_ARGS__)
#define LEVEL STAT_LEVEL
#define REFUSED(letter, name, arg, help, ...) \
    OPTION_CALL(letter, name, CLI, o, arg, help " (refused)", refuse, __VA_ARGS__)
#define NOTHING(letter, name, arg, help, ...) \
    OPTION_CALL(letter, name, CLI, o, arg, help " (changes nothing)", ignore, __VA_ARGS__)

static const struct option options[] = {
    OPTION_BOOL('a', "all-cpus", CLI, o.target.all_cpus, "system-wide collection from all CPUs"),
    LEVEL('A', "no-aggr", "disable aggregation across CPUs or PMUs"),
    REFUSED('b', "bpf-prog", "bpf-prog-id", "stat events on existing bpf program id"),
    OPTION_BOOL('B', "big-num", CLI, big_num, "print large numbers with thousands' separators"),
    OPTION_STRING('C', "cpu", CLI, o.target.cpus, "cpu", "list of cpus to monitor in system-wide"),
    OPTION_CALL('D', "delay", CLI, o.delay_ms, "n",
                "ms to wait before starting measurement after program start (-1: start with events disabled)",
                set_delay),
    OPTION_COUNT('d', "detailed", CLI, detailed, "detailed run - start a lot of events"),
    SELECT('e', "event", "event", "event selector. use 'sonde list' to list available events",
           .words = OPTION_WORDS_EVENTS),
    SELECT('G', "cgroup", "name", "monitor event in cgroup name only"),
    OPTION_U64('I', "interval-print", CLI, o.interval_ms, "n",
               "print counts at regular interval in ms (overhead is possible for values <= 100ms)"),
    OPTION_BOOL('i', "no-inherit", CLI, o.no_inherit, "child tasks do not inherit counters"),
    OPTION_BOOL('j', "json-output", CLI, json, "print counts in JSON format"),
    OPTION_CALL('M', "metrics", CLI, o, "metric/metric group list",
                "monitor specified metrics or metric groups (separated by ,)", set_metrics),
    OPTION_BOOL('n', "null", CLI, null, "null run - dont start any counters"),
    OPTION_STRING('o', "output", CLI, output, "file", "output file name"),
    OPTION_STRING('p', "pid", CLI, o.target.pids, "pid", "stat events on existing process id"),
    OPTION_CALL('r', "repeat", CLI, repeat, "n", "repeat command and print average + stddev (forever: 0)",
                set_repeat),
    OPTION_BOOL('S', "sync", CLI, sync, "call sync() before starting a run"),
    OPTION_STRING('t', "tid", CLI, o.target.tids, "tid", "stat events on existing thread id"),
    OPTION_BOOL('T', "transaction", CLI, transaction, "hardware transaction statistics"),
    OPTION_STRING('u', "uid", CLI, user, "user", "stat events on all processes of a user"),
    OPTION_COUNT('v', "verbose", CLI, verbose, "be more verbose (show counter open errors, etc)"),
    OPTION_STRING('x', "field-separator", CLI, separator, "separator", "print counts with custom separator"),
    NOTHING(0, "affinity", NULL, "enable or disable affinity optimizations to reduce IPIs",
            .flags = OPTION_NO_VALUE),
    OPTION_BOOL(0, "all-kernel", CLI, o.all_kernel, "Configure all used events to run in kernel space."),
    OPTION_BOOL(0, "all-user", CLI, o.all_user, "Configure all used events to run in user space."),
    OPTION_BOOL(0, "append", CLI, append, "append to the output file"),
    REFUSED(0, "bpf-attr-map", "attr-map-path", "path to perf_event_attr map"),
    OPTION_BOOL(0, "bpf-counters", CLI, o.bpf_counters,
                "count control groups with one set of counters a CPU, which a BPF program reads"),
    OPTION_STRING(0, "control", CLI, o.control, "fd:ctl-fd[,ack-fd] or fifo:ctl-fifo[,ack-fifo]",
                  "take commands while counting: enable [event], disable [event], evlist, stop, ping; answer "
                  "ack"),
    OPTION_STRING(
        0, "cputype", CLI, cputype, "hybrid cpu type",
        "Only enable events on applying cpu with this type for hybrid platform (e.g. core or atom)"),
    SELECT(0, "filter", "filter", "event filter"),
    OPTION_STRING(0, "for-each-cgroup", CLI, for_each_cgroup, "name", "expand events for each cgroup"),
    NOTHING(0, "hybrid-merge", NULL, "Merge identical named hybrid events", .flags = OPTION_NO_VALUE),
    OPTION_BOOL(0, "interval-clear", CLI, interval_clear, "clear screen in between new interval"),
    OPTION_U64(0, "interval-count", CLI, o.interval_count, "n", "print counts for fixed number of times"),
    REFUSED(0, "iostat", "default", "measure I/O performance metrics", .flags = OPTION_VALUE_OPTIONAL),
    OPTION_INT(0, "log-fd", CLI, log_fd, "n", "log output to fd, instead of stderr"),
    OPTION_STRING(0, "metric-folder", CLI, metric_folder, "folder",
                  "read metrics from its .json files, in the form that Intel or Arm publish"),
    OPTION_BOOL(0, "metric-no-group", CLI, no_group, "don't group metric events, impacts multiplexing"),
    NOTHING(0, "metric-no-merge", NULL, "don't try to share events between metrics in a group",
            .flags = OPTION_NO_VALUE),
    NOTHING(0, "metric-no-threshold", NULL, "disable adding events for the metric threshold calculation",
            .flags = OPTION_NO_VALUE),
    OPTION_CALL(0, "metric-only", CLI, o, NULL, "Only print computed metrics. No raw values", set_metric_only,
                .flags = OPTION_NO_VALUE),
    OPTION_BOOL(0, "no-csv-summary", CLI, no_csv_summary, "don't print 'summary' for CSV summary output"),
    LEVEL(0, "no-merge", "disable aggregation the same as -A or -no-aggr"),
    OPTION_CALL(0, "per-cache", CLI, o, "cache level", "aggregate count at this cache level (Default: LLC)",
                stat_set_level, .flags = OPTION_VALUE_OPTIONAL),
    OPTION_BOOL(0, "passes", CLI, passes,
                "repeat the command until no event has had to share a counter, with some of them each time"),
    LEVEL(0, "per-cgroup", "aggregate counts per control group (of -G or --for-each-cgroup)"),
    LEVEL(0, "per-cluster", "aggregate counts per processor cluster"),
    LEVEL(0, "per-comm", "aggregate counts per name of threads"),
    LEVEL(0, "per-core", "aggregate counts per physical processor core"),
    LEVEL(0, "per-die", "aggregate counts per processor die"),
    LEVEL(0, "per-node", "aggregate counts per numa node"),
    LEVEL(0, "per-socket", "aggregate counts per processor socket"),
    LEVEL(0, "per-thread", "aggregate counts per thread"),
    OPTION_BOOL(0, "percore-show-thread", CLI, o.percore_threads,
                "with -A, show what percore events counted in a core for each of its CPUs"),
    SELECT(0, "pfm-events", "event", "libpfm4 event selector. use 'sonde list' to list available events"),
    OPTION_STRING(0, "pmu-filter", CLI, pmu_filter, "pmu",
                  "Only enable events on this one of several PMUs of one kind"),
    OPTION_STRING(0, "post", CLI, post, "command", "command to run after to the measured command"),
    OPTION_STRING(0, "pre", CLI, pre, "command", "command to run prior to the measured command"),
    OPTION_BOOL(0, "quiet", CLI, quiet, "don't print any output, messages or warnings"),
    REFUSED(0, "record-tpebs", NULL, "enable recording for tpebs when retire_latency required",
            .flags = OPTION_NO_VALUE),
    OPTION_BOOL(0, "scale", CLI, scale, "Use --no-scale to disable counter scaling for multiplexing"),
    REFUSED(0, "smi-cost", NULL, "measure SMI cost", .flags = OPTION_NO_VALUE),
    OPTION_BOOL(0, "summary", CLI, summary, "print summary for interval mode"),
    OPTION_BOOL(0, "table", CLI, table, "display details about each run (only with -r option)"),
    OPTION_U64(0, "td-level", CLI, td_level, "n",
               "Set the metrics level for the top-down statistics (0: max level)"),
    OPTION_U64(0, "timeout", CLI, o.timeout_ms, "n",
               "stop workload and print counts after a timeout period in ms (>= 10ms)"),
    OPTION_BOOL(0, "topdown", CLI, topdown, "measure top-down statistics"),
    REFUSED(0, "tpebs-mode", "tpebs-mode", "Mode of TPEBS recording: mean, min or max"),
    STAT_VS_OPTIONS(CLI, vs),
    OPTION_END,
};

static bool check(const struct stat_cli *c, struct err *err) {
    const struct count_options *o = &c->o;
    if (o->timeout_ms && o->timeout_ms < 10)
        return err_set(err, ERR_USAGE, NULL, "timeout must be >= 10ms.");
    if (o->interval_count && !o->interval_ms)
        return err_set(err, ERR_USAGE, NULL,
                       "interval-count option should be used together with "
                       "interval-print.");
    if (o->timeout_ms && o->interval_ms)
        return err_set(err, ERR_USAGE, NULL, "timeout option is not supported with interval-print.");
    if (c->output && c->log_fd >= 0)
        return err_set(err, ERR_USAGE, NULL, "cannot use both --output and --log-fd");
    if (c->json && c->separator)
        return err_set(err, ERR_USAGE, NULL, "cannot use both --json-output and --field-separator");
    if (c->metric_only && o->level >= COUNT_THREAD && o->level <= COUNT_COMM)
        return err_set(err, ERR_USAGE, NULL, "--metric-only is not supported with --per-thread");
    if (c->passes && (!o->command || o->interval_ms || !c->repeat))
        return err_set(err, ERR_USAGE, NULL, "--passes repeats a command: give one, without -I and -r 0");
    if (c->repeat != 1 && !o->command)
        return err_set(err, ERR_USAGE, NULL, "-r repeats a command: give one");
    if (o->command && o->interval_ms && (o->level == COUNT_THREAD || o->level == COUNT_COMM) &&
        !o->target.pids && !o->target.tids && !o->target.uid && !o->target.all_cpus)
        return err_set(err, ERR_USAGE, NULL,
                       "threads of a command tell what they counted when they end: not in intervals");
    if (c->record && (c->repeat != 1 || c->passes || c->vs.others.count || o->level == COUNT_COMM ||
                      (o->level == COUNT_THREAD && o->command && !o->target.pids && !o->target.tids)))
        return err_set(err, ERR_USAGE, NULL,
                       "stat record writes down one run, by its counters: without -r, --passes, "
                       "--vs and threads of a command");
    if (o->bpf_counters && (c->record || c->vs.others.count))
        return err_set(err, ERR_USAGE, NULL, "--bpf-counters is not supported with stat record and --vs");
    if (c->table && c->repeat < 2)
        return err_set(err, ERR_USAGE, NULL, "--table is only supported with -r");
    for (size_t i = 0; i < c->chosen.count && c->for_each_cgroup; i++)
        if (c->chosen.items[i].what == EVENT_CHOICE_CGROUPS)
            return err_set(err, ERR_USAGE, NULL, "cannot use both --cgroup and --for-each-cgroup");
    return stat_vs_check(c, err);
}

/* What follows from several options together. */
static void settle(struct stat_cli *c) {
    struct perf_target_options *t = &c->o.target;
    bool named = t->pids || t->tids || t->uid || t->cpus;
    c->o.no_scale = !c->scale;
    c->o.for_machines = c->json || c->separator;
    c->o.no_merge = c->o.level == COUNT_CPU;
    if ((c->o.level == COUNT_THREAD || c->o.level == COUNT_COMM) &&
        (t->all_cpus || (!named && !c->o.command)))
        t->all_threads = true;
    else if (!named && !c->o.command)
        t->all_cpus = true;
    if (c->topdown && !c->metric_only_given)
        c->metric_only = true;
}

static bool any_cgroup(const struct stat_events *s) {
    bool any = false;
    for (size_t i = 0; i < s->events.items.count; i++)
        any |= s->events.items.items[i].cgroup && *s->events.items.items[i].cgroup;
    return any;
}

static int count(struct command_env *env, struct stat_cli *c) {
    struct stat_events events = {0};
    struct err err = ERR_INIT;
    char uid[16];
    int status;
    command_log(env, c->verbose, c->quiet);
    bool ok = check(c, &err) && event_options_user(c->user, uid, &c->o.target.uid, &err);
    settle(c);
    ok = ok && stat_events_make(&events, c, &err);
    if (ok && c->o.bpf_counters && !any_cgroup(&events))
        log_line(LOG_WARN, "--bpf-counters: only events of control groups (--for-each-cgroup, -G) share "
                           "counters: counting as without it");
    if (ok)
        status = c->vs.others.count ? stat_vs_run(env, c, &events) : stat_run(env, c, &events);
    else if (err.code == ERR_USAGE && !*err.where)
        status = command_usage(env, "%s", err.message);
    else
        status = err.code == ERR_NONE ? EXIT_USAGE : command_fail(&err);
    stat_events_fini(&events);
    return status;
}

/* `record` and `report` stand where the command would; further options may follow. */
static int run_verb(struct command_env *env, struct stat_cli *c, int argc, char **argv) {
    const char *text = c->output;
    int status;
    if (argc && strcmp(argv[0], "report") == 0)
        return stat_report(env, c, argc, argv);
    if (argc && strcmp(argv[0], "record") == 0) {
        c->output = NULL; /* the next -o means the file */
        if (!command_options(env, c, OPTION_STOP_AT_OPERAND, &argc, &argv, &status))
            return status;
        c->record = c->output ? c->output : "perf.data";
        c->output = text;
    }
    c->o.command = argc ? argv : NULL;
    return count(env, c);
}

static int run(struct command_env *env, int argc, char **argv) {
    struct stat_cli c = {.repeat = 1,
                         .log_fd = -1,
                         .td_level = 1,
                         .scale = true,
                         .big_num = perfconfig_bool(env->config, "stat.big-num", true),
                         .no_csv_summary = perfconfig_bool(env->config, "stat.no-csv-summary", false)};
    int status;
    /* The command line as it was, for a file's header: parsing permutes it. */
    char **line = calloc((size_t)argc + 2, sizeof *line);
    if (!line)
        return command_fail(&(struct err){.code = ERR_MEMORY, .message = "out of memory"});
    line[0] = argv[0]; /* our path takes this place */
    memcpy(line + 1, argv, (size_t)argc * sizeof *line);
    c.argv = line;
    if (command_options(env, &c, OPTION_STOP_AT_OPERAND, &argc, &argv, &status))
        status = run_verb(env, &c, argc, argv);
    vec_fini(&c.chosen);
    option_list_fini(&c.vs.others);
    free(line);
    return status;
}

const struct command cmd_stat = {
    .name = "stat",
    .summary = "Run a command and gather performance counter statistics",
    .usage =
        (const char *const[]){"stat [<options>] [<command>]", "stat [<options>] -- <command> [<options>]",
                              "stat [<options>] record [-o <file>] [<options>] [<command>]",
                              "stat report [<options>]",
                              "stat [<options>] --vs <other command> -- <command> [<options>]", NULL},
    .options = options,
    .run = run,
};
