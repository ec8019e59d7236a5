/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/stat/stat_vs.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/log.h"
#include "cmd/common/terminal/progress.h"
#include "cmd/stat/shell_words.h"
#include "cmd/stat/stat.h"
#include "count/verdict/versus.h"
#include "os/poller.h"
#include "view/stat/versus_view.h"

/* What is measured of every run, before the events. */
enum { CPU_TIME, ELAPSED_TIME, USER_TIME, SYSTEM_TIME, FIRST_EVENT };

static const double LEVEL = 0.95, UNTIL = 0.01, RUSAGE_STEP_NS = 1000;
/* The kernel divides them by where clock ticks hit, so that one of the two is often zero in short runs: a
 * tick at 250 Hz. */
static const double SPLIT_STEP_NS = 4000000;
static const uint64_t BUDGET_NS = 60000000000;
#define PADDING "SONDE_PADDING" /* a variable whose length moves the stack */

struct comparison {
    struct command_env *env; /* whose verbosity ends with the first run */
    const struct stat_cli *cli;
    struct shell_words *words; /* of each command */
    const char **texts;        /* as shown */
    bool *shells;
    size_t commands;
    struct stat_events *events;
    struct versus_measure *measures;
    size_t measure_count;
    struct count_result first; /* what the names of events are borrowed from */
    bool has_first, times_only;
    bool clock; /* CPU time comes from the event task-clock, which starts at the exec; else from getrusage(2)
                 */
    size_t runs;
    int signal;
    double until;
    uint64_t budget_ns;
};

/* --- options --- */

static bool read_percent(const char *value, double *share) {
    char *end;
    double percent = strtod(value, &end);
    end += *end == '%';
    *share = percent / 100;
    return end != value && !*end && percent >= 0 && percent <= 1000;
}

bool stat_vs_set_until(const struct option *row, void *field, const char *value, bool negated,
                       struct err *e) {
    struct stat_vs_options *o = field;
    (void)row;
    o->until = 0;
    return negated || (read_percent(value, &o->until) && o->until > 0) ||
           err_set(e, ERR_USAGE, NULL, "bad precision '%s': use percent, as in 0.5%%", value);
}

bool stat_vs_set_gate(const struct option *row, void *field, const char *value, bool negated, struct err *e) {
    struct stat_vs_options *o = field;
    (void)row;
    o->gate = !negated;
    o->gate_share = 0;
    return negated || !value || read_percent(value, &o->gate_share) ||
           err_set(e, ERR_USAGE, NULL, "bad share '%s': use percent, as in 2%%", value);
}

bool stat_vs_set_budget(const struct option *row, void *field, const char *value, bool negated,
                        struct err *e) {
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"ms", 0.001}, {"m", 60}, {"min", 60}, {"h", 3600}};
    struct stat_vs_options *o = field;
    char *end = NULL;
    double number = negated ? 0 : strtod(value, &end);
    (void)row;
    o->budget_ns = 0;
    for (size_t i = 0; !negated && end != value && i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].unit) == 0 && number > 0 && number * units[i].seconds < 1e9)
            o->budget_ns = (uint64_t)(number * units[i].seconds * 1e9);
    return negated || o->budget_ns || err_set(e, ERR_USAGE, NULL, "bad time '%s': use 30s, 5m or 1h", value);
}

/* Returns the option that makes no sense here, or NULL. */
static const char *unfit(const struct stat_cli *c) {
    const struct count_options *o = &c->o;
    const struct {
        bool given;
        const char *name;
    } rules[] = {{o->target.all_cpus, "-a"},     {o->target.cpus != NULL, "-C"},
                 {o->target.pids != NULL, "-p"}, {o->target.tids != NULL, "-t"},
                 {c->user != NULL, "-u"},        {o->level != COUNT_ALL, "-A or --per-..."},
                 {o->interval_ms != 0, "-I"},    {o->timeout_ms != 0, "--timeout"},
                 {o->delay_ms != 0, "-D"},       {o->control != NULL, "--control"},
                 {c->separator != NULL, "-x"},   {c->metrics != NULL || c->metric_only, "-M"},
                 {c->topdown, "--topdown"},      {c->for_each_cgroup != NULL, "--for-each-cgroup"},
                 {c->table, "--table"},          {c->passes, "--passes"},
                 {c->repeat == 0, "-r 0"},       {c->detailed > 0, "-d"},
                 {c->transaction, "-T"},         {c->summary, "--summary"}};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].given)
            return rules[i].name;
    for (size_t i = 0; i < c->chosen.count; i++)
        if (c->chosen.items[i].what == EVENT_CHOICE_CGROUPS)
            return "-G";
    return NULL;
}

/* --- what is compared --- */

/* The command's words with blanks between, in quotes where a shell would need them. */
static char *text_of(char *const *argv) {
    struct out o;
    if (!out_init(&o, NULL, NULL))
        return NULL;
    for (size_t i = 0; argv[i]; i++) {
        bool plain = *argv[i] && !argv[i][strcspn(argv[i], " \t\n\"'\\$`|&;<>()*?[#~{}!")];
        out_str(&o, i ? " " : "");
        if (!plain)
            out_char(&o, '\'');
        for (const char *p = argv[i]; *p; p++)
            out_str(&o, *p == '\'' ? "'\\''" : (char[2]){*p, 0});
        if (!plain)
            out_char(&o, '\'');
    }
    char *text = o.failed ? NULL : strdup(out_text(&o));
    out_fini(&o);
    return text;
}

static bool find_commands(struct comparison *x, struct err *err) {
    const struct option_list *others = &x->cli->vs.others;
    x->commands = 1 + others->count;
    x->words = calloc(x->commands, sizeof *x->words);
    x->texts = calloc(x->commands, sizeof *x->texts);
    x->shells = calloc(x->commands, sizeof *x->shells);
    if (!x->words || !x->texts || !x->shells || !(x->texts[0] = text_of(x->cli->o.command)))
        return err_memory(err, "commands");
    for (size_t i = 1; i < x->commands; i++) {
        if (!shell_words_split(others->items[i - 1], &x->words[i], err))
            return false;
        x->texts[i] = others->items[i - 1];
        x->shells[i] = x->words[i].shell;
    }
    return true;
}

static bool find_measures(struct comparison *x, struct err *err) {
    static const struct versus_measure times[FIRST_EVENT] = {
        [CPU_TIME] = {"cpu time", "ns", 1, RUSAGE_STEP_NS, true},
        [ELAPSED_TIME] = {"elapsed time", "ns", 1, 1, true},
        [USER_TIME] = {"user time", "ns", 1, SPLIT_STEP_NS, false},
        [SYSTEM_TIME] = {"system time", "ns", 1, SPLIT_STEP_NS, false},
    };
    x->measure_count = FIRST_EVENT + x->events->events.items.count;
    x->measures = calloc(x->measure_count, sizeof *x->measures);
    if (!x->measures)
        return err_memory(err, "events");
    memcpy(x->measures, times, sizeof times);
    for (size_t i = FIRST_EVENT; i < x->measure_count; i++)
        x->measures[i] = (struct versus_measure){.unit = "", .scale = 1, .step = 1};
    return true;
}

/* The names of events are known once they have been counted. */
static void name_measures(struct comparison *x, const struct counts *c) {
    for (size_t i = 0; i < c->event_count; i++) {
        const struct count_event *e = &c->events[i];
        struct versus_measure *m = &x->measures[FIRST_EVENT + i];
        if (e->row_of != i || (x->clock && i == 0))
            continue; /* another row shows it */
        m->name = e->name;
        m->unit = e->clock ? "ns" : e->unit;
        m->scale = e->clock || !*e->unit ? 1 : e->scale;
    }
}

/* --- runs --- */

static volatile sig_atomic_t stop; /* the signal that came between two runs */

static void on_signal(int sig) {
    stop = sig;
}

/* NaN: it was not counted. */
static double event_value(const struct counts *c, size_t event) {
    const struct count_cell *cell = event < c->event_count && c->keys.count ? counts_cell(c, 0, event) : NULL;
    return cell && cell->state == COUNT_COUNTED ? cell->value : NAN;
}

static void take_values(const struct comparison *x, const struct counts *c, double *values) {
    values[CPU_TIME] = x->clock ? event_value(c, 0) : c->user_ns + c->system_ns;
    values[ELAPSED_TIME] = c->elapsed_ns;
    values[USER_TIME] = c->user_ns;
    values[SYSTEM_TIME] = c->system_ns;
    for (size_t i = FIRST_EVENT; i < x->measure_count; i++)
        values[i] = event_value(c, i - FIRST_EVENT);
}

/* What would change how long the next run takes: how large its environment is. */
static bool set_padding(unsigned bytes, struct err *err) {
    static char room[VERSUS_PADDING_BYTES + 1];
    memset(room, 'x', sizeof room - 1);
    room[bytes] = 0;
    return setenv(PADDING, room, 1) == 0 || err_memory(err, "environment");
}

static bool count_once(struct comparison *x, size_t command, struct count_result *r, struct err *err) {
    static const struct perf_events none;
    struct count_options o = x->cli->o;
    o.command = command ? x->words[command].argv : x->cli->o.command;
    o.streams = x->runs < x->commands ? OS_CHILD_ERRORS_ONLY : OS_CHILD_SILENT;
    const struct count_job job = {.options = &o,
                                  .events = x->times_only ? &none : &x->events->events,
                                  .again = x->runs > 0,
                                  .sys = &sysfs_system,
                                  .perf = &os_perf_system,
                                  .proc = &os_proc_system};
    return count_run(&job, r, err);
}

/* Where nothing may be counted, times are still measured. */
static bool count_or_time(struct comparison *x, size_t command, struct count_result *r, struct err *err) {
    struct err why = ERR_INIT;
    if (count_once(x, command, r, &why))
        return true;
    if (x->has_first || x->times_only || x->cli->null || x->cli->chosen.count) {
        *err = why;
        return false;
    }
    x->times_only = true;
    if (!count_once(x, command, r, err))
        return false;
    log_line(LOG_WARN, "only times are compared: %s", why.message);
    return true;
}

static enum versus_ran judge_run(struct comparison *x, size_t command, const struct count_result *r,
                                 struct err *err) {
    if (r->signal) {
        x->signal = r->signal;
        return VERSUS_RAN_STOPPED;
    }
    if (r->status == 0 || x->cli->vs.ignore_status)
        return VERSUS_RAN;
    err_set(err, ERR_UNSUPPORTED, x->texts[command],
            "ended with status %d, so that its times mean little; --ignore-status counts them nevertheless",
            r->status);
    return VERSUS_RAN_NOT;
}

static enum versus_ran run_one(void *ctx, size_t command, unsigned padding, double *values, struct err *err) {
    struct comparison *x = ctx;
    struct count_result r;
    if (stop) {
        x->signal = stop;
        return VERSUS_RAN_STOPPED;
    }
    if (x->cli->sync)
        sync();
    if (!set_padding(padding, err) || !stat_hook(x->cli->pre, "--pre", err) ||
        !count_or_time(x, command, &r, err))
        return VERSUS_RAN_NOT;
    enum versus_ran ran = judge_run(x, command, &r, err);
    x->runs++;
    if (!x->has_first) {
        x->clock = !x->cli->null && !isnan(event_value(&r.counts, 0));
        name_measures(x, &r.counts);
    }
    take_values(x, &r.counts, values);
    if (x->has_first)
        count_result_fini(&r);
    else
        x->first = r;
    x->has_first = true;
    x->env->verbose = -1; /* what the first run said, the others would say again */
    return ran != VERSUS_RAN || stat_hook(x->cli->post, "--post", err) ? ran : VERSUS_RAN_NOT;
}

static uint64_t now_ns(void *ctx) {
    (void)ctx;
    return os_clock_ns();
}

/* Without what the comparison says so far: whoever watches that is tempted to stop when it pleases. */
static void progress(void *ctx, const struct versus *v) {
    const struct comparison *x = ctx;
    char precision[64] = "";
    if (isfinite(v->precision) && !(x->cli->repeat > 1))
        snprintf(precision, sizeof precision, ", intervals of %.2g %% to either side (until %.2g %%)",
                 v->precision * 100, x->until * 100);
    if (x->cli->repeat > 1)
        progress_say("%zu pairs of %lld", v->pairs, (long long)x->cli->repeat);
    else
        progress_say("%zu pairs, %.0f s of %.0f%s", v->pairs, v->seconds, (double)x->budget_ns / 1e9,
                     precision);
}

/* --- the whole --- */

static bool print(struct comparison *x, const struct versus_job *job, const struct versus *v,
                  struct err *err) {
    const struct versus_view view = {.versus = v,
                                     .measures = x->measures,
                                     .commands = x->texts,
                                     .shells = x->shells,
                                     .level = LEVEL,
                                     .until = x->until,
                                     .regressed = versus_regressed(job, v, x->cli->vs.gate_share)};
    struct stat_sink sink;
    if (x->cli->quiet)
        return true;
    if (!stat_sink_open(&sink, x->cli, STDOUT_FILENO, err))
        return false;
    if (x->cli->json)
        versus_print_json(&view, &sink.out);
    else
        versus_print_text(&view, &sink.out);
    return stat_sink_close(&sink, x->cli, err);
}

static int status_of(const struct comparison *x, const struct versus_job *job, const struct versus *v) {
    const struct stat_vs_options *o = &x->cli->vs;
    if (o->gate && versus_regressed(job, v, o->gate_share))
        return STAT_VS_REGRESSION;
    if (x->signal)
        return 128 + x->signal;
    return o->gate && !versus_decided(job, v) ? STAT_VS_NOT_JUDGED : EXIT_OK;
}

/* ^C and the like end the comparison, which is then told as far as it went; ignored ones stay so. */
static void catch_signals(struct sigaction before[3], bool on) {
    static const int signals[3] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    for (size_t i = 0; i < 3; i++) {
        sigaction(signals[i], on ? &act : &before[i], on ? &before[i] : NULL);
        if (on && before[i].sa_handler == SIG_IGN)
            sigaction(signals[i], &before[i], NULL);
    }
}

static bool compare(struct comparison *x, int *status, struct err *err) {
    const struct stat_vs_options *o = &x->cli->vs;
    struct sigaction before[3];
    uint64_t seed;
    int verbose = x->env->verbose;
    if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed)
        seed = os_clock_ns();
    const struct versus_job job = {.commands = x->commands,
                                   .measures = x->measures,
                                   .measure_count = x->measure_count,
                                   .level = LEVEL,
                                   .until = x->until,
                                   .budget_ns = x->budget_ns,
                                   .budget_fixed = o->budget_ns > 0,
                                   .pairs = x->cli->repeat > 1 ? (size_t)x->cli->repeat : 0,
                                   .seed = seed,
                                   .run = run_one,
                                   .now_ns = now_ns,
                                   .progress = progress,
                                   .ctx = x};
    struct versus v;
    stop = 0;
    catch_signals(before, true);
    progress_start("comparing", " (^C judges what there is)");
    bool ok = versus_run(&job, &v, err);
    progress_end();
    x->env->verbose = verbose;
    catch_signals(before, false);
    unsetenv(PADDING);
    ok = ok && print(x, &job, &v, err);
    *status = ok ? status_of(x, &job, &v) : EXIT_ERROR;
    versus_fini(&v);
    return ok;
}

static void free_comparison(struct comparison *x) {
    for (size_t i = 0; x->words && i < x->commands; i++)
        shell_words_fini(&x->words[i]);
    if (x->texts)
        free((char *)x->texts[0]);
    if (x->has_first)
        count_result_fini(&x->first);
    free(x->words);
    free(x->texts);
    free(x->shells);
    free(x->measures);
}

int stat_vs_run(struct command_env *env, const struct stat_cli *c, struct stat_events *events) {
    const struct stat_vs_options *o = &c->vs;
    struct comparison x = {.env = env,
                           .cli = c,
                           .events = events,
                           .until = o->until > 0 ? o->until : UNTIL,
                           .budget_ns = o->budget_ns ? o->budget_ns : BUDGET_NS};
    struct err err = ERR_INIT;
    int status;
    bool ok = find_commands(&x, &err) && find_measures(&x, &err) && compare(&x, &status, &err);
    if (!ok)
        status = command_fail(&err);
    if (!ok && o->gate && status == EXIT_ERROR) /* which a regression has */
        status = STAT_VS_NOT_JUDGED;
    free_comparison(&x);
    return status;
}

bool stat_vs_check(const struct stat_cli *c, struct err *err) {
    const struct stat_vs_options *o = &c->vs;
    enum { OTHERS_MAX = 25 }; /* letters after A */
    if (!o->others.count)
        return !(o->until > 0 || o->budget_ns || o->gate || o->ignore_status) ||
               err_set(err, ERR_USAGE, NULL, "--until, --for, --gate and --ignore-status go with --vs");
    if (!c->o.command)
        return err_set(err, ERR_USAGE, NULL, "--vs compares with a command: give it after --");
    if (o->others.count > OTHERS_MAX)
        return err_set(err, ERR_USAGE, NULL, "at most %d commands can be compared with one", OTHERS_MAX);
    const char *name = unfit(c);
    return !name ||
           err_set(err, ERR_USAGE, NULL, "%s does not go with --vs, which compares whole runs", name);
}
