/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd/common/map_guard.h"
#include "cmd/common/options/event_options.h"
#include "cmd/waits/waits_record.h"
#include "cmd/waits/waits_run.h"
#include "events/target.h"
#include "view/waits/waits_text.h"

enum { DURATION_MOST = 1 << 20 };

#define OWN struct waits_options
static const struct option options[] = {
    OPTION_STRING('p', "pid", OWN, pids, "pid", "threads of these processes"),
    OPTION_STRING('t', "tid", OWN, tids, "tid", "these threads"),
    OPTION_STRING('u', "uid", OWN, user, "user", "threads of this user"),
    OPTION_STRING(0, "comm", OWN, comm, "name", "threads of this name, or of programs of this name"),
    OPTION_BOOL('a', "all-cpus", OWN, all, "all threads: the default without a command"),
    OPTION_BOOL(0, "threads", OWN, threads, "every thread on a line of its own"),
    OPTION_BOOL('g', "call-graph", OWN, stacks,
                "stacks, too: threads at different places are different groups"),
    OPTION_STRING('d', "duration", OWN, duration, "seconds",
                  "look again and again for that long, and show what was waited for as a tree"),
    OPTION_STRING('o', "output", OWN, output, "file",
                  "of a command: write a page (.html), a flame graph (.svg) or another format here"),
    OPTION_BOOL(0, "wakers", OWN, wakers, "of a command: who woke the threads, too"),
    OPTION_BOOL(0, "json", OWN, json, "as one line of JSON"),
    OPTION_BOOL(0, "no-bpf", OWN, no_bpf, "by /proc alone"),
    OPTION_COUNT('v', "verbose", OWN, verbose, "all chains, and what could not be read"),
    OPTION_END,
};

/* ---- who ---- */

static bool take_id(void *ctx, uint32_t n) {
    int32_t *slot = n && n <= INT32_MAX ? vec_push((os_numbers *)ctx) : NULL;
    if (slot)
        *slot = (int32_t)n;
    return slot != NULL;
}

static bool take_ids(const char *option, const char *text, os_numbers *ids, struct err *err) {
    return !text || perf_target_list(text, take_id, ids) ||
           err_set(err, ERR_USAGE, option, "\"%s\" is no list of numbers", text);
}

static bool choose(struct waits_run *r, struct err *err) {
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

/* "5" or "0.5". */
static bool take_duration(struct waits_run *r, struct err *err) {
    const char *text = r->o->duration;
    char *end = NULL;
    double seconds = text ? strtod(text, &end) : 0;
    if (text && (end == text || *end || !(seconds > 0 && seconds <= DURATION_MOST)))
        return err_set(err, ERR_USAGE, "-d", "\"%s\" is no number of seconds", text);
    r->duration_ns = (uint64_t)(seconds * 1e9);
    return true;
}

/* ---- what ---- */

static size_t width(void) {
    struct winsize size = {0};
    return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static int show(struct command_env *env, struct waits_run *r) {
    struct waits_chains chains = {0};
    struct waits_groups groups = {0};
    const struct waits_view view = {.w = &r->w,
                                    .chains = &chains,
                                    .groups = &groups,
                                    .choice = &r->choice,
                                    .threads = r->o->threads,
                                    .stacks = r->o->stacks,
                                    .all_chains = r->o->verbose > 0,
                                    .width = width()};
    struct err err = ERR_INIT;
    struct out out;
    int status = EXIT_ERROR;
    if (!waits_chains_find(&chains, &r->w) || !waits_groups_find(&groups, &r->w, &r->choice, r->o->stacks)) {
        err_memory(&err, "waits");
        status = command_fail(&err);
    } else if (command_output(env, &out)) {
        if (r->o->json)
            waits_json_write(&view, &out);
        else
            waits_text_write(&view, &out);
        status = command_finish(env, &out, EXIT_OK);
    }
    waits_chains_fini(&chains);
    waits_groups_fini(&groups);
    return status;
}

static int show_tree(struct command_env *env, const struct waits_over_time *t, const struct waits_run *r) {
    struct err err = ERR_INIT;
    struct out out;
    if (!command_output(env, &out))
        return EXIT_ERROR;
    bool ok = r->o->json ? waits_tree_json_write(t, &out) : waits_tree_write(t, width(), &out);
    int status = command_finish(env, &out, r->signal ? 128 + r->signal : EXIT_OK);
    err_memory(&err, "waits");
    return ok ? status : command_fail(&err);
}

static int now(struct command_env *env, struct waits_run *r) {
    struct err err = ERR_INIT;
    if (!waits_run_look(r, env, &err))
        return command_fail(&err);
    waits_run_say_hidden(r);
    return show(env, r);
}

static int for_a_time(struct command_env *env, struct waits_run *r) {
    struct waits_over_time t = {0};
    struct err err = ERR_INIT;
    int status = waits_run_over_time(r, env, &t, &err) ? show_tree(env, &t, r) : command_fail(&err);
    waits_over_time_fini(&t);
    return status;
}

static int run(struct command_env *env, int argc, char **argv) {
    struct waits_options o = {0};
    struct waits_run r = {.o = &o};
    struct err err = ERR_INIT;
    int status;
    if (!command_options(env, &o, OPTION_STOP_AT_OPERAND, &argc, &argv, &status))
        return status;
    const char *wrong = argc ? (o.duration  ? "-d"
                                : o.threads ? "--threads"
                                : o.no_bpf  ? "--no-bpf"
                                            : NULL)
                             : (o.output   ? "-o"
                                : o.wakers ? "--wakers"
                                           : NULL);
    if (wrong)
        return command_usage(env, "%s goes only %s a command", wrong, argc ? "without" : "with");
    command_log(env, o.verbose, false);
    map_guard_install();
    if (argc)
        return waits_record(env, &o, width(), argc, argv);
    if (!choose(&r, &err) || !take_duration(&r, &err)) {
        status = command_fail(&err);
    } else {
        waits_run_open(&r);
        status = r.duration_ns ? for_a_time(env, &r) : now(env, &r);
    }
    waits_run_close(&r);
    return status;
}

const struct command cmd_waits = {
    .name = "waits",
    .summary = "Show what every thread waits for now, or while a command runs",
    .usage = (const char *const[]){"waits [<options>]", "waits [<options>] [--] <command> [<options>]", NULL},
    .options = options,
    .run = run,
};
