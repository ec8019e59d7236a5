/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "cmd/ftrace/ftrace.h"
#include "events/target.h"
#include "os/poller.h"
#include "os/run/child.h"

enum { TICK_MS = 20, CPUS_MAX = 4096, MASK_ROOM = CPUS_MAX / 4 + CPUS_MAX / 32 + 2 };
/* By then what other CPUs wrote before can be read. */
static const uint64_t LATE_NS = 10000000;

struct run {
    struct ftrace_cli *cli;
    const struct ftrace_face *face;
    struct ftrace_setup setup;
    struct os_signals signals;
    struct os_child child;
    int poller, status, signal;
    bool stop, on;
    uint64_t start_ns;
    char mask[MASK_ROOM];
    char *pids; /* owned: separated by blanks */
};

/* --- whom --- */

static bool mark_cpu(void *ctx, uint32_t cpu) {
    uint32_t *words = ctx;
    if (cpu >= CPUS_MAX)
        return false;
    words[cpu / 32] |= 1u << cpu % 32;
    return true;
}

/* "0,2-3" as tracing_cpumask takes it: hexadecimal, 32 bits each, the highest first. */
static bool make_mask(struct run *r, struct err *err) {
    uint32_t words[CPUS_MAX / 32] = {0};
    size_t top = CPUS_MAX / 32, n = 0;
    if (!r->cli->cpus)
        return true;
    if (!perf_target_list(r->cli->cpus, mark_cpu, words))
        return err_set(err, ERR_USAGE, "-C", "\"%s\": use a list of CPUs, such as 0,2-3", r->cli->cpus);
    while (top > 1 && !words[top - 1])
        top--;
    while (top-- > 0)
        n += (size_t)snprintf(r->mask + n, sizeof r->mask - n, n ? ",%08x" : "%x", words[top]);
    r->cli->o.cpus = r->mask;
    return true;
}

static bool check_pids(const struct run *r, const char *option, struct err *err) {
    for (char *p = r->pids, *end; *p; p = end + strspn(end, " ")) {
        long pid = strtol(p, &end, 10);
        if (end == p || (*end && *end != ' ') || pid <= 0 || pid > INT32_MAX)
            return err_set(err, ERR_USAGE, option, "use numbers, separated by commas");
        if (!r->setup.fs->is_alive(r->setup.fs->ctx, (pid_t)pid))
            return err_set(err, ERR_ABSENT, option, "there is no process %ld", pid);
    }
    return true;
}

/* All threads of the processes: the kernel's filter is one of threads. */
static bool add_threads(struct out *o, pid_t pid) {
    struct arena a = ARENA_INIT;
    struct sysfs_names names;
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    bool ok = sysfs_system.list(&sysfs_system, path, &a, &names, NULL);
    for (size_t i = 0; ok && i < names.count; i++)
        out_printf(o, " %s", names.items[i]);
    arena_fini(&a);
    return ok;
}

static bool find_pids(struct run *r, struct err *err) {
    const struct ftrace_cli *c = r->cli;
    const char *text = c->pids ? c->pids : c->tids;
    struct out o;
    if (c->pids && c->tids)
        return err_set(err, ERR_USAGE, "--tid", "it cannot be used with --pid");
    bool by_tracefs = !r->face->begin;
    if (!text && (c->all_cpus || !r->child.pid))
        return by_tracefs || r->face->begin(r->face->ctx, NULL, err);
    if (!out_init(&o, NULL, NULL))
        return err_memory(err, "processes");
    if (!text) {
        out_printf(&o, "%d", (int)r->child.pid);
    } else {
        out_str(&o, text);
        for (char *p = (char *)out_text(&o); *p; p++)
            *p = *p == ',' ? ' ' : *p;
    }
    r->pids = strdup(out_text(&o));
    bool ok = (r->pids || err_memory(err, "processes")) && check_pids(r, c->tids ? "--tid" : "-p", err);
    for (char *p = r->pids, *end; ok && by_tracefs && c->pids && *p; p = end + strspn(end, " "))
        add_threads(&o, (pid_t)strtol(p, &end, 10));
    ok = ok && (!o.failed || err_memory(err, "processes")) &&
         (by_tracefs ? ftrace_setup_pids(&r->setup, out_text(&o), err)
                     : r->face->begin(r->face->ctx, out_text(&o), err));
    out_fini(&o);
    return ok;
}

static bool any_alive(const struct run *r) {
    for (char *p = r->pids, *end; *p; p = end + strspn(end, " "))
        if (r->setup.fs->is_alive(r->setup.fs->ctx, (pid_t)strtol(p, &end, 10)))
            return true;
    return false;
}

/* --- the loop --- */

static void take_signals(struct run *r) {
    for (int sig; (sig = os_signals_next(&r->signals, NULL)) != 0;) {
        if (sig == SIGCHLD) {
            if (r->child.pid && os_child_ended(&r->child, &r->status))
                r->stop = true;
        } else if (sig != SIGPIPE) { /* that one is seen when it is written */
            r->signal = sig;
            r->stop = true;
        }
    }
}

static bool switch_tracing(struct run *r, bool on, struct err *err) {
    return r->face->begin || ftrace_setup_switch(&r->setup, on, err);
}

static bool loop(struct run *r, struct err *err) {
    const uint64_t delay_ns = r->cli->delay_ms * 1000000;
    while (!r->stop) {
        struct os_poll_event events[4];
        if (os_poller_wait(r->poller, events, 4, TICK_MS))
            take_signals(r);
        uint64_t now = os_clock_ns();
        if (!r->on && now - r->start_ns >= delay_ns && !(r->on = switch_tracing(r, true, err)))
            return false;
        if (!r->face->take(r->face->ctx, now - LATE_NS, &r->stop, err))
            return false;
        if (!r->cli->command && r->pids && !any_alive(r))
            r->stop = true;
    }
    return true;
}

static bool start(struct run *r, struct err *err) {
    static const int SIGNALS[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, 0};
    struct ftrace_cli *c = r->cli;
    bool by_tracefs = !r->face->begin;
    if (!make_mask(r, err) || !os_signals_open(&r->signals, SIGNALS, err) ||
        (r->poller = os_poller_open(err)) < 0 || !os_poller_add(r->poller, r->signals.fd, 0, err))
        return false;
    if (by_tracefs && !ftrace_setup_init(&r->setup, &os_tracefs_system, getpid(), err))
        return false;
    if (c->command && !os_child_start(&r->child, c->command, &r->signals, OS_CHILD_OURS, err))
        return false;
    if (by_tracefs && !ftrace_setup_apply(&r->setup, &c->o, err))
        return false;
    bool ok = by_tracefs ? find_pids(r, err) && r->face->open(r->face->ctx, &r->setup, err)
                         : r->face->open(r->face->ctx, NULL, err) && find_pids(r, err);
    if (!ok)
        return false;
    r->start_ns = os_clock_ns();
    if (!c->delay_ms && !(r->on = switch_tracing(r, true, err)))
        return false;
    return !c->command || os_child_go(&r->child, c->command[0], err);
}

int ftrace_measure(struct ftrace_cli *c, const struct ftrace_face *face, struct err *err) {
    struct run r = {
        .cli = c, .face = face, .poller = -1, .signals = {.fd = -1}, .setup.fs = &os_tracefs_system};
    struct err back = ERR_INIT;
    bool stop = false, ok = start(&r, err) && loop(&r, err);
    if (r.child.pid)
        r.status = os_child_stop(&r.child);
    ok = ok && switch_tracing(&r, false, err) && face->take(face->ctx, UINT64_MAX, &stop, err);
    face->close(face->ctx);
    if (!ftrace_setup_restore(&r.setup, &back)) {
        log_line(LOG_WARN, "%s: %s", back.where, back.message);
        if (ok)
            *err = back;
        ok = false;
    }
    os_close(r.poller);
    os_signals_close(&r.signals);
    free(r.pids);
    return !ok ? -1 : r.signal && !c->command ? 0 : r.signal ? 128 + r.signal : r.status;
}
