/* SPDX-License-Identifier: Apache-2.0 */
#include "view/trace/trace_summary.h"

#include <inttypes.h>

#include "base/text/json.h"
#include "calls/values.h"

static void put_name(const struct calls_summary *s, const struct calls_group *g, struct out *out) {
    const char *name = g->name == STRPOOL_NONE ? NULL : strpool_text(&s->names, g->name);
    if (name)
        out_plain(out, name, strlen(name));
    else
        out_printf(out, ":%" PRIu64, g->key);
}

static double ms(uint64_t ns) {
    return (double)ns / 1e6;
}

static const char *call_name(const struct calls *c, const struct calls_stat *t, char room[CALLS_NAME_MAX]) {
    const struct calls_call call = {.number = t->number, .compat = t->compat};
    return calls_values_name(c, &call, room);
}

static void put_stat(const struct calls *c, const struct calls_stat *t, bool errnos, struct out *out) {
    char room[CALLS_NAME_MAX];
    out_printf(out, "   %-15s %8" PRIu64 " %6" PRIu64, call_name(c, t, room), t->count, t->errors);
    if (t->timed)
        out_printf(out, " %9.3f %9.3f %9.3f %9.3f %9.2f%%\n", ms(t->total_ns), ms(t->min_ns),
                   ms(t->total_ns) / (double)t->timed, ms(t->max_ns), calls_stat_deviation(t));
    else
        out_printf(out, " %9s %9s %9s %9s %10s\n", "-", "-", "-", "-", "-");
    for (size_t i = 0; errnos && i < t->errnos.count; i++) {
        const char *name = calls_errno_name(t->errnos.items[i].number);
        if (name)
            out_printf(out, "\t\t\t\t%s: %" PRIu64 "\n", name, t->errnos.items[i].count);
        else
            out_printf(out, "\t\t\t\t%" PRIu32 ": %" PRIu64 "\n", t->errnos.items[i].number,
                       t->errnos.items[i].count);
    }
}

void trace_summary_text(const struct calls_summary *s, const struct calls *c,
                        const struct trace_summary_options *o, struct out *out) {
    out_str(out, "\n Summary of events:\n\n");
    for (size_t i = 0; i < s->groups.count; i++) {
        const struct calls_group *g = &s->groups.items[i];
        double percent = s->events ? 100.0 * (double)g->events / (double)s->events : 0;
        out_char(out, ' ');
        if (o->mode == TRACE_SUMMARY_TOTAL)
            out_printf(out, "total, %" PRIu64 " events\n\n", g->events);
        else
            put_name(s, g, out);
        if (o->mode == TRACE_SUMMARY_THREAD)
            out_printf(out, " (%" PRIu64 ")", g->key);
        if (o->mode != TRACE_SUMMARY_TOTAL)
            out_printf(out, ", %" PRIu64 " events, %.1f%%\n\n", g->events, percent);
        out_str(out,
                "   syscall            calls  errors  total       min       avg       max       stddev\n"
                "                                     (msec)    (msec)    (msec)    (msec)        (%)\n"
                "   --------------- --------  ------ -------- --------- --------- ---------     ------\n");
        for (size_t k = 0; k < g->stats.count && (!o->most || k < o->most); k++)
            put_stat(c, &g->stats.items[k], o->errnos, out);
        out_str(out, "\n\n");
    }
}

static void put_json_stat(struct json *j, const struct calls *c, const struct calls_stat *t) {
    char room[CALLS_NAME_MAX];
    json_open(j, NULL, '{');
    json_text(j, "syscall", call_name(c, t, room));
    json_int(j, "number", t->number);
    if (t->compat)
        json_bool(j, "compat", true);
    json_number(j, "calls", t->count);
    json_number(j, "errors", t->errors);
    json_number(j, "timed", t->timed);
    if (t->timed) {
        json_number(j, "total_ns", t->total_ns);
        json_number(j, "min_ns", t->min_ns);
        json_number(j, "max_ns", t->max_ns);
        json_real(j, "stddev_percent", calls_stat_deviation(t));
    }
    json_open(j, "errnos", '[');
    for (size_t i = 0; i < t->errnos.count; i++) {
        json_open(j, NULL, '{');
        json_number(j, "number", t->errnos.items[i].number);
        const char *name = calls_errno_name(t->errnos.items[i].number);
        if (name)
            json_text(j, "name", name);
        json_number(j, "count", t->errnos.items[i].count);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_close(j, '}');
}

void trace_summary_json(const struct calls_summary *s, const struct calls *c,
                        const struct trace_summary_options *o, struct out *out) {
    static const char *const MODES[] = {"thread", "total", "cgroup"};
    struct json j = {.out = out};
    json_open(&j, NULL, '{');
    json_number(&j, "version", 1);
    json_text(&j, "mode", MODES[o->mode]);
    json_number(&j, "events", s->events);
    json_number(&j, "enter_unseen", c->faults.enter_unseen);
    json_number(&j, "exit_unseen", c->faults.exit_unseen);
    json_number(&j, "losses", c->faults.losses);
    json_open(&j, "groups", '[');
    for (size_t i = 0; i < s->groups.count; i++) {
        const struct calls_group *g = &s->groups.items[i];
        json_open(&j, NULL, '{');
        if (o->mode == TRACE_SUMMARY_THREAD)
            json_number(&j, "tid", g->key);
        else if (o->mode == TRACE_SUMMARY_CGROUP)
            json_number(&j, "cgroup", g->key);
        if (g->name != STRPOOL_NONE)
            json_text(&j, "name", strpool_text(&s->names, g->name));
        json_number(&j, "events", g->events);
        json_open(&j, "syscalls", '[');
        for (size_t k = 0; k < g->stats.count && (!o->most || k < o->most); k++)
            put_json_stat(&j, c, &g->stats.items[k]);
        json_close(&j, ']');
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_close(&j, '}');
    out_char(out, '\n');
}
