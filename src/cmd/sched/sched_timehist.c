/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/sched/sched.h"
#include "view/sched/sched_json.h"
#include "view/sched/timehist_text.h"

struct timehist_options {
    struct sched_common common;
    const char *cpus, *pids, *tids, *times, *prios;
    bool summary, with_summary, idle, visual, graph, json;
    int max_stack;
    struct symbol_options symbols;
    struct timehist_text text;
};

enum { VISUAL_CPUS_MAX = 1024 };

#define OWN struct timehist_options
static const struct option options[] = {
    OPTION_STRING('C', "cpu", OWN, cpus, "cpu", "list of cpus to profile"),
    SCHED_COMMON_OPTIONS(OWN, common),
    OPTION_BOOL('g', "call-graph", OWN, graph, "Display call chains if present (default on)"),
    OPTION_BOOL('I', "idle-hist", OWN, idle, "Show idle events only"),
    OPTION_BOOL(0, "json", OWN, json, "show it as JSON"),
    OPTION_BOOL('M', "migrations", OWN, text.migrations, "Show migration events"),
    OPTION_BOOL('n', "next", OWN, text.next, "Show next task"),
    OPTION_STRING('p', "pid", OWN, pids, "pid[,pid...]", "analyze events only for given process id(s)"),
    OPTION_BOOL('P', "pre-migrations", OWN, text.pre_migrations, "Show pre-migration wait time"),
    OPTION_BOOL('s', "summary", OWN, summary, "Show only a summary by thread"),
    OPTION_BOOL('S', "with-summary", OWN, with_summary, "Show all switches, and a summary by thread"),
    OPTION_STRING('t', "tid", OWN, tids, "tid[,tid...]", "analyze events only for given thread id(s)"),
    OPTION_BOOL('V', "cpu-visual", OWN, visual, "Add CPU visual"),
    OPTION_BOOL('w', "wakeups", OWN, text.wakes, "Show wakeup events"),
    OPTION_STRING(0, "prio", OWN, prios, "prio", "analyze events only for given task priority(ies)"),
    OPTION_BOOL(0, "show-prio", OWN, text.prio, "Show task priority"),
    OPTION_BOOL(0, "state", OWN, text.state, "Show task state when sched-out"),
    EVENT_VIEW_SYMBOL_OPTIONS(OWN, symbols, max_stack),
    OPTION_STRING(0, "time", OWN, times, "str", "Time span for analysis (start,stop)"),
    OPTION_END,
};

static const char *const usage[] = {"sched timehist [<options>]", NULL};

struct lists {
    struct filter_ranges cpus, pids, tids, prios;
    struct time_ranges times;
};

static bool parse_lists(const struct timehist_options *o, struct lists *l, struct err *err) {
    if (o->times && time_ranges_relative(o->times))
        return err_set(err, ERR_USAGE, "--time", "%s: give seconds: start,stop", o->times);
    return (!o->cpus || filter_ranges_parse("--cpu", o->cpus, &l->cpus, err)) &&
           (!o->pids || filter_ranges_parse("--pid", o->pids, &l->pids, err)) &&
           (!o->tids || filter_ranges_parse("--tid", o->tids, &l->tids, err)) &&
           (!o->prios || filter_ranges_parse("--prio", o->prios, &l->prios, err)) &&
           (!o->times || time_ranges_parse(o->times, 0, 0, &l->times, err));
}

/* Where the scheduler is entered: in every stack of a switch, and more than --max-stack counts. */
static const char *const SCHEDULER[] = {"__schedule", "schedule", NULL};

/* What the text needs to know of an opened recording. */
static bool prepare(struct timehist_options *o, struct event_view *v, struct stack_text *stacks,
                    struct err *err) {
    *stacks = (struct stack_text){&v->stacks, (unsigned)o->max_stack + 2, SCHEDULER, false};
    o->text.stacks = v->has_stacks && o->max_stack ? stacks : NULL;
    if (!o->visual)
        return true;
    struct arena arena = ARENA_INIT;
    struct perfdata_feature_value value;
    bool has =
        perfdata_feature_get(stream_header(v->recording.stream), PERFDATA_FEATURE_NRCPUS, &arena, &value);
    o->text.cpus = has ? value.nr_cpus.available : 0;
    arena_fini(&arena);
    if (!o->text.cpus || o->text.cpus > VISUAL_CPUS_MAX)
        return err_set(err, ERR_UNSUPPORTED, "--cpu-visual",
                       o->text.cpus ? "there are more than 1024 CPUs"
                                    : "the recording does not say how many CPUs there were");
    return true;
}

/* Idle times are shown, if at all, and added up by their stacks. */
struct idle_sink {
    timehist_line_fn *line; /* NULL: sums only */
    void *ctx;
    struct idle_stacks stacks;
};

static bool take_idle(void *ctx, const struct states *s, const struct timehist_line *line) {
    struct idle_sink *x = ctx;
    return idle_stacks_add(&x->stacks, line) && (!x->line || x->line(x->ctx, s, line));
}

static void put_end(struct timehist_options *o, const struct timehist *h, const struct states *s,
                    struct event_view *v, struct idle_stacks *stacks) {
    if (!o->summary)
        timehist_text_head(&o->text);
    if (o->summary || o->with_summary)
        timehist_text_summary(h, s, v->model, stacks, &v->out);
    timehist_text_faults(s, &v->out);
}

static int show(struct command_env *env, struct timehist_options *o, struct timehist *h) {
    struct event_view view = sched_view(env, &o->common);
    struct states states;
    struct stack_text stacks;
    struct err err = ERR_INIT;
    states_init(&states, timehist_interval, h);
    states.tap = timehist_event;
    view.wants_model = !o->json && (o->summary || o->with_summary); /* parents of processes */
    bool idle_stacks = o->idle && !o->json && (o->summary || o->with_summary);
    if (o->graph && (!o->summary || idle_stacks))
        view.symbols = &o->symbols;
    o->text.out = &view.out;
    struct timehist_json json = {
        .json = {.out = &view.out}, .wakes = o->text.wakes, .migrations = o->text.migrations};
    if (!o->summary)
        h->line = o->json ? timehist_json_line : timehist_text_line;
    h->ctx = o->json ? (void *)&json : (void *)&o->text;
    bool ok = event_view_open(&view, &err) && prepare(o, &view, &stacks, &err);
    json.stacks = o->text.stacks;
    idle_stacks = idle_stacks && o->text.stacks;
    struct idle_sink sink = {.line = h->line, .ctx = h->ctx, .stacks = {.stacks = &stacks}};
    if (idle_stacks) {
        h->line = take_idle;
        h->ctx = &sink;
    }
    if (o->idle)
        o->text.stacks = NULL; /* they are of the idle thread */
    if (ok && o->json)
        timehist_json_begin(&json);
    ok = ok && sched_read(&view, &states, &err) &&
         (timehist_finish(h, &states) || err_memory(&err, "switches"));
    if (ok && o->json)
        timehist_json_end(&json, h, &states);
    else if (ok)
        put_end(o, h, &states, &view, idle_stacks ? &sink.stacks : NULL);
    idle_stacks_fini(&sink.stacks);
    int status = event_view_close(&view, ok, &err);
    states_fini(&states);
    return status;
}

int sched_timehist(struct command_env *env, const struct sched_common *common, int argc, char **argv) {
    struct timehist_options o = {.common = *common, .graph = true, .max_stack = 5};
    struct lists l = {0};
    struct timehist h = {.choice = {&l.cpus, &l.pids, &l.tids, &l.times, &l.prios, false}};
    struct err err = ERR_INIT;
    int status;
    if (!command_verb_options(env, options, usage, &o, &argc, &argv, &status))
        return status;
    if (argc)
        return command_usage(env, "unexpected argument `%s'", argv[0]);
    if (o.summary && (o.text.wakes || o.text.migrations || o.text.next || o.text.state))
        return command_usage(env, "-s shows no events: use -S with -w, -M, -n and --state");
    if (o.json && o.common.dump)
        return command_usage(env, "use only one of --json and -D");
    if (o.max_stack < 0)
        return command_usage(env, "--max-stack: a number from 0 on");
    h.choice.idle = o.idle;
    command_log(env, o.common.verbose, false);
    status = parse_lists(&o, &l, &err) ? show(env, &o, &h) : command_fail(&err);
    timehist_fini(&h);
    filter_ranges_fini(&l.cpus);
    filter_ranges_fini(&l.pids);
    filter_ranges_fini(&l.tids);
    filter_ranges_fini(&l.prios);
    time_ranges_fini(&l.times);
    return status;
}
