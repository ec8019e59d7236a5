/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/waits/waits_run.h"

#include <signal.h>
#include <unistd.h>

#include "base/log.h"
#include "base/text/plural.h"
#include "cmd/waits/waits_stacks.h"
#include "os/poller.h"
#include "waits/explain.h"

/* Between two snapshots, and no less than one takes: half a CPU at most. */
static const uint64_t PAUSE_NS = 20000000;

void waits_run_open(struct waits_run *r) {
    struct err why = ERR_INIT;
    waits_init(&r->w);
    if (r->o->no_bpf)
        return;
    r->by_bpf = waits_bpf_open(&r->bpf, &os_bpf_system, r->o->stacks, &why);
    if (!r->by_bpf)
        log_line(LOG_INFO, "by /proc: %s", why.message);
}

void waits_run_close(struct waits_run *r) {
    waits_bpf_close(&r->bpf);
    waits_fini(&r->w);
    vec_fini(&r->pids);
    vec_fini(&r->tids);
}

/* Ids that nobody has are a mistake, as in perf; later they may have ended. */
static bool check_ids(const struct waits_run *r, struct err *err) {
    for (size_t i = 0; i < r->pids.count; i++)
        if (!waits_process(&r->w, r->pids.items[i]))
            return err_set(err, ERR_ABSENT, "-p", "there is no process %d", (int)r->pids.items[i]);
    for (size_t i = 0; i < r->tids.count; i++)
        if (waits_find(&r->w, r->tids.items[i]) == WAITS_NOBODY)
            return err_set(err, ERR_ABSENT, "-t", "there is no thread %d", (int)r->tids.items[i]);
    return true;
}

static bool take_clocks(waits_clocks *clocks, struct waits_read_options *o, struct err *err) {
    struct os_affinity home;
    os_affinity_init(&home);
    struct os_mover mover = os_affinity_mover(&home);
    long cpus = sysconf(_SC_NPROCESSORS_CONF);
    o->clock_at_ns = os_clock_ns();
    o->now_ns = os_clock_ns;
    if (!waits_clocks_read(&os_proc_system, &mover, cpus > 0 ? (unsigned)cpus : 0, o->clock_at_ns, clocks))
        return err_memory(err, "clocks");
    o->clock_ns = clocks->items;
    o->cpus = clocks->count;
    return true;
}

/* By BPF where that is allowed: it is as right, and sees more (who runs, other users' threads). */
static bool take_threads(struct waits_run *r, struct waits_ends *ends, struct err *err) {
    struct waits_read_options o = {.stacks = r->o->stacks};
    struct err why = ERR_INIT;
    waits_clocks clocks = {0};
    waits_fini(&r->w);
    waits_init(&r->w);
    bool ok = r->duration_ns || take_clocks(&clocks, &o, err); /* over a time nobody asks how long */
    if (ok && r->by_bpf && waits_read_bpf(&r->bpf, &r->w, &os_proc_system, &o, &why)) {
        ends->find = waits_bpf_find_holders;
        ends->find_ctx = &r->bpf;
    } else if (ok) {
        if (r->by_bpf)
            log_line(LOG_INFO, "by /proc: %s", why.message);
        waits_fini(&r->w);
        waits_init(&r->w);
        ok = waits_read_proc(&r->w, &os_proc_system, &o, err);
    }
    vec_fini(&clocks);
    return ok;
}

static bool look(struct waits_run *r, const struct command_env *env, bool check, struct err *err) {
    struct waits_ends ends = {0};
    bool ok = take_threads(r, &ends, err) && (!check || check_ids(r, err)) &&
              waits_explain(&r->w, &os_proc_system, &ends, err) &&
              (!r->o->stacks || waits_stacks_add(&r->w, &os_proc_system, &r->choice, env, err));
    waits_ends_fini(&ends);
    return ok;
}

bool waits_run_look(struct waits_run *r, const struct command_env *env, struct err *err) {
    return look(r, env, true, err);
}

/* Until that time, or a signal comes. */
static void pause_until(struct waits_run *r, int poller, const struct os_signals *signals,
                        uint64_t until_ns) {
    enum { NS_PER_MS = 1000000 };
    struct os_poll_event event;
    for (uint64_t now = os_clock_ns(); now < until_ns && !r->signal; now = os_clock_ns()) {
        os_poller_wait(poller, &event, 1, (int)((until_ns - now) / NS_PER_MS) + 1);
        r->signal = os_signals_next(signals, NULL);
    }
}

static bool look_often(struct waits_run *r, const struct command_env *env, struct waits_over_time *t,
                       int poller, const struct os_signals *signals, struct err *err) {
    uint64_t begin = os_clock_ns(), end = begin + r->duration_ns, last = begin, turn = begin;
    while (!r->signal) {
        if (!look(r, env, turn == begin, err))
            return false;
        uint64_t now = os_clock_ns();
        if (!waits_over_time_add(t, &r->w, &r->choice, r->o->verbose > 0, now - last))
            return err_memory(err, "waits");
        if (turn == begin)
            waits_run_say_hidden(r);
        last = now;
        if (now >= end)
            break;
        uint64_t pause = now - turn > PAUSE_NS ? now - turn : PAUSE_NS;
        turn = now + pause < end ? now + pause : end;
        pause_until(r, poller, signals, turn);
    }
    return true;
}

bool waits_run_over_time(struct waits_run *r, const struct command_env *env, struct waits_over_time *t,
                         struct err *err) {
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP, 0};
    struct os_signals signals;
    int poller = os_poller_open(err);
    if (poller < 0)
        return false;
    if (!os_signals_open(&signals, ending, err)) {
        os_close(poller);
        return false;
    }
    bool ok = os_poller_add(poller, signals.fd, 0, err) && look_often(r, env, t, poller, &signals, err);
    os_signals_close(&signals);
    os_close(poller);
    return ok;
}

/* Each sort of thing once, with what would show it. A root without all capabilities meets a few such threads
 * in every container, and can do nothing about it. */
void waits_run_say_hidden(const struct waits_run *r) {
    const struct waits *w = &r->w;
    const enum log_level level = geteuid() ? LOG_WARN : LOG_INFO;
    const char *remedy = geteuid() ? "run as root, or with CAP_SYS_PTRACE" : "they have more rights than we";
    if (w->hidden_calls)
        log_line(level, "the system calls of %u thread%s may not be seen, only their states: %s",
                 w->hidden_calls, plural(w->hidden_calls), remedy);
    else if (w->hidden_memory)
        log_line(level, "the memory of %u waiting thread%s may not be read, nor owners of their locks: %s",
                 w->hidden_memory, plural(w->hidden_memory), remedy);
    if (w->hidden_files && !w->hidden_calls)
        log_line(level,
                 "the descriptors of %u process%s may not be seen, so other ends of pipes and sockets may be "
                 "missing: %s",
                 w->hidden_files, w->hidden_files == 1 ? "" : "es", remedy);
    if (w->hidden_stacks)
        log_line(level,
                 "the kernel's stacks of %u thread%s may not be seen: run as root, or with CAP_SYS_ADMIN",
                 w->hidden_stacks, plural(w->hidden_stacks));
}
