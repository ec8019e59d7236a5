/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/timechart/timechart.h"
#include "format/perfdata/header/feature.h"

enum { IDLE, SPEED };
enum { STATE, CPU };
static const struct tracepoint_row ROWS[] = {
    {"power", "cpu_idle", IDLE, 2, {"state", "cpu_id"}},
    {"power", "cpu_frequency", SPEED, 2, {"state", "cpu_id"}},
};
enum { NOTABLE = 500 /* a thread that ran a 500th of the time has a row */ };

struct drawing {
    const struct timechart_options *o;
    struct event_view view;
    struct sched_events events;
    struct tracepoints power;
    struct states states;
    struct timechart_totals totals; /* of the first pass */
    struct timechart chart;
    struct timechart_choice choice;
    uint64_t begin_ns, end_ns; /* of all events */
    bool drawing;              /* the second pass */
    bool any;                  /* there was an event */
    uint64_t highlight_ns;
    const char *highlight_name;
    char room[256];
};

/* ---- reading ---- */

static bool want(void *ctx, const struct stream_record *r) {
    struct drawing *d = ctx;
    return tracepoints_want(&d->power, r) || sched_events_want(&d->events, r);
}

static bool take_power(struct drawing *d, const struct stream_record *r) {
    struct tracepoint t;
    if (!d->drawing || !tracepoints_read(&d->power, r, &t))
        return true;
    uint32_t cpu = (uint32_t)tracepoint_int(&t, CPU, 0), state = (uint32_t)tracepoint_int(&t, STATE, 0);
    if (t.kind == SPEED)
        return timechart_speed(&d->chart, r->time_ns, cpu, state);
    /* include/trace/events/power.h: the end of an idle state is told as state -1 */
    return timechart_idle(&d->chart, r->time_ns, cpu, state == UINT32_MAX ? TIMECHART_AWAKE : state);
}

static bool take(void *ctx, const struct stream_record *r, struct err *err) {
    struct drawing *d = ctx;
    if (r->time_ns && (!d->any || r->time_ns < d->begin_ns))
        d->begin_ns = r->time_ns;
    if (r->time_ns > d->end_ns)
        d->end_ns = r->time_ns;
    d->any = d->any || r->time_ns;
    if (tracepoints_want(&d->power, r))
        return take_power(d, r) || err_memory(err, "power of CPUs");
    return sched_events_apply(&d->events, &d->states, r, err);
}

/* The second pass: idle threads are what CPUs do when nobody runs. */
static bool draw_interval(void *ctx, const struct states_interval *i) {
    struct drawing *d = ctx;
    if (!states_thread(&d->states, i->thread)->tid)
        return true;
    if (i->state == STATES_RUNNING && i->cpu != STATES_NONE &&
        !timechart_busy(&d->chart, i->since_ns, i->until_ns, i->cpu))
        return false;
    return timechart_add(&d->chart, i);
}

static bool total_interval(void *ctx, const struct states_interval *i) {
    struct drawing *d = ctx;
    return timechart_totals_add(&d->totals, i);
}

static bool read_pass(struct drawing *d, states_sink_fn *sink, struct err *err) {
    states_fini(&d->states);
    states_init(&d->states, sink, d);
    return event_view_read(&d->view, want, take, d, err) &&
           (states_finish(&d->states) || err_memory(err, "states of threads"));
}

static bool choose_threads(struct drawing *d) {
    for (uint32_t i = 0; i < d->totals.threads.count; i++) {
        const struct states_thread *t = states_thread(&d->states, i);
        const struct timechart_total *total = &d->totals.threads.items[i];
        const struct timechart_candidate candidate = {.thread = i,
                                                      .tid = t->tid,
                                                      .pid = t->pid,
                                                      .name = states_thread_name(&d->states, i),
                                                      .weight = total->run_ns};
        if (t->tid && (total->run_ns || total->wait_ns || total->block_ns) &&
            !timechart_choice_offer(&d->choice, d->o, &candidate))
            return false;
    }
    return timechart_choice_make(&d->choice, d->o, (d->states.now_ns - d->states.begin_ns) / NOTABLE);
}

static bool find_events(struct drawing *d, struct err *err) {
    struct stream *stream = d->view.recording.stream;
    sched_events_init(&d->events, stream, &d->view.recording.namer);
    tracepoints_init(&d->power, stream, &d->view.recording.namer, ROWS, sizeof ROWS / sizeof *ROWS, 0);
    return sched_events_update(&d->events, err) && tracepoints_update(&d->power, err);
}

static bool has_states(const struct drawing *d) {
    return sched_events_any(&d->events) || tracepoints_have(&d->power, IDLE) ||
           tracepoints_have(&d->power, SPEED);
}

static bool read_all(struct drawing *d, struct err *err) {
    if (!read_pass(d, total_interval, err))
        return false;
    if (!choose_threads(d))
        return err_memory(err, "rows");
    timechart_init(&d->chart, d->begin_ns, d->end_ns, (uint32_t)d->o->width * TIMECHART_COLUMNS_PER_PIXEL);
    for (size_t i = 0; i < d->choice.threads.count; i++)
        if (!timechart_choose(&d->chart, d->choice.threads.items[i]))
            return err_memory(err, "rows");
    d->drawing = true;
    stream_rewind(d->view.recording.stream);
    if (!read_pass(d, draw_interval, err))
        return false;
    timechart_finish(&d->chart);
    return true;
}

/* ---- -t ---- */

struct place {
    struct timechart_cpu cpu;
    uint32_t socket, core;
};

static int by_place(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    if (x->socket != y->socket)
        return x->socket < y->socket ? -1 : 1;
    if (x->core != y->core)
        return x->core < y->core ? -1 : 1;
    return x->cpu.row.what < y->cpu.row.what ? -1 : x->cpu.row.what > y->cpu.row.what;
}

/* CPUs by socket and core, as the recording tells; those that it does not tell of come last. */
static bool sort_by_topology(struct drawing *d, struct err *err) {
    struct perfdata_feature_value v;
    struct arena arena = {0};
    size_t n = d->chart.cpus.count;
    struct place *list = calloc(n ? n : 1, sizeof *list);
    bool has = list && perfdata_feature_get(stream_header(d->view.recording.stream),
                                            PERFDATA_FEATURE_CPU_TOPOLOGY, &arena, &v);
    for (size_t i = 0; has && i < n; i++) {
        uint32_t cpu = d->chart.cpus.items[i].row.what;
        bool told = cpu < v.cpu_topology.cpu_count;
        list[i] = (struct place){.cpu = d->chart.cpus.items[i],
                                 .socket = told ? (uint32_t)v.cpu_topology.cpus[cpu].socket : UINT32_MAX,
                                 .core = told ? (uint32_t)v.cpu_topology.cpus[cpu].core : UINT32_MAX};
    }
    if (has && n) {
        qsort(list, n, sizeof *list, by_place);
        for (size_t i = 0; i < n; i++)
            d->chart.cpus.items[i] = list[i].cpu;
    }
    bool ok = list || err_memory(err, "CPUs");
    free(list);
    arena_fini(&arena);
    return ok && (has || err_set(err, ERR_ABSENT, stream_path(d->view.recording.stream),
                                 "the recording does not tell which CPUs are neighbours (-t)"));
}

/* ---- texts ---- */

static uint32_t thread_of(const struct drawing *d, uint32_t row) {
    return d->choice.threads.items[row];
}

static const char *label(void *ctx, uint32_t row) {
    struct drawing *d = ctx;
    const char *name = states_thread_name(&d->states, thread_of(d, row));
    snprintf(d->room, sizeof d->room, "%s:%" PRIu32, name ? name : "",
             states_thread(&d->states, thread_of(d, row))->tid);
    return d->room;
}

static const char *title(void *ctx, uint32_t row) {
    struct drawing *d = ctx;
    const char *name = states_thread_name(&d->states, thread_of(d, row));
    const struct timechart_total *t = &d->totals.threads.items[thread_of(d, row)];
    snprintf(d->room, sizeof d->room,
             "%s:%" PRIu32 " ran %.6f s, waited for a CPU %.6f s, was blocked %.6f s", name ? name : "",
             states_thread(&d->states, thread_of(d, row))->tid, (double)t->run_ns / 1e9,
             (double)t->wait_ns / 1e9, (double)t->block_ns / 1e9);
    return d->room;
}

static bool highlight(void *ctx, uint32_t row) {
    const struct drawing *d = ctx;
    const char *name = states_thread_name(&d->states, thread_of(d, row));
    if (d->highlight_ns)
        return d->totals.threads.items[thread_of(d, row)].longest_ns >= d->highlight_ns;
    return d->highlight_name && name && strcmp(name, d->highlight_name) == 0;
}

static void parse_highlight(struct drawing *d) {
    char *end = NULL;
    const char *text = d->o->highlight;
    uint64_t ns = text ? strtoull(text, &end, 10) : 0;
    if (text && *text && !*end && ns)
        d->highlight_ns = ns;
    else
        d->highlight_name = text;
}

static void write_svg(struct drawing *d) {
    char note[160];
    size_t n = d->o->power_only ? 0 : d->choice.threads.count;
    snprintf(note, sizeof note, "%zu of %zu threads%s%s", n, d->choice.of,
             n < d->choice.of ? ", those that ran longest" : "",
             d->chart.cut ? "; some of the CPUs are left out" : "");
    struct timechart_svg svg = {
        .chart = &d->chart,
        .width = (unsigned)d->o->width,
        .no_power = d->o->tasks_only,
        .no_threads = d->o->power_only,
        .groups = d->choice.groups.items,
        .group_count = d->choice.groups.count,
        .ctx = d,
        .label = label,
        .title = title,
        .highlight = highlight,
        .note = note,
    };
    timechart_svg_write(&svg, &d->view.out);
}

static int say(struct command_env *env, const struct drawing *d, int status) {
    struct out out;
    if (status != EXIT_OK || !command_output(env, &out))
        return status;
    out_printf(&out, "Written %.1f seconds of trace to %s.\n", (double)(d->end_ns - d->begin_ns) / 1e9,
               d->o->output);
    return command_finish(env, &out, status);
}

static bool draw_states(struct drawing *d, struct err *err) {
    if (!has_states(d))
        return err_set(err, ERR_ABSENT, stream_path(d->view.recording.stream),
                       "nothing about scheduling or power was recorded: use 'sonde timechart record'");
    if (!read_all(d, err) || (d->o->topology && !sort_by_topology(d, err)))
        return false;
    write_svg(d);
    return true;
}

/* What the events are about decides, unless the options do. */
static bool draw(struct drawing *d, struct err *err) {
    bool asked = d->o->power_only || d->o->tasks_only;
    if (!find_events(d, err))
        return false;
    if (!d->o->io_only && (asked || has_states(d) || !timechart_io_any(&d->view)))
        return draw_states(d, err);
    return timechart_draw_io(&d->view, d->o, &d->begin_ns, &d->end_ns, err);
}

int timechart_draw(struct command_env *env, const struct timechart_options *o) {
    struct drawing d = {.o = o,
                        .view = {.env = env,
                                 .input = o->input,
                                 .output = o->output,
                                 .force = o->force,
                                 .symbols = &o->symbols,
                                 .names_addresses = true}};
    struct err err = ERR_INIT;
    command_log(env, o->verbose, false);
    parse_highlight(&d);
    bool ok = input_check_output(input_path(o->input), o->output, &err) && event_view_open(&d.view, &err) &&
              draw(&d, &err);
    int status = event_view_close(&d.view, ok, &err);
    status = ok ? say(env, &d, status) : status;
    sched_events_fini(&d.events);
    tracepoints_fini(&d.power);
    states_fini(&d.states);
    timechart_totals_fini(&d.totals);
    timechart_fini(&d.chart);
    timechart_choice_fini(&d.choice);
    return status;
}
