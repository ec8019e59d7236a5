/* SPDX-License-Identifier: Apache-2.0 */
/* `timechart -I`: what threads read, wrote and waited for in polls. */
#include <inttypes.h>
#include <stdio.h>

#include "cmd/timechart/timechart.h"
#include "format/perfdata/header/feature.h"

enum { MACHINE_MAX = 65 };

struct io_drawing {
    const struct timechart_options *o;
    struct event_view *view;
    struct io_events events;
    struct calls calls;
    struct io_chart chart;
    struct timechart_choice choice;
    bool any; /* there was an event */
    char room[256];
};

/* ---- reading ---- */

static void open_events(struct io_events *e, struct event_view *v) {
    char room[MACHINE_MAX];
    bool known =
        perfdata_feature_text(stream_header(v->recording.stream), PERFDATA_FEATURE_ARCH, room, MACHINE_MAX);
    io_events_init(e, &v->recording, known ? room : NULL);
}

bool timechart_io_any(struct event_view *v) {
    struct io_events e;
    open_events(&e, v);
    bool any = io_events_update(&e, &(struct err){0}) && io_events_any(&e);
    io_events_fini(&e);
    return any;
}

static bool want(void *ctx, const struct stream_record *r) {
    return io_events_want(&((struct io_drawing *)ctx)->events, r);
}

static bool take(void *ctx, const struct stream_record *r, struct err *err) {
    struct io_drawing *d = ctx;
    bool sample = r->raw.type == PERFDATA_RECORD_SAMPLE;
    if (sample && !d->chart.drawing && (!d->any || r->time_ns < d->chart.begin_ns))
        d->chart.begin_ns = r->time_ns;
    if (sample && !d->chart.drawing && r->time_ns > d->chart.end_ns)
        d->chart.end_ns = r->time_ns;
    d->any |= sample;
    return io_events_apply(&d->events, &d->calls, r) || err_memory(err, "system calls");
}

static bool read_pass(struct io_drawing *d, struct err *err) {
    calls_fini(&d->calls);
    calls_init(&d->calls, NULL, io_chart_call, &d->chart);
    if (!event_view_read(d->view, want, take, d, err))
        return false;
    d->chart.ending = true;
    return calls_finish(&d->calls) || err_memory(err, "system calls");
}

static bool choose(struct io_drawing *d) {
    for (uint32_t i = 0; i < d->chart.threads.count; i++) {
        const struct io_thread *t = &d->chart.threads.items[i];
        const struct timechart_candidate candidate = {.thread = i,
                                                      .tid = t->tid,
                                                      .pid = t->pid,
                                                      .name = calls_thread_name(&d->calls, t->tid),
                                                      .weight = io_thread_moved_ns(t)};
        if (!timechart_choice_offer(&d->choice, d->o, &candidate))
            return false;
    }
    return timechart_choice_make(&d->choice, d->o, 1);
}

static bool read_all(struct io_drawing *d, struct err *err) {
    if (!read_pass(d, err))
        return false;
    if (!choose(d))
        return err_memory(err, "rows");
    io_chart_draw(&d->chart, (uint32_t)d->o->width * TIMECHART_COLUMNS_PER_PIXEL);
    for (size_t i = 0; i < d->choice.threads.count; i++)
        if (!io_chart_choose(&d->chart, d->chart.threads.items[d->choice.threads.items[i]].tid))
            return err_memory(err, "rows");
    stream_rewind(d->view->recording.stream);
    return read_pass(d, err);
}

/* ---- texts ---- */

static const struct io_thread *thread_of(const struct io_drawing *d, uint32_t row) {
    return &d->chart.threads.items[d->choice.threads.items[row]];
}

static const char *name_of(struct io_drawing *d, uint32_t row) {
    const char *name = calls_thread_name(&d->calls, thread_of(d, row)->tid);
    return name ? name : "";
}

static const char *label(void *ctx, uint32_t row) {
    struct io_drawing *d = ctx;
    snprintf(d->room, sizeof d->room, "%s:%" PRIu32, name_of(d, row), thread_of(d, row)->tid);
    return d->room;
}

static const char *title(void *ctx, uint32_t row) {
    struct io_drawing *d = ctx;
    const struct io_thread *t = thread_of(d, row);
    uint64_t moved_ns = io_thread_moved_ns(t), polls_ns = 0;
    for (unsigned kind = 0; kind < IO_KINDS; kind++)
        polls_ns += 1u << kind == IO_POLLS ? t->ns[kind] : 0;
    snprintf(d->room, sizeof d->room,
             "%s:%" PRIu32 " read or received %" PRIu64 " bytes, wrote or sent %" PRIu64
             ", in %.6f s; waited in polls %.6f s; %" PRIu64 " calls, %" PRIu64 " failed",
             name_of(d, row), t->tid, t->in_bytes, t->out_bytes, (double)moved_ns / 1e9,
             (double)polls_ns / 1e9, t->calls, t->failed);
    return d->room;
}

static bool highlight(void *ctx, uint32_t row) {
    struct io_drawing *d = ctx;
    return d->o->highlight && strcmp(name_of(d, row), d->o->highlight) == 0;
}

static void write_svg(struct io_drawing *d) {
    char note[160], unknown[64] = "";
    size_t n = d->choice.threads.count;
    if (d->chart.unknown)
        snprintf(unknown, sizeof unknown, "; %" PRIu64 " calls whose times are not known", d->chart.unknown);
    snprintf(note, sizeof note, "%zu of %zu threads%s%s", n, d->choice.of,
             n < d->choice.of ? ", those with the longest input and output" : "", unknown);
    struct timechart_svg svg = {
        .chart = &d->chart.span,
        .io = &d->chart,
        .width = (unsigned)d->o->width,
        .groups = d->choice.groups.items,
        .group_count = d->choice.groups.count,
        .ctx = d,
        .label = label,
        .title = title,
        .highlight = highlight,
        .note = note,
    };
    timechart_svg_write(&svg, &d->view->out);
}

bool timechart_draw_io(struct event_view *v, const struct timechart_options *o, uint64_t *begin_ns,
                       uint64_t *end_ns, struct err *err) {
    struct io_drawing d = {.o = o, .view = v};
    io_chart_init(&d.chart);
    d.chart.skip_again = o->io_skip_again;
    d.chart.least_ns = o->io_least_ns;
    d.chart.merge_ns = o->io_merge_ns;
    open_events(&d.events, v);
    bool ok = io_events_update(&d.events, err);
    if (ok && !io_events_any(&d.events))
        ok = err_set(err, ERR_ABSENT, stream_path(v->recording.stream),
                     "nothing about input and output was recorded: use 'sonde timechart record -I'");
    ok = ok && read_all(&d, err);
    if (ok)
        write_svg(&d);
    *begin_ns = d.chart.begin_ns;
    *end_ns = d.chart.end_ns;
    io_events_fini(&d.events);
    calls_fini(&d.calls);
    io_chart_fini(&d.chart);
    timechart_choice_fini(&d.choice);
    return ok;
}
