/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/trace/trace_options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/common/input.h"
#include "cmd/record/record_args.h"

#define OWN                                  struct trace_options
#define FLAG(letter, name, field, help, ...) OPTION_BOOL(letter, name, OWN, field, help, __VA_ARGS__)
#define TEXT(letter, name, field, arg, help, ...) \
    OPTION_STRING(letter, name, OWN, field, arg, help, __VA_ARGS__)
#define CALL(letter, name, field, arg, help, fn, ...) \
    OPTION_CALL(letter, name, OWN, field, arg, help, fn, __VA_ARGS__)
#define SELECT(letter, name, arg, help, ...) \
    OPTION_CALL(letter, name, OWN, selected, arg, help, event_choices_set, __VA_ARGS__)
#define IGNORED_FLAG(name, why) FLAG(0, name, flag_ignored, "accepted for compatibility and ignored: " why)

static bool take_not(const struct option *row, void *field, const char *value, bool negated, struct err *e) {
    (void)row, (void)value, (void)e;
    *(bool *)field = negated;
    return true;
}

static bool take_ms(const struct option *row, void *field, const char *value, bool negated, struct err *e) {
    char *end = NULL;
    double ms = negated ? 0 : strtod(value, &end);
    (void)row;
    *(double *)field = ms;
    return negated || (end != value && !*end && isfinite(ms) && ms >= 0) ||
           err_set(e, ERR_USAGE, "--duration", "\"%s\": use a number of milliseconds, such as 2.5", value);
}

static bool take_faults(const struct option *row, void *field, const char *value, bool negated,
                        struct err *e) {
    static const struct {
        const char *name;
        int faults;
    } NAMES[] = {{"all", TRACE_MAJOR | TRACE_MINOR}, {"maj", TRACE_MAJOR}, {"min", TRACE_MINOR}};
    (void)row;
    *(int *)field = TRACE_NO_FAULTS;
    for (size_t i = 0; !negated && i < sizeof NAMES / sizeof *NAMES; i++)
        if (strcmp(NAMES[i].name, value) == 0) {
            *(int *)field = NAMES[i].faults;
            return true;
        }
    return negated || err_set(e, ERR_USAGE, "-F", "\"%s\": use all, maj or min", value);
}

const struct option trace_option_rows[] = {
    FLAG('a', "all-cpus", record.target.all_cpus, "system-wide collection from all CPUs"),
    TEXT('C', "cpu", record.target.cpus, "cpu", "list of cpus to monitor"),
    TEXT('D', "delay", delay, "n", "ms to wait before starting measurement after program start"),
    SELECT('e', "event", "event",
           "system calls and events to show: names and globs (epoll_*), separated by commas; all calls but "
           "those after a !"),
    FLAG('f', "force", force, "don't complain, do it"),
    CALL('F', "pf", faults, "all|maj|min", "trace page faults", take_faults, .flags = OPTION_VALUE_ADOPT,
         .fallback = "maj"),
    SELECT('G', "cgroup", "name", "monitor event in cgroup name only"),
    INPUT_OPTION(OWN, input),
    CALL('m', "mmap-pages", record.pages, "pages", "number of mmap data pages", record_take_pages),
    TEXT('o', "output", output, "file", "write to a file, not to standard error"),
    TEXT('p', "pid", record.target.pids, "pid", "trace existing processes"),
    FLAG('s', "summary", summary, "show sums only, by thread and system call"),
    FLAG('S', "with-summary", with_summary, "show all system calls, and sums"),
    TEXT('t', "tid", record.target.tids, "tid", "trace existing threads"),
    FLAG('T', "time", full_time, "show full timestamps, not the time since the first event"),
    TEXT('u', "uid", user, "user", "user to trace"),
    OPTION_COUNT('v', "verbose", OWN, verbose, "be more verbose"),
    IGNORED_FLAG("bitmask-list", "masks of CPUs are not read"),
    FLAG(0, "bpf-summary", bpf_summary, "add up in the kernel, by BPF"),
    TEXT(0, "call-graph", callgraph, "mode[,size]", "record and show callchains: fp, dwarf[,size] or lbr"),
    CALL(0, "comm", no_comm, NULL, "show the thread's name beside its id", take_not,
         .flags = OPTION_NO_VALUE),
    CALL(0, "duration", least_ms, "ms", "show only calls that took longer", take_ms),
    FLAG(0, "errno-summary", errno_summary, "count errors by their numbers, with -s or -S"),
    SELECT(0, "expr", "expr", "as -e"),
    FLAG(0, "failure", failure, "show only system calls that failed"),
    SELECT(0, "filter", "filter", "event filter"),
    TEXT(0, "filter-pids", filter_pids, "pid[,pid...]", "leave these processes out"),
    IGNORED_FLAG("force-btf", "values are shown by tables"),
    FLAG(0, "json", json, "print sums as JSON (implies -s)"),
    FLAG(0, "kernel-syscall-graph", kernel_graph, "show the kernel's part of callchains, too"),
    FLAG(0, "libtraceevent_print", library_print, "show tracepoints by their own print formats"),
    OPTION_U64(0, "max-events", OWN, most_events, "n", "stop after so many lines"),
    OPTION_INT(0, "max-stack", OWN, max_stack, "n", "show at most n functions of a callchain"),
    OPTION_U64(0, "max-summary", OWN, most_rows, "n", "show at most n system calls of a thread or group"),
    OPTION_INT(0, "min-stack", OWN, min_stack, "n", "show only callchains of at least n functions"),
    FLAG(0, "no-inherit", no_inherit, "do not trace children"),
    FLAG(0, "print-sample", print_sample, "show where the samples of a call lie"),
    OPTION_U64(0, "proc-map-timeout", OWN, ignored, "ms",
               "accepted for compatibility and ignored: maps are read without a limit"),
    OPTION_ABSENT_FLAG(0, "sched", "show how long threads ran"),
    FLAG(0, "show-cpu", cpu, "show the CPU"),
    FLAG(0, "show-on-off-events", show_switches, "show the events of --switch-on and --switch-off"),
    IGNORED_FLAG("sort-events", "events are always in the order of time"),
    TEXT(0, "summary-mode", mode, "mode", "sums by thread (default), total or cgroup"),
    TEXT(0, "switch-off", switch_off, "event", "stop considering events after this event"),
    TEXT(0, "switch-on", switch_on, "event", "consider events after this event"),
    CALL(0, "syscalls", no_syscalls, NULL, "trace system calls", take_not, .flags = OPTION_NO_VALUE),
    FLAG(0, "tool_stats", tool_stats, "show how much was read"),
    OPTION_END,
};

void trace_options_init(struct trace_options *o) {
    *o = (struct trace_options){
        .record = {
            .inherit = true, .build_id_mmap = true, .no_build_ids = true, .raw = true, .sample_cpu = true}};
}

void trace_options_fini(struct trace_options *o) {
    vec_fini(&o->selected);
}

static bool settle_mode(struct trace_options *o, struct err *err) {
    static const char *const MODES[] = {"thread", "total", "cgroup"};
    o->table.errnos = o->errno_summary;
    o->table.most = o->most_rows;
    o->table.mode = TRACE_SUMMARY_THREAD;
    for (size_t i = 0; o->mode && i < sizeof MODES / sizeof *MODES; i++)
        if (strcmp(MODES[i], o->mode) == 0) {
            o->table.mode = (enum trace_summary_mode)i;
            return true;
        }
    return !o->mode ||
           err_set(err, ERR_USAGE, "--summary-mode", "\"%s\": use thread, total or cgroup", o->mode);
}

bool trace_options_settle(struct trace_options *o, const struct perfconfig *config, struct err *err) {
    struct record_options *r = &o->record;
    const char *print = perfconfig_text(config, "trace.tracepoint_beautifiers");
    o->library_print |= print && strcmp(print, "libtraceevent") == 0;
    o->no_inherit |= perfconfig_bool(config, "trace.no_inherit", false);
    if (o->max_stack < 0 || o->min_stack < 0)
        return err_set(err, ERR_USAGE, o->max_stack < 0 ? "--max-stack" : "--min-stack",
                       "use a number that is not negative");
    if (!settle_mode(o, err))
        return false;
    o->summary |= o->json || (o->errno_summary && !o->with_summary);
    o->any_summary = o->summary || o->with_summary;
    if (o->mode && !o->any_summary)
        o->any_summary = o->summary = true;
    if (o->input && (o->bpf_summary || o->table.mode == TRACE_SUMMARY_CGROUP))
        return err_set(err, ERR_USAGE, o->bpf_summary ? "--bpf-summary" : "--summary-mode",
                       "adds up in the kernel, while it happens: not for recordings");
    if (!o->callgraph && (o->max_stack || o->min_stack))
        o->callgraph = "dwarf";
    if (o->callgraph && !o->input && !record_args_callgraph(o->callgraph, r, err))
        return false;
    r->inherit = !o->no_inherit && !r->target.tids;
    return (!o->delay || record_args_delay(o->delay, r, err)) &&
           event_options_user(o->user, o->user_number, &r->target.uid, err);
}
