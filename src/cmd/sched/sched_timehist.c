/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/sched/sched.h"
#include "view/sched/timehist_text.h"

struct timehist_options {
    struct sched_common common;
    const char *cpus, *pids, *tids, *times;
    bool summary, with_summary;
    struct timehist_text text;
};

#define OWN struct timehist_options
static const struct option options[] = {
    OPTION_STRING('C', "cpu", OWN, cpus, "cpu", "list of cpus to profile"),
    SCHED_COMMON_OPTIONS(OWN, common),
    OPTION_ABSENT_FLAG('g', "call-graph", "Display call chains if present"),
    OPTION_ABSENT_FLAG('I', "idle-hist", "Show idle events only"),
    OPTION_BOOL('M', "migrations", OWN, text.migrations, "Show migration events"),
    OPTION_BOOL('n', "next", OWN, text.next, "Show next task"),
    OPTION_STRING('p', "pid", OWN, pids, "pid[,pid...]", "analyze events only for given process id(s)"),
    OPTION_ABSENT_FLAG('P', "pre-migrations", "Show pre-migration wait time"),
    OPTION_BOOL('s', "summary", OWN, summary, "Show only a summary by thread"),
    OPTION_BOOL('S', "with-summary", OWN, with_summary, "Show all switches, and a summary by thread"),
    OPTION_STRING('t', "tid", OWN, tids, "tid[,tid...]", "analyze events only for given thread id(s)"),
    OPTION_ABSENT_FLAG('V', "cpu-visual", "Add CPU visual"),
    OPTION_BOOL('w', "wakeups", OWN, text.wakes, "Show wakeup events"),
    OPTION_ABSENT(0, "prio", "prio", "analyze events only for given task priority(ies)"),
    OPTION_ABSENT_FLAG(0, "show-prio", "Show task priority"),
    OPTION_BOOL(0, "state", OWN, text.state, "Show task state when sched-out"),
    OPTION_STRING(0, "time", OWN, times, "str", "Time span for analysis (start,stop)"),
    OPTION_END,
};

static const char *const usage[] = {"sched timehist [<options>]", NULL};

struct lists {
    struct filter_ranges cpus, pids, tids;
    struct time_ranges times;
};

static bool parse_lists(const struct timehist_options *o, struct lists *l, struct err *err) {
    if (o->times && time_ranges_relative(o->times))
        return err_set(err, ERR_USAGE, "--time", "%s: give seconds: start,stop", o->times);
    return (!o->cpus || filter_ranges_parse("--cpu", o->cpus, &l->cpus, err)) &&
           (!o->pids || filter_ranges_parse("--pid", o->pids, &l->pids, err)) &&
           (!o->tids || filter_ranges_parse("--tid", o->tids, &l->tids, err)) &&
           (!o->times || time_ranges_parse(o->times, 0, 0, &l->times, err));
}

static int show(struct command_env *env, struct timehist_options *o, struct timehist *h) {
    struct event_view view = sched_view(env, &o->common);
    struct states states;
    struct err err = ERR_INIT;
    states_init(&states, timehist_interval, h);
    states.tap = timehist_event;
    view.wants_model = o->summary || o->with_summary; /* parents of processes */
    o->text.out = &view.out;
    h->line = o->summary ? NULL : timehist_text_line;
    h->ctx = &o->text;
    bool ok = event_view_open(&view, &err) && sched_read(&view, &states, &err) &&
              (timehist_finish(h, &states) || err_memory(&err, "switches"));
    if (ok && !o->summary)
        timehist_text_head(&o->text);
    if (ok && view.wants_model)
        timehist_text_summary(h, &states, view.model, &view.out);
    if (ok)
        timehist_text_faults(&states, &view.out);
    int status = event_view_close(&view, ok, &err);
    states_fini(&states);
    return status;
}

int sched_timehist(struct command_env *env, const struct sched_common *common, int argc, char **argv) {
    struct timehist_options o = {.common = *common};
    struct lists l = {0};
    struct timehist h = {.choice = {&l.cpus, &l.pids, &l.tids, &l.times}};
    struct err err = ERR_INIT;
    int status;
    if (!command_verb_options(env, options, usage, &o, &argc, &argv, &status))
        return status;
    if (argc)
        return command_usage(env, "unexpected argument `%s'", argv[0]);
    if (o.summary && (o.text.wakes || o.text.migrations || o.text.next || o.text.state))
        return command_usage(env, "-s shows no events: use -S with -w, -M, -n and --state");
    command_log(env, o.common.verbose, false);
    status = parse_lists(&o, &l, &err) ? show(env, &o, &h) : command_fail(&err);
    timehist_fini(&h);
    filter_ranges_fini(&l.cpus);
    filter_ranges_fini(&l.pids);
    filter_ranges_fini(&l.tids);
    time_ranges_fini(&l.times);
    return status;
}
