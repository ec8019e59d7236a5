/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <time.h>

#include "cmd/sched/replay_run.h"
#include "cmd/sched/sched.h"
#include "view/sched/sched_text.h"

struct replay_options {
    struct sched_common common;
    int repeat;
};

#define OWN struct replay_options
static const struct option options[] = {
    OPTION_INT('r', "repeat", OWN, repeat, "n", "repeat the workload replay N times (0: infinite)"),
    SCHED_COMMON_OPTIONS(OWN, common),
    OPTION_END,
};

static const char *const usage[] = {"sched replay [<options>]", NULL};

enum { TEST_NS = 1000000, TRIES = 10, HOURS_MAX = 24 };

/* A time that is damaged could take years. */
static bool check_length(const struct states *s, const char *path, struct err *err) {
    uint64_t hours = (s->now_ns - s->begin_ns) / UINT64_C(3600000000000);
    return hours < HOURS_MAX ||
           err_set(err, ERR_UNSUPPORTED, path, "it lasts %" PRIu64 " hours: not done again", hours);
}

static void rest_ns(uint64_t ns) {
    nanosleep(&(struct timespec){.tv_nsec = (long)ns}, NULL);
}

/* How long it takes at least to run or to sleep for `ns`. */
static uint64_t measure(void (*what)(uint64_t ns), uint64_t ns) {
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        uint64_t begin = replay_now_ns();
        what(ns);
        uint64_t took = replay_now_ns() - begin;
        least = took < least ? took : least;
    }
    return least;
}

static void put_head(struct out *o, const struct replay *r, const struct states *s) {
    out_printf(o, "run measurement overhead: %" PRIu64 " nsecs\n", measure(replay_burn, 0));
    out_printf(o, "sleep measurement overhead: %" PRIu64 " nsecs\n", measure(rest_ns, 0));
    out_printf(o, "the run test took %" PRIu64 " nsecs\n", measure(replay_burn, TEST_NS));
    out_printf(o, "the sleep test took %" PRIu64 " nsecs\n", measure(rest_ns, TEST_NS));
    out_printf(o, "nr_run_events:        %" PRIu64 "\nnr_sleep_events:      %" PRIu64 "\n", r->runs,
               r->sleeps + r->waits);
    out_printf(o, "nr_wakeup_events:     %" PRIu64 "\n", r->wakes);
    for (uint32_t i = 0, n = 0; i < r->threads.count; i++) {
        char comm[64];
        if (!r->threads.items[i].steps.count)
            continue;
        sched_name(s, i, comm, sizeof comm);
        out_printf(o, "task %6" PRIu32 " (%20s:%10" PRIu32 "), nr_events: %zu\n", n++, comm,
                   states_thread(s, i)->tid, r->threads.items[i].steps.count);
    }
    out_str(o, "------------------------------------------------------------\n");
}

/* Numbers are ms, as in perf: of this round, and on average of those so far. */
static bool run_rounds(struct out *o, const struct replay *r, int repeat, struct err *err) {
    uint64_t wall_ns = 0, cpu_ns = 0;
    for (uint64_t n = 1; (!repeat || n <= (uint64_t)repeat) && !o->failed; n++) {
        struct replay_round round;
        out_flush(o);
        if (!replay_round_run(r, &round, err))
            return false;
        wall_ns += round.wall_ns;
        cpu_ns += round.cpu_ns;
        out_printf(o, "#%-3" PRIu64 ": %0.3f, ravg: %0.2f, cpu: %0.2f / %0.2f\n", n,
                   (double)round.wall_ns / 1e6, (double)wall_ns / (double)n / 1e6, (double)round.cpu_ns / 1e6,
                   (double)cpu_ns / (double)n / 1e6);
    }
    return true;
}

static int show(struct command_env *env, const struct replay_options *o) {
    struct event_view view = sched_view(env, &o->common);
    struct replay replay = {.runs = 0};
    struct states states;
    struct err err = ERR_INIT;
    states_init(&states, replay_interval, &replay);
    states.tap = replay_event;
    bool ok = event_view_open(&view, &err) && sched_read(&view, &states, &err);
    /* Idle threads only do what the others leave. */
    for (uint32_t i = 0; ok && i < replay.threads.count; i++)
        if (!states_thread(&states, i)->tid)
            vec_clear(&replay.threads.items[i].steps);
    ok = ok && check_length(&states, stream_path(view.recording.stream), &err);
    if (ok)
        put_head(&view.out, &replay, &states);
    ok = ok && run_rounds(&view.out, &replay, o->repeat, &err);
    int status = event_view_close(&view, ok, &err);
    replay_fini(&replay);
    states_fini(&states);
    return status;
}

int sched_replay(struct command_env *env, const struct sched_common *common, int argc, char **argv) {
    struct replay_options o = {.common = *common, .repeat = 10};
    int status;
    if (!command_verb_options(env, options, usage, &o, &argc, &argv, &status))
        return status;
    if (argc)
        return command_usage(env, "unexpected argument `%s'", argv[0]);
    if (o.repeat < 0)
        return command_usage(env, "--repeat: a number from 0 on");
    command_log(env, o.common.verbose, false);
    return show(env, &o);
}
