/* SPDX-License-Identifier: Apache-2.0 */
#include "count/session.h"

#include <signal.h>
#include <stdio.h>

#include "base/log.h"
#include "count/open/by_bpf.h"
#include "count/open/passes.h"
#include "count/open/tasks.h"
#include "count/sum.h"
#include "events/cgroups.h"
#include "events/control.h"
#include "os/channel.h"
#include "os/poller.h"
#include "os/run/child.h"

enum { MAX_EVENTS = 8, ALIVE_MS = 100 };
static const uint64_t LATE_NS = 1000000000; /* by then what other CPUs wrote before has been taken, too */
static const uint64_t TAG_SIGNALS = 0, TAG_CONTROL = 1, TAG_TASKS = 2 /* and the ring's index */;

/* All of a measurement; what counts borrow lives as long as the result. */
struct count_run {
    const struct count_job *job;
    struct perf_target target;
    struct count_plan plan;
    struct count_counters counters;
    struct count_keys keys;
    struct count_tasks tasks; /* of a plan by task */
    struct count_by_bpf by_bpf;
    struct os_child child;
    struct os_signals signals;
    struct os_channel channel;
    struct perf_control control;
    int poller;
    bool enabled, had_child, child_ended, stop;
    int status, signal;
    uint64_t start_ns, end_ns; /* when events were turned on; when they had been read last */
    uint64_t launch_ns;        /* when all began, for -I and --timeout */
    uint64_t intervals;
    double cpu_begin[2], cpu_before[2]; /* user and system time at the start, and at the last interval */
    double before_ns;                   /* end of the last interval, since the start */
};

/* --- times --- */

static void cpu_now(struct count_run *r, double out[2]) {
    if (r->target.exec && r->child_ended) {
        out[0] = (double)r->child.user_ns;
        out[1] = (double)r->child.system_ns;
    } else {
        count_tool_cpu_time(r->job->sys, &r->target, &out[0], &out[1]);
    }
}

static bool wants_cpu_time(const struct count_run *r) {
    for (size_t i = 0; i < r->plan.events.count; i++)
        if (r->plan.events.items[i].tool == COUNT_TOOL_USER_TIME ||
            r->plan.events.items[i].tool == COUNT_TOOL_SYSTEM_TIME)
            return true;
    return false;
}

/* --- start --- */

static bool start_child(struct count_run *r, struct err *err) {
    static const int SIGNALS[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, 0};
    const struct count_options *o = r->job->options;
    if (!os_signals_open(&r->signals, SIGNALS, err))
        return false;
    r->had_child = o->command != NULL;
    return !o->command || os_child_start(&r->child, o->command, &r->signals, o->streams, err);
}

/* Tasks are counted wherever they run by one counter, unless it is to be told where. */
static bool find_target(struct count_run *r, struct err *err) {
    const struct count_options *o = r->job->options;
    struct perf_target_options t = o->target;
    if (t.all_threads)
        t.all_cpus = false;
    if (t.pids || t.tids || t.uid)
        t.cpus = NULL;
    bool tasks = t.pids || t.tids || t.uid || t.all_threads || (o->command && !t.all_cpus && !t.cpus);
    bool by_task = o->command && (o->level == COUNT_THREAD || o->level == COUNT_COMM) && !t.pids && !t.tids &&
                   !t.uid && !t.all_threads;
    t.per_thread = tasks && !by_task && (o->level == COUNT_ALL || o->level >= COUNT_THREAD);
    return perf_target_init(&r->target, &t, r->job->sys, r->child.pid, err);
}

static bool open_poller(struct count_run *r, struct err *err) {
    const char *control = r->job->options->control;
    if ((r->poller = os_poller_open(err)) < 0 || !os_poller_add(r->poller, r->signals.fd, TAG_SIGNALS, err))
        return false;
    return !control || (os_channel_open(&r->channel, control, err) &&
                        os_poller_add(r->poller, r->channel.in, TAG_CONTROL, err));
}

static bool wants_cgroups(const struct count_run *r) {
    bool any = r->plan.cgroups.count != 0;
    for (size_t i = 0; i < r->plan.shown.count; i++)
        any |= r->plan.shown.items[i].cgroup != NULL;
    return any && r->job->proc;
}

/* What the job says of single events; those of other passes are left alone. */
static void mark_events(struct count_run *r) {
    const struct count_job *job = r->job;
    for (size_t i = 0; i < r->plan.events.count; i++) {
        struct count_plan_event *e = &r->plan.events.items[i];
        e->optional = job->optional && job->optional[i];
        e->skipped = job->pass_of && job->pass_of[i] != COUNT_EVERY_PASS && job->pass_of[i] != job->pass;
    }
}

static bool open_counters(struct count_run *r, struct err *err) {
    const struct count_job *job = r->job;
    char room[512];
    mark_events(r);
    if (r->plan.by_task)
        return count_tasks_open(&r->tasks, &r->counters, job->perf, &r->plan, &r->target, err);
    bool mounted = wants_cgroups(r) && perf_cgroups_mount(job->proc, room, sizeof room);
    if (!count_counters_open(&r->counters, job->perf, &r->plan, &r->target, mounted ? room : NULL, err))
        return false;
    const struct count_by_bpf_from from = {job->bpf, job->proc, mounted ? room : NULL};
    return count_by_bpf_open(&r->by_bpf, &from, &r->counters, &r->plan, &r->target, err);
}

static bool poll_rings(struct count_run *r, struct err *err) {
    for (size_t i = 0; i < r->tasks.rings.count; i++)
        if (!os_poller_add(r->poller, r->tasks.rings.items[i].fd, TAG_TASKS + i, err))
            return false;
    return true;
}

static void note(const struct count_run *r, const char *text) {
    if (r->job->note)
        r->job->note(r->job->ctx, text);
}

static void enable(struct count_run *r, bool on) {
    if (on && !r->enabled)
        r->start_ns = os_clock_ns();
    r->enabled |= on;
    if (r->plan.by_task)
        count_tasks_enable(&r->tasks, on);
    else
        count_counters_enable(&r->counters, &r->plan, on);
}

static struct count_opened opened(const struct count_run *r) {
    return (struct count_opened){&r->plan, &r->counters, &r->target};
}

static bool start(struct count_run *r, struct err *err) {
    const struct count_job *job = r->job;
    const struct count_options *o = job->options;
    if (!start_child(r, err) || !find_target(r, err) ||
        !count_plan_init(&r->plan, job->events, o, &r->target, err) ||
        !count_keys_init(&r->keys, o, &r->target, &r->plan, job->sys, err))
        return false;
    r->plan.quiet |= job->again;
    if (!open_counters(r, err) || !open_poller(r, err) || !poll_rings(r, err))
        return false;
    const struct count_opened told = opened(r);
    if (job->opened && !job->opened(job->ctx, &told, err))
        return false;
    if (!r->target.exec && wants_cpu_time(r))
        cpu_now(r, r->cpu_begin);
    memcpy(r->cpu_before, r->cpu_begin, sizeof r->cpu_before);
    r->launch_ns = os_clock_ns();
    if (o->delay_ms)
        note(r, "Events disabled");
    else if (r->target.exec)
        r->enabled = true; /* with the command's exec */
    else
        enable(r, true);
    r->start_ns = os_clock_ns();
    return !r->had_child || os_child_go(&r->child, o->command[0], err);
}

/* --- sums --- */

static bool sum(struct count_run *r, bool deltas, struct counts *out) {
    double cpu[2] = {0};
    if (wants_cpu_time(r) || (r->target.exec && r->child_ended))
        cpu_now(r, cpu);
    const double *from = deltas ? r->cpu_before : r->cpu_begin;
    double end = (double)(r->end_ns - r->start_ns), begin = deltas ? r->before_ns : 0;
    struct count_tool_times tool = {.elapsed_ns = end - begin,
                                    .user_ns = cpu[0] > from[0] ? cpu[0] - from[0] : 0,
                                    .system_ns = cpu[1] > from[1] ? cpu[1] - from[1] : 0,
                                    .target_cpu = r->target.system_wide,
                                    .sys = r->job->sys};
    const struct count_source s = {.counters = &r->counters,
                                   .plan = &r->plan,
                                   .keys = &r->keys,
                                   .tool = &tool,
                                   .deltas = deltas,
                                   .shared_cpus = r->target.system_wide ? 0 : r->target.cpus.count,
                                   .no_scale = r->job->options->no_scale};
    if (r->plan.by_task ? !count_tasks_sum(&r->tasks, &r->counters, &r->plan, r->keys.level, out)
                        : !count_sum(&s, out))
        return false;
    out->time_ns = deltas ? (double)(r->end_ns - r->launch_ns) : end;
    out->elapsed_ns = tool.elapsed_ns;
    out->user_ns = tool.user_ns;
    out->system_ns = tool.system_ns;
    out->cpus = r->target.system_wide;
    if (deltas)
        memcpy(r->cpu_before, cpu, sizeof cpu);
    return true;
}

/* Reads the counters, for the last time or not. */
static bool read_counters(struct count_run *r, bool last, struct err *err) {
    const struct count_opened o = opened(r);
    count_counters_read(&r->counters, &r->plan);
    if (!count_by_bpf_read(&r->by_bpf, &r->counters, &r->plan, &r->target, err))
        return false;
    return !r->job->read || r->job->read(r->job->ctx, &o, r->end_ns - r->launch_ns, last, err);
}

static bool tell_interval(struct count_run *r, bool last, struct err *err) {
    struct counts deltas;
    r->end_ns = os_clock_ns();
    if (!read_counters(r, last, err))
        return false;
    if (!sum(r, true, &deltas))
        return err_memory(err, "counts");
    r->before_ns = (double)(r->end_ns - r->start_ns);
    r->intervals++;
    if (r->job->interval)
        r->job->interval(r->job->ctx, &deltas);
    counts_fini(&deltas);
    return true;
}

/* --- the loop --- */

static void list_events(const struct count_run *r, const char *how) {
    VEC(struct perf_control_event) events = {0};
    struct writer w = writer_make(false);
    for (size_t i = 0; i < r->plan.events.count; i++) {
        const struct count_plan_event *p = &r->plan.events.items[i];
        struct perf_control_event *e = vec_push(&events);
        if (e)
            *e = (struct perf_control_event){p->name, &p->attr, p->together ? 1 : p->members};
    }
    if (!perf_control_list(events.items, events.count, how, &w))
        log_line(LOG_WARN, "--control: evlist takes -v, -g or -F, not %s", how);
    writer_u8(&w, 0);
    for (char *line = writer_ok(&w) ? (char *)w.data : NULL; line && *line;) {
        size_t n = strcspn(line, "\n");
        log_line(LOG_WARN, "%.*s", (int)n, line);
        line += n + 1;
    }
    writer_fini(&w);
    vec_fini(&events);
}

static void obey(struct count_run *r, enum perf_command command) {
    const char *name = r->control.name;
    bool on = command == PERF_COMMAND_ENABLE;
    switch (command) {
    case PERF_COMMAND_ENABLE:
    case PERF_COMMAND_DISABLE:
        if (!*name)
            enable(r, on);
        else if (!count_counters_enable_named(&r->counters, &r->plan, name, on))
            log_line(LOG_WARN, "--control: there is no event %s", name);
        note(r, on ? "Events enabled" : "Events disabled");
        break;
    case PERF_COMMAND_STOP:
        r->stop = true;
        break;
    case PERF_COMMAND_LIST:
        list_events(r, name);
        break;
    case PERF_COMMAND_PING:
    case PERF_COMMAND_NONE:
        break;
    case PERF_COMMAND_SNAPSHOT:
    case PERF_COMMAND_UNKNOWN:
        log_line(LOG_WARN, "--control: not a command: %s", r->control.line);
    }
    os_channel_write(&r->channel, "ack\n");
}

static void take_commands(struct count_run *r) {
    char text[512];
    ssize_t n = os_channel_read(&r->channel, text, sizeof text);
    if (n < 0)
        os_poller_remove(r->poller, r->channel.in);
    for (size_t at = 0, taken; n > 0 && at < (size_t)n; at += taken) {
        enum perf_command command = perf_control_take(&r->control, text + at, (size_t)n - at, &taken);
        if (command != PERF_COMMAND_NONE)
            obey(r, command);
    }
}

static void take_tasks(struct count_run *r, const struct os_poll_event *e) {
    count_tasks_take(&r->tasks, os_clock_ns() - LATE_NS);
    if (e->hung_up)
        os_poller_remove(r->poller, r->tasks.rings.items[e->tag - TAG_TASKS].fd);
}

static void take_signals(struct count_run *r) {
    pid_t from;
    for (int sig; (sig = os_signals_next(&r->signals, &from)) != 0;) {
        if (sig == SIGCHLD) {
            if (os_child_ended(&r->child, &r->status))
                r->child_ended = r->stop = true;
        } else {
            r->signal = sig;
            r->stop = true;
        }
    }
}

/* Whether one of the threads that were named is still there. */
static bool alive(const struct count_run *r) {
    struct arena a = ARENA_INIT;
    bool any = false;
    for (size_t i = 0; i < r->target.threads.count && !any; i++) {
        char path[64];
        struct sysfs_names names;
        snprintf(path, sizeof path, "/proc/%d/task", (int)r->target.threads.items[i].tid);
        any = r->job->sys->list(r->job->sys, path, &a, &names, NULL);
    }
    arena_fini(&a);
    return any;
}

static int ms_until(uint64_t due_ns) {
    uint64_t now = os_clock_ns();
    uint64_t ms = due_ns > now ? (due_ns - now + 999999) / 1000000 : 0;
    return ms < INT32_MAX ? (int)ms : INT32_MAX;
}

static int sooner(int a, int b) {
    return a < 0 || (b >= 0 && b < a) ? b : a;
}

static uint64_t after(const struct count_run *r, uint64_t ms) {
    return r->launch_ns + ms * 1000000;
}

/* Until the next thing that is due; -1: nothing is. */
static int timeout(const struct count_run *r) {
    const struct count_options *o = r->job->options;
    int ms = -1;
    if (o->delay_ms > 0 && !r->enabled)
        ms = sooner(ms, ms_until(after(r, (uint64_t)o->delay_ms)));
    if (o->interval_ms)
        ms = sooner(ms, ms_until(after(r, (r->intervals + 1) * o->interval_ms)));
    if (o->timeout_ms)
        ms = sooner(ms, ms_until(after(r, o->timeout_ms)));
    if (!r->had_child && !r->target.system_wide && !o->target.all_threads)
        ms = sooner(ms, ALIVE_MS);
    return ms;
}

static bool due(const struct count_run *r, uint64_t ms) {
    return os_clock_ns() >= after(r, ms);
}

static bool do_what_is_due(struct count_run *r, struct err *err) {
    const struct count_options *o = r->job->options;
    if (o->delay_ms > 0 && !r->enabled && due(r, (uint64_t)o->delay_ms)) {
        enable(r, true);
        note(r, "Events enabled");
    }
    if (o->timeout_ms && due(r, o->timeout_ms))
        r->stop = true;
    if (!r->had_child && !r->target.system_wide && !o->target.all_threads && !alive(r))
        r->stop = true;
    if (!o->interval_ms || r->stop || !due(r, (r->intervals + 1) * o->interval_ms))
        return true;
    if (!tell_interval(r, o->interval_count && r->intervals + 1 >= o->interval_count, err))
        return false;
    if (o->interval_count && r->intervals >= o->interval_count)
        r->stop = true;
    return true;
}

static bool loop(struct count_run *r, struct err *err) {
    while (!r->stop) {
        struct os_poll_event events[MAX_EVENTS];
        size_t n = os_poller_wait(r->poller, events, MAX_EVENTS, timeout(r));
        for (size_t i = 0; i < n; i++) {
            if (events[i].tag == TAG_SIGNALS)
                take_signals(r);
            else if (events[i].tag == TAG_CONTROL)
                take_commands(r);
            else
                take_tasks(r, &events[i]);
        }
        if (!do_what_is_due(r, err))
            return false;
    }
    return true;
}

static bool finish(struct count_run *r, struct count_result *result, struct err *err) {
    const struct count_options *o = r->job->options;
    bool interval = o->interval_ms && (!o->interval_count || r->intervals < o->interval_count);
    r->end_ns = os_clock_ns();
    if (r->child.pid) {
        int status = os_child_stop(&r->child);
        r->status = r->job->options->interval_count ? 0 : status; /* enough was seen, as in perf */
    }
    r->child_ended = r->had_child;
    if (interval && !tell_interval(r, true, err))
        return false;
    if (!o->interval_ms && !read_counters(r, true, err))
        return false;
    count_tasks_take(&r->tasks, UINT64_MAX);
    if (count_tasks_silent(&r->tasks))
        return err_set(
            err, ERR_UNSUPPORTED, "--per-thread",
            "this kernel does not tell what the threads of a command counted: use sonde record, and sonde "
            "report -s comm or -s tid");
    if (r->tasks.lost)
        log_line(LOG_WARN, "%llu records of threads were lost: what they counted is the first thread's here",
                 (unsigned long long)r->tasks.lost);
    if (!sum(r, false, &result->counts))
        return err_memory(err, "counts");
    result->status = r->status;
    result->signal = r->signal;
    return true;
}

static void close_run(struct count_run *r) {
    os_child_stop(&r->child);
    if (r->job->options->control)
        os_channel_close(&r->channel);
    os_close(r->poller);
    os_signals_close(&r->signals);
    if (r->tasks.perf)
        count_tasks_fini(&r->tasks);
    count_by_bpf_fini(&r->by_bpf);
    count_counters_fini(&r->counters);
    count_keys_fini(&r->keys);
    perf_target_fini(&r->target);
}

bool count_run(const struct count_job *job, struct count_result *result, struct err *err) {
    struct count_run *r = calloc(1, sizeof *r);
    *result = (struct count_result){.kept = r};
    if (!r)
        return err_memory(err, "counts");
    *r = (struct count_run){.job = job, .poller = -1, .signals = {.fd = -1}, .channel = {-1, -1, false}};
    bool ok = start(r, err) && loop(r, err) && finish(r, result, err);
    close_run(r);
    if (!ok)
        count_result_fini(result);
    return ok;
}

void count_result_fini(struct count_result *result) {
    counts_fini(&result->counts);
    if (result->kept)
        count_plan_fini(&result->kept->plan);
    free(result->kept);
    *result = (struct count_result){0};
}
