/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "cmd/common/options/perfconfig.h"
#include "cmd/stat/stat.h"
#include "count/open/passes.h"
#include "count/sum.h"

struct stat_output {
    struct command_env *env;
    const struct stat_cli *cli;
    struct stat_view view;
    struct stat_sink to;
    struct stat_recorder recorder;
    unsigned lines; /* of intervals since the last heading */
};

/* --- where it goes --- */

bool stat_sink_open(struct stat_sink *o, const struct stat_cli *c, int otherwise, struct err *err) {
    int fd = c->log_fd >= 0 ? c->log_fd : otherwise;
    *o = (struct stat_sink){0};
    if (c->output) {
        fd = open(c->output, O_WRONLY | O_CREAT | O_CLOEXEC | (c->append ? O_APPEND : O_TRUNC), 0666);
        o->own_fd = fd >= 0;
    }
    if (fd < 0)
        return err_errno(err, errno, c->output, "cannot create it");
    if (c->log_fd >= 0 && fcntl(fd, F_GETFD) < 0)
        return err_errno(err, errno, "--log-fd", "%d is no open descriptor", fd);
    o->sink = (struct command_sink){fd, 0};
    if (!out_init(&o->out, command_write_fd, &o->sink))
        return err_memory(err, "output");
    if (c->output) {
        char stamp[40] = "";
        time_t now = time(NULL);
        struct tm tm;
        if (localtime_r(&now, &tm))
            strftime(stamp, sizeof stamp, "%a %b %e %H:%M:%S %Y", &tm);
        out_printf(&o->out, "# started on %s\n\n", stamp);
    }
    return true;
}

bool stat_sink_close(struct stat_sink *o, const struct stat_cli *c, struct err *err) {
    bool ok = out_flush(&o->out);
    out_fini(&o->out);
    if (o->own_fd && close(o->sink.fd) != 0 && ok) {
        ok = false;
        o->sink.errnum = errno;
    }
    return ok || err_errno(err, o->sink.errnum, c->output ? c->output : "output", "cannot write the counts");
}

/* What the locale puts between groups of three digits. */
static void find_thousands(char out[STAT_THOUSANDS]) {
    locale_t l = newlocale(LC_NUMERIC_MASK, "", (locale_t)0);
    const char *text = l ? nl_langinfo_l(THOUSEP, l) : "";
    snprintf(out, STAT_THOUSANDS, "%s", strlen(text) < STAT_THOUSANDS ? text : "");
    if (l)
        freelocale(l);
}

/* --- titles --- */

static void put_words(struct out *o, char *const *words) {
    for (size_t i = 0; words[i]; i++) {
        out_str(o, i ? " " : "");
        out_str(o, words[i]);
    }
}

static void print_title(struct stat_output *o) {
    const struct count_options *c = &o->cli->o;
    struct out what;
    if (!out_init(&what, NULL, NULL)) {
        o->to.out.failed = true;
        return;
    }
    const struct perf_target_options *t = &c->target;
    if (t->pids || t->tids)
        out_printf(&what, "%s id '%s", t->pids ? "process" : "thread", t->pids ? t->pids : t->tids);
    else if (t->uid)
        out_printf(&what, "user '%s", o->cli->user);
    else if (t->cpus)
        out_printf(&what, "'CPU(s) %s", t->cpus);
    else if (t->all_cpus || t->all_threads)
        out_str(&what, "'system wide");
    else {
        out_char(&what, '\'');
        put_words(&what, c->command);
    }
    out_char(&what, '\'');
    stat_print_title(&o->view, out_text(&what), &o->to.out);
    out_fini(&what);
}

/* --- intervals --- */

void stat_interval_heading(const struct stat_view *v, const struct counts *c, unsigned *lines,
                           struct out *o) {
    enum { PER_HEADING = 25 };
    if (*lines == 0)
        stat_print_interval_heading(v, c, o);
    if (++*lines > PER_HEADING)
        *lines = 0;
}

static void interval(void *ctx, const struct counts *deltas) {
    struct stat_output *o = ctx;
    const struct stat_cli *c = o->cli;
    if (c->quiet)
        return;
    if (c->interval_clear)
        out_str(&o->to.out, "\033[H\033[2J");
    o->lines = c->interval_clear ? 0 : o->lines;
    stat_interval_heading(&o->view, deltas, &o->lines, &o->to.out);
    stat_print_rows(&o->view, deltas, false, &o->to.out);
    out_flush(&o->to.out);
}

static void note(void *ctx, const char *text) {
    struct stat_output *o = ctx;
    if (!o->cli->quiet)
        fprintf(stderr, "%s\n", text);
}

/* --- runs --- */

bool stat_hook(const char *command, const char *name, struct err *err) {
    int status = command ? system(command) : 0;
    return status == 0 ||
           err_set(err, ERR_IO, name, "'%s' failed%s", command, status < 0 ? ": it could not be run" : "");
}

static void warn_of_multiplexing(const struct counts *c) {
    count_names names = {0};
    char text[512] = "";
    size_t n = 0;
    if (count_multiplexed(c, &names))
        for (size_t i = 0; i < names.count && n < sizeof text; i++)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", i ? ", " : "", names.items[i]);
    if (n)
        log_line(
            LOG_WARN,
            "counted for less than 90 %% of the time, and extrapolated: %s; count fewer events at once, or "
            "repeat the command with --passes",
            text);
    vec_fini(&names);
}

/* With -v: what the kernel gave, before any factor. */
static void tell_raw(const struct counts *c) {
    for (size_t e = 0; e < c->event_count; e++)
        for (size_t k = 0; k < c->keys.count; k++) {
            const struct count_cell *cell = counts_cell(c, k, e);
            const char *key = c->keys.items[k].text;
            if (cell->state == COUNT_NOT_SUPPORTED && k == 0)
                log_line(LOG_INFO, "%s event is not supported by the kernel.", c->events[e].name);
            else if (cell->state == COUNT_COUNTED || cell->state == COUNT_NOT_COUNTED)
                log_line(LOG_INFO, "%s: %s%s%.0f %.0f %.0f", c->events[e].name, key, *key ? " " : "",
                         cell->value, cell->enabled_ns, cell->running_ns);
        }
}

static void print_result(struct stat_output *o, const struct counts *c, const struct count_average *all) {
    const struct stat_cli *cli = o->cli;
    bool after_intervals = cli->o.interval_ms != 0;
    if (cli->quiet || (after_intervals && !cli->summary))
        return;
    const struct stat_times t = {
        .elapsed_ns = all->elapsed_ns.items,
        .runs = all->elapsed_ns.count,
        .table = cli->table,
        .command = cli->o.command && !cli->o.target.all_cpus && !cli->o.target.cpus && !cli->o.target.pids &&
                   !cli->o.target.tids && !cli->o.target.uid && !cli->o.target.all_threads};
    tell_raw(c);
    print_title(o);
    stat_print_rows(&o->view, c, after_intervals, &o->to.out);
    stat_print_times(&o->view, c, &t, &o->to.out);
    out_flush(&o->to.out);
    if (o->view.form == STAT_TEXT) /* others have a column for it */
        warn_of_multiplexing(c);
}

/* All runs of a command. */
struct runs {
    struct stat_output *out;
    const struct stat_events *events;
    struct count_average all;
    struct count_result first; /* what the means borrow */
    struct count_passes passes;
    int status, signal;
    bool begun; /* this is not the first run */
};

static bool opened(void *ctx, const struct count_opened *what, struct err *err) {
    return stat_recorder_opened(&((struct stat_output *)ctx)->recorder, what, err);
}

static bool read_once(void *ctx, const struct count_opened *what, uint64_t time_ns, bool last,
                      struct err *err) {
    return stat_recorder_read(&((struct stat_output *)ctx)->recorder, what, time_ns, last, err);
}

/* One run of one pass; false and *err when it could not be had. */
static bool run_once(struct runs *r, uint32_t pass, bool *again, struct err *err) {
    const struct stat_cli *c = r->out->cli;
    const struct stat_events *e = r->events;
    const struct count_job job = {.options = &c->o,
                                  .events = &e->events,
                                  .optional =
                                      e->optional.count == e->events.items.count ? e->optional.items : NULL,
                                  .pass_of = c->passes ? r->passes.of.items : NULL,
                                  .pass = pass,
                                  .again = r->begun,
                                  .sys = &sysfs_system,
                                  .perf = &os_perf_system,
                                  .bpf = &os_bpf_system,
                                  .proc = &os_proc_system,
                                  .interval = interval,
                                  .note = note,
                                  .opened = c->record ? opened : NULL,
                                  .read = c->record ? read_once : NULL,
                                  .ctx = r->out};
    struct count_result result;
    r->out->recorder = (struct stat_recorder){.path = c->record, .argv = c->argv, .options = &c->o};
    *again = false;
    r->begun = true;
    if (c->sync)
        sync();
    bool ran = stat_hook(c->pre, "--pre", err) && count_run(&job, &result, err);
    if (!stat_recorder_finish(&r->out->recorder, ran ? err : NULL) || !ran) {
        if (ran)
            count_result_fini(&result);
        return false;
    }
    r->status = result.status;
    r->signal = result.signal;
    if (r->status > 128 && c->o.command && !c->quiet) /* as a shell does */
        fprintf(stderr, "%s: %s\n", c->o.command[0], strsignal(r->status - 128));
    bool ok = stat_hook(c->post, "--post", err);
    *again =
        ok && c->passes && !r->signal && count_passes_split(&r->passes, pass, &e->events, &result.counts);
    ok = ok && (*again || count_average_add(&r->all, &result.counts) || err_memory(err, "counts"));
    if (r->all.elapsed_ns.count == 1 && !*again)
        r->first = result;
    else
        count_result_fini(&result);
    return ok;
}

/* All passes of one run. */
static bool run_passes(struct runs *r, struct err *err) {
    for (uint32_t pass = 0; pass < r->passes.count && !r->signal;) {
        bool again;
        if (!run_once(r, pass, &again, err))
            return false;
        pass += !again;
    }
    return true;
}

static void print_all(struct runs *r) {
    if (!r->all.elapsed_ns.count)
        return;
    count_average_finish(&r->all);
    r->out->view.runs = r->all.elapsed_ns.count;
    print_result(r->out, &r->all.mean, &r->all);
    out_flush(&r->out->to.out);
}

/* Measures and prints; the status. */
static int measure(struct stat_output *o, const struct stat_events *e, struct err *err) {
    const struct stat_cli *c = o->cli;
    struct runs r = {.out = o, .events = e, .passes.count = 1};
    bool ok =
        !c->passes || count_passes_plan(&r.passes, &os_perf_system, &e->events) || err_memory(err, "events");
    for (int64_t i = 0; (i < c->repeat || !c->repeat) && ok && !r.signal; i++) {
        if (c->repeat != 1)
            log_line(LOG_INFO, "[ %s stat: executing run #%lld ... ]", o->env->program, (long long)i + 1);
        ok = run_passes(&r, err);
        if (ok && !c->repeat) { /* for ever: each run by itself */
            print_all(&r);
            count_average_fini(&r.all);
            count_result_fini(&r.first);
        }
    }
    print_all(&r);
    count_average_fini(&r.all);
    count_result_fini(&r.first);
    count_passes_fini(&r.passes);
    return !ok ? EXIT_ERROR : r.signal ? 128 + r.signal : r.status;
}

struct stat_view stat_view_of(struct command_env *env, const struct stat_cli *c,
                              char thousands[STAT_THOUSANDS]) {
    const char *columns = perfconfig_text(env->config, "stat.columns");
    *thousands = 0;
    if (c->big_num && !c->separator && !c->json)
        find_thousands(thousands);
    return (struct stat_view){
        .form = c->json        ? STAT_JSON
                : c->separator ? STAT_CSV
                               : STAT_TEXT,
        .separator = c->separator && strcmp(c->separator, "\\t") == 0 ? "\t" : c->separator,
        .columns = columns && strcmp(columns, "6") == 0 ? &STAT_COLUMNS_6 : &STAT_COLUMNS_7,
        .thousands = thousands,
        .metric_only = c->metric_only,
        .intervals = c->o.interval_ms != 0,
        .csv_summary = !c->no_csv_summary,
        .runs = c->repeat > 1 ? 2 : 1};
}

int stat_run(struct command_env *env, const struct stat_cli *c, struct stat_events *events) {
    struct err err = ERR_INIT;
    char thousands[STAT_THOUSANDS];
    struct stat_output o = {.env = env, .cli = c, .view = stat_view_of(env, c, thousands)};
    o.view.metrics = events->has_metrics ? &events->metrics : NULL;
    if (!stat_sink_open(&o.to, c, STDERR_FILENO, &err))
        return command_fail(&err);
    int status = measure(&o, events, &err);
    bool written = stat_sink_close(&o.to, c, err.code == ERR_NONE ? &err : NULL);
    if (err.code != ERR_NONE)
        status = command_fail(&err);
    return written ? status : EXIT_ERROR;
}
