/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/vec.h"
#include "cmd/common/command.h"
#include "cmd/common/map_guard.h"
#include "cmd/common/options/event_options.h"
#include "cmd/common/options/perfconfig.h"
#include "cmd/record/record_args.h"
#include "cmd/record/record_probe.h"
#include "cmd/trace/trace_record.h"
#include "cmd/view/show.h"
#include "os/files/output.h"
#include "os/limits.h"
#include "os/proc/mounts.h"
#include "os/proc/proc.h"
#include "record/session.h"
#include "record/synth/synth.h"

struct record_cli {
    struct record_options o; /* first: rows of options fill it directly */
    event_choices selected;
    struct option_list probes;
    const char *output, *freq, *user;
    bool group, inherit_given, no_inherit, quiet, no_cache, kcore, build_id_all, dry_run, time_boundary,
        plain_callgraph, view;
    int verbose, realtime;
    bool syscall_memory;
    uint64_t map_timeout_ms, off_cpu_min_us, off_cpu_thresh_ms;
};

static bool set_size(const struct option *row, void *field, const char *value, bool negated, struct err *e) {
    (void)row;
    *(uint64_t *)field = 0;
    return negated || record_args_bytes(value, field, e);
}

static bool set_callgraph(const struct option *row, void *field, const char *value, bool negated,
                          struct err *e) {
    struct record_cli *c = field;
    (void)row;
    c->o.callgraph = RECORD_CALLGRAPH_NONE;
    return negated || record_args_callgraph(value, &c->o, e);
}

static bool set_unwind(const struct option *row, void *field, const char *value, bool negated,
                       struct err *e) {
    struct record_cli *c = field;
    (void)row;
    c->o.unwind = !negated && strcmp(value, "record") == 0;
    return negated || c->o.unwind || strcmp(value, "later") == 0 ||
           err_set(e, ERR_USAGE, NULL, "'%s' is neither record nor later", value);
}

/* -g: the way that call-graph.record-mode of the configuration names, else frame pointers. */
static bool set_fp(const struct option *row, void *field, const char *value, bool negated, struct err *e) {
    struct record_cli *c = field;
    (void)row, (void)value, (void)e;
    c->plain_callgraph = !negated;
    if (negated)
        c->o.callgraph = RECORD_CALLGRAPH_NONE;
    return true;
}

static bool set_registers(const struct option *row, void *field, const char *value, bool negated,
                          struct err *e) {
    (void)row;
    *(uint64_t *)field = 0;
    return negated || record_args_registers(value, field, e);
}

static bool set_synth(const struct option *row, void *field, const char *value, bool negated, struct err *e) {
    struct record_cli *c = field;
    (void)row;
    return record_args_synth(negated ? "no" : value, &c->o, e);
}

static bool set_clock(const struct option *row, void *field, const char *value, bool negated, struct err *e) {
    struct record_cli *c = field;
    (void)row;
    c->o.use_clockid = !negated;
    return negated || record_args_clock(value, &c->o.clockid, e);
}

static bool set_delay(const struct option *row, void *field, const char *value, bool negated, struct err *e) {
    struct record_cli *c = field;
    (void)row;
    c->o.delay_ms = 0;
    c->o.range_count = 0;
    return negated || record_args_delay(value, &c->o, e);
}

static bool set_switch(const struct option *row, void *field, const char *value, bool negated,
                       struct err *e) {
    struct record_cli *c = field;
    (void)row;
    c->o.switch_output = c->o.timestamp_names = !negated;
    return negated || record_args_switch(value, &c->o, e);
}

static bool set_keep(const struct option *row, void *field, const char *value, bool negated, struct err *e) {
    struct record_cli *c = field;
    (void)row;
    return record_args_keep(negated ? "none" : value, &c->o.keep, e);
}

static bool set_affinity(const struct option *row, void *field, const char *value, bool negated,
                         struct err *e) {
    struct record_cli *c = field;
    (void)row;
    return record_args_affinity(negated ? "sys" : value, &c->o.affinity, e);
}

static bool set_aio(const struct option *row, void *field, const char *value, bool negated, struct err *e) {
    struct record_cli *c = field;
    char *end = NULL;
    long n = negated ? 0 : strtol(value, &end, 10);
    (void)row;
    if (n < (negated ? 0 : 1) || n > 4 || (end && *end))
        return err_set(e, ERR_USAGE, NULL, "--aio takes 1 to 4 buffers, not '%s'", value);
    c->o.write_buffers = (unsigned)n;
    return true;
}

static bool set_level(const struct option *row, void *field, const char *value, bool negated, struct err *e) {
    (void)row;
    char *end = NULL;
    long n = negated ? 0 : strtol(value, &end, 10);
    if (n < 0 || n > 22 || (end && *end))
        return err_set(e, ERR_USAGE, NULL, "a compression level is a number from 0 to 22, not '%s'", value);
    *(int *)field = (int)n;
    return true;
}

/* Options whose absence means something else than no. */
static bool set_tristate(const struct option *row, void *field, const char *value, bool negated,
                         struct err *e) {
    struct record_cli *c = field;
    (void)value, (void)e;
    if (row->letter == 'T') {
        c->o.time_given = true;
        c->o.sample_time = !negated;
    } else if (row->letter == 'P') {
        c->o.period_given = true;
        c->o.sample_period = !negated;
    } else {
        c->inherit_given = true;
        c->no_inherit = !negated;
    }
    return true;
}

/* What is not done here, and what to do instead. */
static bool refuse(const struct option *row, void *field, const char *value, bool negated, struct err *e) {
    static const struct {
        const char *name, *why;
    } WHY[] = {
        {"snapshot", "AUX areas (Intel PT, CoreSight) are not recorded; for the last moments of samples use "
                     "--overwrite --switch-output"},
        {"aux-sample", "AUX areas (Intel PT, CoreSight) are not recorded; for branches use -b"},
        {"clang-opt", "BPF programs are not compiled here; bpftool loads them"},
        {"clang-path", "BPF programs are not compiled here; bpftool loads them"},
        {"debuginfod",
         "nothing is downloaded while recording; sonde report asks the servers of DEBUGINFOD_URLS"},
        {"setup-filter", "samples are not filtered by BPF; report and script filter what was recorded"},
        {"vmlinux", "no kernel image is needed to record; give it to sonde report -k"},
    };
    (void)field, (void)value;
    for (size_t i = 0; !negated && i < sizeof WHY / sizeof *WHY; i++)
        if (strcmp(WHY[i].name, row->name) == 0)
            return err_set(e, ERR_UNSUPPORTED, "", "--%s: %s", row->name, WHY[i].why);
    return true;
}

#define SELECT(letter, name, arg, help, ...) \
    OPTION_CALL(letter, name, struct record_cli, selected, arg, help, event_choices_set, __VA_ARGS__)
#define WHOLE(letter, name, arg, help, fn, ...) \
    OPTION_CALL(letter, name, struct record_cli, o, arg, help, fn, __VA_ARGS__)

#define REFUSED(letter, name, arg, help, ...) \
    OPTION_CALL(letter, name, struct record_cli, o, arg, help " (refused)", refuse, __VA_ARGS__)

static const struct option options[] = {
    OPTION_BOOL('a', "all-cpus", struct record_cli, o.target.all_cpus,
                "system-wide collection from all CPUs"),
    OPTION_CALL('b', "branch-any", struct record_cli, o.branch_type, NULL, "sample any taken branches",
                record_take_branches, .flags = OPTION_NO_VALUE),
    OPTION_BOOL('B', "no-buildid", struct record_cli, o.no_build_ids, "do not collect buildids in perf.data"),
    OPTION_U64('c', "count", struct record_cli, o.period, "n", "event period to sample"),
    OPTION_STRING('C', "cpu", struct record_cli, o.target.cpus, "cpu", "list of cpus to monitor"),
    OPTION_BOOL('d', "data", struct record_cli, o.addresses, "Record the sample addresses"),
    WHOLE('D', "delay", "ms",
          "ms to wait before starting measurement after program start (-1: start with events disabled), "
          "or ranges of time to enable events e.g. '-D 10-20,30-40'",
          set_delay),
    SELECT('e', "event", "event", "event selector. use 'sonde list' to list available events",
           .words = OPTION_WORDS_EVENTS),
    OPTION_STRING('F', "freq", struct record_cli, freq, "freq or 'max'", "profile at this frequency"),
    WHOLE('g', NULL, NULL, "enables call-graph recording", set_fp, .flags = OPTION_NO_VALUE),
    SELECT('G', "cgroup", "name", "monitor event in cgroup name only"),
    OPTION_CALL('I', "intr-regs", struct record_cli, o.regs_intr, "any register",
                "sample selected machine registers on interrupt, use '-I?' to list register names",
                set_registers, .flags = OPTION_VALUE_OPTIONAL),
    WHOLE('i', "no-inherit", NULL, "child tasks do not inherit counters", set_tristate,
          .flags = OPTION_NO_VALUE),
    OPTION_CALL('j', "branch-filter", struct record_cli, o.branch_type, "branch filter mask",
                "branch stack filter modes", record_take_branches),
    WHOLE('k', "clockid", "clockid", "clockid to use for events, see clock_gettime()", set_clock),
    OPTION_CALL('m', "mmap-pages", struct record_cli, o.pages, "pages[,pages]",
                "number of mmap data pages and AUX area tracing mmap pages", record_take_pages),
    OPTION_BOOL('N', "no-buildid-cache", struct record_cli, no_cache, "do not update the buildid cache"),
    OPTION_BOOL('n', "no-samples", struct record_cli, o.no_samples, "don't sample"),
    OPTION_STRING('o', "output", struct record_cli, output, "file", "output file name"),
    WHOLE('P', "period", NULL, "Record the sample period", set_tristate, .flags = OPTION_NO_VALUE),
    OPTION_STRING('p', "pid", struct record_cli, o.target.pids, "pid",
                  "record events on existing process id"),
    OPTION_BOOL('q', "quiet", struct record_cli, quiet, "don't print any warnings or messages"),
    OPTION_BOOL('R', "raw-samples", struct record_cli, o.raw,
                "collect raw sample records from all opened counters"),
    OPTION_INT('r', "realtime", struct record_cli, realtime, "n",
               "collect data with this RT SCHED_FIFO priority"),
    REFUSED('S', "snapshot", "opts", "AUX area tracing Snapshot Mode", .flags = OPTION_VALUE_OPTIONAL),
    OPTION_BOOL('s', "stat", struct record_cli, o.read_stat, "per thread counts"),
    WHOLE('T', "timestamp", NULL, "Record the sample timestamps", set_tristate, .flags = OPTION_NO_VALUE),
    OPTION_STRING('t', "tid", struct record_cli, o.target.tids, "tid", "record events on existing thread id"),
    OPTION_STRING('u', "uid", struct record_cli, user, "user", "user to profile"),
    OPTION_COUNT('v', "verbose", struct record_cli, verbose,
                 "be more verbose (show counter open errors, etc)"),
    OPTION_BOOL('W', "weight", struct record_cli, o.weight, "sample by weight (on special events only)"),
    OPTION_CALL('z', "compression-level", struct record_cli, o.compression, "n",
                "Compress records using specified level (default: 1 - fastest compression, 22 - greatest "
                "compression)",
                set_level, .flags = OPTION_VALUE_OPTIONAL, .fallback = "1"),
    WHOLE(0, "affinity", "sys|node|cpu",
          "where rings that hold much are read: anywhere, on the node of their CPU, or on that CPU (default: "
          "there, unless it is busy)",
          set_affinity),
    WHOLE(0, "aio", "n", "Write in a thread of its own, with <n> buffers in turn (default: 1, at most 4)",
          set_aio, .flags = OPTION_VALUE_OPTIONAL, .fallback = "1"),
    OPTION_BOOL(0, "all-cgroups", struct record_cli, o.all_cgroups, "Record cgroup events"),
    OPTION_BOOL(0, "all-kernel", struct record_cli, o.all_kernel,
                "Configure all used events to run in kernel space."),
    OPTION_BOOL(0, "all-user", struct record_cli, o.all_user,
                "Configure all used events to run in user space."),
    REFUSED(0, "aux-sample", "opts", "sample AUX area", .flags = OPTION_VALUE_OPTIONAL),
    OPTION_BOOL(0, "buildid-all", struct record_cli, build_id_all,
                "Record build-id of all DSOs regardless of hits (it always does)"),
    OPTION_BOOL(0, "buildid-mmap", struct record_cli, o.build_id_mmap,
                "Record build-id in map events (default)"),
    WHOLE(0, "call-graph", "record_mode[,record_size]",
          "setup and enables call-graph (stack chain/backtrace):\n"
          "record_mode: call graph recording mode (fp|dwarf|lbr)\n"
          "record_size: if record_mode is 'dwarf', max size of stack recording (<bytes>), default: 8192",
          set_callgraph),
    REFUSED(0, "clang-opt", "clang options", "options for compiling BPF scriptlets"),
    REFUSED(0, "clang-path", "clang path", "clang for compiling BPF scriptlets"),
    OPTION_BOOL(0, "code-page-size", struct record_cli, o.code_page_size,
                "Record the sampled code address (ip) page size"),
    OPTION_STRING(0, "control", struct record_cli, o.control,
                  "fd:ctl-fd[,ack-fd] or fifo:ctl-fifo[,ack-fifo]",
                  "take commands while recording: enable [event], disable [event], snapshot, evlist, stop, "
                  "ping; answer ack"),
    OPTION_BOOL(0, "data-mmap", struct record_cli, o.data_mmap,
                "Record mmap events for non-executable mappings"),
    OPTION_BOOL(0, "data-page-size", struct record_cli, o.data_page_size,
                "Record the sampled data address data page size"),
    REFUSED(0, "debuginfod", "debuginfod urls", "fetch debug data", .flags = OPTION_VALUE_OPTIONAL),
    OPTION_BOOL(0, "dry-run", struct record_cli, dry_run,
                "Say what could be recorded, and what would allow more, without recording"),
    SELECT(0, "exclude-perf", NULL, "don't record events from sonde itself", .flags = OPTION_NO_VALUE),
    SELECT(0, "filter", "filter", "event filter"),
    OPTION_BOOL(0, "group", struct record_cli, group, "put the counters into a counter group"),
    OPTION_BOOL(0, "kcore", struct record_cli, kcore,
                "Write a directory, with a copy of the running kernel's code (/proc/kcore)"),
    WHOLE(0, "keep", "none|unwind|full",
          "of files that are deleted or replaced while recording keep nothing, what names functions and "
          "unwinds (default), or all",
          set_keep),
    OPTION_BOOL(0, "kernel-callchains", struct record_cli, o.kernel_callchains, "collect kernel callchains"),
    OPTION_BOOL(0, "latency", struct record_cli, o.latency,
                "Enable data collection for latency profiling (context switches)"),
    OPTION_CALL(0, "max-size", struct record_cli, o.max_bytes, "size",
                "Limit the maximum size of the output file", set_size),
    OPTION_CALL(
        0, "mmap-flush", struct record_cli, o.flush_bytes, "number",
        "least number of bytes that is taken from a ring (with B, K, M or G), at most a quarter of it",
        set_size),
    OPTION_BOOL(0, "namespaces", struct record_cli, o.namespaces, "Record namespaces events"),
    OPTION_BOOL(0, "no-bpf-event", struct record_cli, o.no_bpf_event, "do not record bpf events"),
    OPTION_BOOL(0, "no-buffering", struct record_cli, o.no_buffering, "collect data without buffering"),
    OPTION_U64(0, "num-thread-synthesize", struct record_cli, o.synth_threads, "n",
               "number of threads to run for event synthesis"),
    OPTION_BOOL(0, "off-cpu", struct record_cli, o.off_cpu, "Enable off-cpu analysis"),
    OPTION_U64(0, "off-cpu-min", struct record_cli, off_cpu_min_us, "us",
               "shorter waits are summed by thread, without stacks (default: 20)"),
    OPTION_U64(
        0, "off-cpu-thresh", struct record_cli, off_cpu_thresh_ms, "ms",
        "Dump off-cpu samples if off-cpu time exceeds this threshold (in milliseconds) (default: 500)"),
    OPTION_BOOL(0, "off-cpu-wakers", struct record_cli, o.off_cpu_wakers,
                "with --off-cpu: who woke the threads, too, and who had woken those"),
    OPTION_BOOL(0, "overwrite", struct record_cli, o.overwrite, "use overwrite mode"),
    OPTION_BOOL(0, "per-thread", struct record_cli, o.target.per_thread, "use per-thread mmaps"),
    SELECT(0, "pfm-events", "event", "libpfm4 event selector"),
    OPTION_LIST(
        0, "probe", struct record_cli, probes, "[/FILE ]PLACE [ARG ...]",
        "record where a program passes a place, and arguments there, as sonde probe takes them: FUNC, "
        "FUNC%return, FUNC:LINE, SRC:LINE ...; without a file it is that of -p or -t, else the command's. "
        "Nothing of it stays"),
    OPTION_BOOL(0, "phys-data", struct record_cli, o.phys_addresses, "Record the sample physical addresses"),
    OPTION_U64(
        0, "proc-map-timeout", struct record_cli, map_timeout_ms, "n",
        "per thread proc mmap processing timeout in ms (not needed: mappings are asked for one by one)"),
    OPTION_BOOL(0, "running-time", struct record_cli, o.running_time,
                "Record running/enabled time of read (:S) events"),
    OPTION_BOOL(0, "sample-cpu", struct record_cli, o.sample_cpu, "Record the sample cpu"),
    OPTION_BOOL(0, "sample-identifier", struct record_cli, o.identifier, "Record the sample identifier"),
    OPTION_BOOL(0, "sample-mem-info", struct record_cli, o.mem_info,
                "Record the data source for memory operations"),
    REFUSED(0, "setup-filter", "pin|unpin", "prepare BPF filters for ordinary users"),
    OPTION_BOOL(0, "strict-freq", struct record_cli, o.strict_freq,
                "Fail if the specified frequency can't be used"),
    OPTION_BOOL(0, "switch-events", struct record_cli, o.switch_events, "Record context switch events"),
    OPTION_U64(0, "switch-max-files", struct record_cli, o.switch_files, "n",
               "Limit number of switch output generated files"),
    WHOLE(0, "switch-output", "signal or size[BKMG] or time[smhd]",
          "Switch output when receiving SIGUSR2 (signal) or cross a size or time threshold", set_switch,
          .flags = OPTION_VALUE_OPTIONAL, .fallback = "signal"),
    SELECT(0, "switch-output-event", "event",
           "switch output at every sample of this event, which is not recorded itself (in the syntax of -e)"),
    WHOLE(0, "synth", "no|all|task|mmap|cgroup", "Fine-tune event synthesis: default=all", set_synth),
    OPTION_BOOL(0, "syscall-memory", struct record_cli, syscall_memory,
                "with raw_syscalls: what the arguments of system calls point to, too, for trace"),
    OPTION_BOOL(0, "tail-synthesize", struct record_cli, o.tail_synth,
                "synthesize non-sample events at the end of output"),
    OPTION_STRING(
        0, "threads", struct record_cli, o.threads, "spec",
        "write with several threads, into a directory: one for each cpu (default), core, package, numa "
        "node, or of <cpus>/<where it runs>:...",
        .flags = OPTION_VALUE_OPTIONAL, .fallback = "cpu"),
    OPTION_BOOL(0, "timestamp-boundary", struct record_cli, time_boundary,
                "Record timestamp boundary (it always does)"),
    OPTION_BOOL(0, "timestamp-filename", struct record_cli, o.timestamp_names,
                "append timestamp to output filename"),
    OPTION_BOOL(0, "transaction", struct record_cli, o.transaction,
                "sample transaction flags (special events only)"),
    WHOLE(
        0, "unwind", "record|later",
        "unwind the stacks of --call-graph dwarf while recording, so that the file holds callchains instead "
        "of dumps (record), or when it is read (later, the default)",
        set_unwind),
    OPTION_BOOL(0, "user-callchains", struct record_cli, o.user_callchains, "collect user callchains"),
    OPTION_CALL(0, "user-regs", struct record_cli, o.regs_user, "any register",
                "sample selected machine registers in user space, use '--user-regs=?' to list register names",
                set_registers, .flags = OPTION_VALUE_OPTIONAL),
    REFUSED(0, "vmlinux", "file", "vmlinux pathname"),
    OPTION_BOOL(
        0, "view", struct record_cli, view,
        "Show the recording in a browser afterwards (sonde view), with call graphs unless --call-graph "
        "says which"),
    OPTION_END,
};

/* record.build-id, call-graph.record-mode and call-graph.dump-size (perf-config(1)). */
static bool settle_config(struct record_cli *c, const struct perfconfig *config, struct err *err) {
    const char *ids = perfconfig_text(config, "record.build-id");
    if (ids && strcmp(ids, "skip") == 0)
        c->o.no_build_ids = true;
    return !c->plain_callgraph || record_args_plain_callgraph(config, &c->o, err);
}

/* perf's two closing lines. */
static void tell(const struct command_env *env, const struct record_cli *c, const struct record_result *r,
                 const char *output, bool whole) {
    char samples[40] = "", ratio[80] = "";
    if (c->quiet || !r->started)
        return;
    if (r->samples && whole && !c->o.switch_output)
        snprintf(samples, sizeof samples, " (%llu samples)", (unsigned long long)r->samples);
    if (r->raw_bytes && r->file_bytes)
        snprintf(ratio, sizeof ratio, ", compressed (original %.3f MB, ratio is %.3f)",
                 (double)r->raw_bytes / (1 << 20), (double)r->raw_bytes / (double)r->file_bytes);
    fprintf(stderr, "[ %s record: Woken up %llu times to write data ]\n", env->program,
            (unsigned long long)r->wakeups);
    if (r->filtered)
        fprintf(stderr, "[ %s record: %llu samples did not match the filter ]\n", env->program,
                (unsigned long long)r->filtered);
    fprintf(stderr, "[ %s record: Captured and wrote %.3f MB %s%s%s%s ]\n", env->program,
            (double)r->file_bytes / (1 << 20), output, c->o.timestamp_names ? ".<timestamp>" : "", ratio,
            samples);
}

/* Where the build-id cache is; NULL when nothing is to be kept in it. */
static const char *cache_folder(const struct record_cli *c, const struct command_env *env) {
    const char *ids = perfconfig_text(env->config, "record.build-id");
    bool skip = ids && strcmp(ids, "no-cache") == 0;
    return c->no_cache || skip || c->o.no_build_ids || c->o.switch_output ? NULL : env->buildid_dir;
}

struct teller {
    const struct command_env *env;
    bool quiet;
};

/* One line that is written over and over, from when it is clear that it takes some time. */
static void tell_progress(void *ctx, const struct record_progress *now) {
    enum { FROM_S = 3 };
    const struct teller *t = ctx;
    char lost[40] = "";
    if (now->lost)
        snprintf(lost, sizeof lost, ", %llu lost", (unsigned long long)now->lost);
    if (now->seconds >= FROM_S)
        fprintf(stderr, "\r[ %s record: %llu s, %.1f MB, %llu samples%s ]\033[K", t->env->program,
                (unsigned long long)now->seconds, (double)now->bytes / (1 << 20),
                (unsigned long long)now->samples, lost);
}

/* A terminal, and no command that writes to it too. */
static bool wants_progress(const struct record_cli *c) {
    return !c->quiet && isatty(STDERR_FILENO) && (!c->o.command || !isatty(STDOUT_FILENO));
}

/* A file that is finished while recording goes on, or that got its name from the time. */
static void tell_file(void *ctx, const char *path) {
    const struct teller *t = ctx;
    if (!t->quiet)
        fprintf(stderr, "[ %s record: Dump %s ]\n", t->env->program, path);
}

/* Without it, arguments are addresses. */
static struct trace_recorder *syscall_memory(struct record_cli *c, struct record_job *job) {
    struct err err = ERR_INIT;
    struct trace_recorder *x = trace_recorder_new(&c->o, job, &err);
    if (!x)
        log_line(LOG_WARN, "what arguments of system calls point to is not recorded: %s", err.message);
    return x;
}

static int record(struct command_env *env, struct record_cli *c, char *const *argv) {
    struct err err = ERR_INIT;
    struct perf_events events = PERF_EVENTS_INIT, triggers = PERF_EVENTS_INIT;
    struct record_result result = {0};
    char uid[16];
    /* As perf: record CMD | report. */
    const char *output = c->output ? c->output : os_output_piped() ? "-" : "perf.data";
    struct perf_event_sources *src = perf_event_sources_new(&sysfs_system);
    c->o.to_pipe = strcmp(output, "-") == 0;
    if (c->view && c->o.callgraph == RECORD_CALLGRAPH_NONE)
        c->plain_callgraph = true;
    c->o.off_cpu_min_ns = c->off_cpu_min_us * 1000;
    c->o.off_cpu_direct_ns = c->off_cpu_thresh_ms * 1000000;
    c->o.verbose = c->verbose > 0;
    c->o.kcore = c->kcore ? "/proc/kcore" : NULL;
    if (c->inherit_given)
        c->o.inherit = !c->no_inherit;
    else if (c->o.target.tids)
        c->o.inherit = false;
    const struct record_probe_whose whose = {.tasks = c->o.target.pids ? c->o.target.pids : c->o.target.tids,
                                             .command = c->o.command ? c->o.command[0] : NULL};
    bool ok = src || err_memory(&err, "events");
    if (ok)
        perf_event_sources_filter_samples(src);
    ok = ok && (!c->view || (!c->o.to_pipe && !c->o.switch_output) ||
                err_set(&err, ERR_USAGE, "--view", "it needs one file, not a pipe or --switch-output"));
    ok = ok && record_args_rate(c->freq, &c->o, &sysfs_system, &err) &&
         event_options_user(c->user, uid, &c->o.target.uid, &err) && settle_config(c, env->config, &err) &&
         event_choices_parse(&c->selected, src, &events, &triggers, &err) &&
         record_probe_add(env, &c->probes, &whose, src, &events, &err) &&
         (!c->realtime || os_limits_realtime(c->realtime, &err));
    if (triggers.items.count)
        c->o.switch_output = c->o.timestamp_names = true;
    if (c->group)
        record_args_join(&events);
    if (ok) {
        struct teller teller = {env, c->quiet};
        if (c->o.unwind) /* looks into programs and libraries, which may be built anew meanwhile */
            map_guard_install();
        struct os_mounts *mounts = os_mounts_new(); /* without one nothing is avoided */
        struct os_proc proc = os_proc_wary(mounts);
        struct record_job job = {
            .options = &c->o,
            .sources = src,
            .events = events.items.count ? &events : NULL,
            .switch_events = triggers.items.count ? &triggers : NULL,
            .sys = &sysfs_system,
            .perf = &os_perf_system,
            .bpf = &os_bpf_system,
            .proc = &proc,
            .argv = argv,
            .output = output,
            .dry_run = c->dry_run,
            .cache_folder = cache_folder(c, env),
            .progress = wants_progress(c) ? tell_progress : NULL,
            .progress_ctx = &teller,
            .file_done = tell_file,
            .file_done_ctx = &teller,
            .synth = record_synth,
            .synth_ctx = &proc,
        };
        struct trace_recorder *recorder = c->syscall_memory ? syscall_memory(c, &job) : NULL;
        ok = record_run(&job, &result, &err);
        trace_recorder_free(recorder);
        os_mounts_free(mounts);
        if (wants_progress(c) && result.started)
            fputs("\r\033[K", stderr);
        if (!c->dry_run)
            tell(env, c, &result, output, ok);
    }
    perf_events_fini(&events);
    perf_events_fini(&triggers);
    perf_event_sources_free(src);
    if (!ok && err.code == ERR_NONE)
        return EXIT_USAGE; /* an event's error was marked in its text */
    if (ok && c->view && !c->dry_run)
        show_recording(env, output); /* it says itself what it could not show */
    return ok ? result.status : command_fail(&err);
}

static int run(struct command_env *env, int argc, char **argv) {
    struct record_cli c = {.o = {.inherit = true, .build_id_mmap = true},
                           .off_cpu_min_us = RECORD_DEFAULT_OFF_CPU_MIN_US,
                           .off_cpu_thresh_ms = RECORD_DEFAULT_OFF_CPU_THRESH_MS};
    int status;
    /* The command line as it was, for the header: parsing permutes it. */
    char **line = calloc((size_t)argc + 2, sizeof *line);
    if (!line)
        return command_fail(&(struct err){.code = ERR_MEMORY, .message = "out of memory"});
    line[0] = argv[0];
    memcpy(line + 1, argv, (size_t)argc * sizeof *line);
    if (command_options(env, &c, OPTION_STOP_AT_OPERAND, &argc, &argv, &status)) {
        command_log(env, c.verbose, c.quiet);
        c.o.command = argc ? argv : NULL;
        status = record(env, &c, line);
    }
    vec_fini(&c.selected);
    option_list_fini(&c.probes);
    free(line);
    return status;
}

const struct command cmd_record = {
    .name = "record",
    .summary = "Run a command and record its profile into perf.data",
    .usage = (const char *const[]){"record [<options>] [<command>]",
                                   "record [<options>] -- <command> [<options>]", NULL},
    .options = options,
    .run = run,
};
