/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/log.h"
#include "base/plural.h"
#include "cmd/common/command.h"
#include "cmd/common/event_options.h"
#include "cmd/waits/waits_stacks.h"
#include "events/target.h"
#include "os/poller.h"
#include "view/waits/waits_text.h"
#include "waits/clocks.h"
#include "waits/explain.h"
#include "waits/read.h"
#include "waits/read_bpf.h"

struct waits_options {
    const char *pids, *tids, *user, *comm;
    bool all, threads, stacks, json, no_bpf;
    int verbose;
};

#define OWN struct waits_options
static const struct option options[] = {
    OPTION_STRING('p', "pid", OWN, pids, "pid", "threads of these processes"),
    OPTION_STRING('t', "tid", OWN, tids, "tid", "these threads"),
    OPTION_STRING('u', "uid", OWN, user, "user", "threads of this user"),
    OPTION_STRING(0, "comm", OWN, comm, "name", "threads of this name, or of programs of this name"),
    OPTION_BOOL('a', "all-cpus", OWN, all, "all threads: the default"),
    OPTION_BOOL(0, "threads", OWN, threads, "every thread on a line of its own"),
    OPTION_BOOL('g', "call-graph", OWN, stacks,
                "stacks, too: threads at different places are different groups"),
    OPTION_BOOL(0, "json", OWN, json, "as one line of JSON"),
    OPTION_BOOL(0, "no-bpf", OWN, no_bpf, "by /proc alone"),
    OPTION_COUNT('v', "verbose", OWN, verbose, "all chains, and what could not be read"),
    OPTION_END,
};

/* What a run holds; all is given back by finish. */
struct run {
    const struct waits_options *o;
    struct waits w;
    struct waits_bpf bpf;
    struct waits_ends ends;
    struct waits_chains chains;
    struct waits_groups groups;
    waits_clocks clocks;
    os_numbers pids, tids;
    struct waits_choice choice;
};

static void finish(struct run *r) {
    waits_chains_fini(&r->chains);
    waits_groups_fini(&r->groups);
    waits_ends_fini(&r->ends);
    waits_bpf_close(&r->bpf);
    waits_fini(&r->w);
    vec_fini(&r->clocks);
    vec_fini(&r->pids);
    vec_fini(&r->tids);
}

/* ---- who ---- */

static bool take_id(void *ctx, uint32_t n) {
    int32_t *slot = n && n <= INT32_MAX ? vec_push((os_numbers *)ctx) : NULL;
    if (slot)
        *slot = (int32_t)n;
    return slot != NULL;
}

static bool take_ids(const char *option, const char *text, os_numbers *ids, struct err *err) {
    return !text || perf_target_list(text, take_id, ids) ||
           err_set(err, ERR_USAGE, option, "%s: \"%s\" is no list of numbers", option, text);
}

static bool choose(struct run *r, struct err *err) {
    char room[16];
    const char *uid = NULL;
    if (!take_ids("-p", r->o->pids, &r->pids, err) || !take_ids("-t", r->o->tids, &r->tids, err) ||
        !event_options_user(r->o->user, room, &uid, err))
        return false;
    r->choice = (struct waits_choice){.leave_out = getpid(),
                                      .pids = r->pids.items,
                                      .pid_count = r->pids.count,
                                      .tids = r->tids.items,
                                      .tid_count = r->tids.count,
                                      .comm = r->o->comm,
                                      .by_user = uid != NULL,
                                      .uid = uid ? (uint32_t)strtoul(uid, NULL, 10) : 0};
    return true;
}

/* Ids that nobody has are a mistake, as in perf. */
static bool check_ids(const struct run *r, struct err *err) {
    for (size_t i = 0; i < r->pids.count; i++)
        if (!waits_process(&r->w, r->pids.items[i]))
            return err_set(err, ERR_ABSENT, "-p", "there is no process %d", (int)r->pids.items[i]);
    for (size_t i = 0; i < r->tids.count; i++)
        if (waits_find(&r->w, r->tids.items[i]) == WAITS_NOBODY)
            return err_set(err, ERR_ABSENT, "-t", "there is no thread %d", (int)r->tids.items[i]);
    return true;
}

/* ---- what ---- */

static bool take_clocks(struct run *r, struct waits_read_options *o, struct err *err) {
    struct os_affinity home;
    os_affinity_init(&home);
    struct os_mover mover = os_affinity_mover(&home);
    long cpus = sysconf(_SC_NPROCESSORS_CONF);
    o->clock_at_ns = os_clock_ns();
    o->now_ns = os_clock_ns;
    if (!waits_clocks_read(&os_proc_system, &mover, cpus > 0 ? (unsigned)cpus : 0, o->clock_at_ns,
                           &r->clocks))
        return err_memory(err, "clocks");
    o->clock_ns = r->clocks.items;
    o->cpus = r->clocks.count;
    return true;
}

/* By BPF where that is allowed: it is as right, and sees more (who runs, other users' threads). */
static bool take_threads(struct run *r, struct err *err) {
    struct waits_read_options o = {.stacks = r->o->stacks};
    struct err why = ERR_INIT;
    bool bpf = !r->o->no_bpf && waits_bpf_open(&r->bpf, &os_bpf_system, o.stacks, &why);
    if (!take_clocks(r, &o, err))
        return false;
    if (bpf && waits_read_bpf(&r->bpf, &r->w, &os_proc_system, &o, &why)) {
        r->ends.find = waits_bpf_find_holders;
        r->ends.find_ctx = &r->bpf;
        return true;
    }
    if (!r->o->no_bpf)
        log_line(LOG_INFO, "by /proc: %s", why.message);
    waits_fini(&r->w);
    waits_init(&r->w);
    return waits_read_proc(&r->w, &os_proc_system, &o, err);
}

static bool take(struct run *r, const struct command_env *env, struct err *err) {
    return take_threads(r, err) && check_ids(r, err) &&
           waits_explain(&r->w, &os_proc_system, &r->ends, err) &&
           (!r->o->stacks || waits_stacks_add(&r->w, &os_proc_system, &r->choice, env, err)) &&
           ((waits_chains_find(&r->chains, &r->w) &&
             waits_groups_find(&r->groups, &r->w, &r->choice, r->o->stacks)) ||
            err_memory(err, "waits"));
}

/* Each sort of thing once, with what would show it. A root without all capabilities meets a few such threads
 * in every container, and can do nothing about it. */
static void say_hidden(const struct waits *w) {
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

static size_t width(void) {
    struct winsize size = {0};
    return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static int show(struct command_env *env, const struct run *r) {
    const struct waits_view view = {.w = &r->w,
                                    .chains = &r->chains,
                                    .groups = &r->groups,
                                    .choice = &r->choice,
                                    .threads = r->o->threads,
                                    .stacks = r->o->stacks,
                                    .all_chains = r->o->verbose > 0,
                                    .width = width()};
    struct out out;
    if (!command_output(env, &out))
        return EXIT_ERROR;
    if (r->o->json)
        waits_json_write(&view, &out);
    else
        waits_text_write(&view, &out);
    return command_finish(env, &out, EXIT_OK);
}

static int run(struct command_env *env, int argc, char **argv) {
    struct waits_options o = {0};
    struct run r = {.o = &o};
    struct err err = ERR_INIT;
    int status;
    if (!command_options(env, &o, 0, &argc, &argv, &status))
        return status;
    if (argc)
        return command_usage(env, "unexpected argument `%s'", argv[0]);
    command_log(env, o.verbose, false);
    waits_init(&r.w);
    if (choose(&r, &err) && take(&r, env, &err)) {
        say_hidden(&r.w);
        status = show(env, &r);
    } else {
        status = command_fail(&err);
    }
    finish(&r);
    return status;
}

const struct command cmd_waits = {
    .name = "waits",
    .summary = "Show what every thread waits for now",
    .usage = (const char *const[]){"waits [<options>]", NULL},
    .options = options,
    .run = run,
};
