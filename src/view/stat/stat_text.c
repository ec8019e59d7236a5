/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>

#include "view/stat/stat_internal.h"

enum { COUNT_WIDTH = 18, UNIT_WIDTH = 4, CGROUP_WIDTH = 16, COMM_WIDTH = 16 };

/* A thread's name and number stand on either side of one line of hyphens. */
static void put_thread(const struct stat_row *r, const char *text, struct out *o) {
    const char *hyphen = strrchr(text, '-');
    int name = hyphen ? (int)(hyphen - text) : (int)strlen(text);
    int rest = (int)r->view->columns->key[r->counts->level] - COMM_WIDTH;
    out_printf(o, "%*.*s%-*s ", COMM_WIDTH, name, text, rest, hyphen ? hyphen : "");
}

void stat_text_begin(const struct stat_row *r, struct out *o) {
    const struct counts *c = r->counts;
    const char *text = c->keys.items[r->key].text;
    bool core = c->keys.items[r->key].core;
    int width = (int)r->view->columns->key[core ? COUNT_CORE : c->level];
    if (r->view->intervals && !r->sums)
        out_printf(o, " %15.9f ", c->time_ns / 1e9);
    switch (c->level) {
    case COUNT_ALL:
        break;
    case COUNT_CPU:
        out_printf(o, "%-*s ", width, text);
        break;
    case COUNT_THREAD:
        put_thread(r, text, o);
        break;
    case COUNT_COMM:
    case COUNT_CGROUP:
        out_printf(o, "%*s%*s ", COMM_WIDTH, text, width - COMM_WIDTH, "");
        break;
    default:
        out_printf(o, "%-*s %4u ", width, text, counts_cell(c, r->key, r->event)->counters);
    }
}

static int unit_width(const struct counts *c) {
    size_t width = UNIT_WIDTH;
    for (size_t i = 0; i < c->event_count; i++)
        if (strlen(c->events[i].unit) > width)
            width = strlen(c->events[i].unit);
    return (int)width;
}

/* "#    0.414 CPUs utilized          ", as wide as its column at least. */
static void put_metric(const struct stat_row *r, const struct stat_metric *m, struct out *o) {
    char text[STAT_LABEL + 64], label[STAT_LABEL];
    stat_metric_label(m, label);
    if (m->percent)
        snprintf(text, sizeof text, "# %7.*f%% %s", (int)m->digits, m->value, label);
    else if (m->digits == 2)
        snprintf(text, sizeof text, "# %7.*f %s", (int)m->digits, m->value, label);
    else
        snprintf(text, sizeof text, "# %8.*f %s", (int)m->digits, m->value, label);
    out_printf(o, "%-*s", (int)r->view->columns->metric, text);
}

static void put_quality(const struct stat_row *r, struct out *o) {
    const struct count_cell *c = counts_cell(r->counts, r->key, r->event);
    if (c->state != COUNT_COUNTED)
        return;
    if (r->view->runs > 1 && c->spread != 0)
        out_printf(o, "  ( +-%6.2f%% )", fabs(c->spread));
    if (c->running_ns != c->enabled_ns)
        out_printf(o, "  (%.2f%%)", stat_running_percent(c));
}

void stat_text_row(const struct stat_row *r, struct out *o) {
    const struct count_event *e = &r->counts->events[r->event];
    struct stat_metric metrics[STAT_METRICS_MAX];
    char count[STAT_COUNT_ROOM];
    unsigned n = stat_row_metrics(r, metrics), shown = 0;
    int unit = unit_width(r->counts), name = (int)r->view->columns->name;
    stat_text_begin(r, o);
    stat_count_text(r, count);
    out_printf(o, "%*s %-*s %-*s ", COUNT_WIDTH, count, unit, e->unit, name, e->name);
    if (e->cgroup)
        out_printf(o, "%-*s ", CGROUP_WIDTH, e->cgroup);
    for (unsigned i = 0; i < n; i++) {
        if (isnan(metrics[i].value))
            continue;
        if (shown++) {
            out_char(o, '\n');
            stat_text_begin(r, o);
            out_printf(o, "%*s %-*s %-*s ", COUNT_WIDTH, "", unit, "", name, "");
        }
        put_metric(r, &metrics[i], o);
        if (shown == 1)
            put_quality(r, o);
    }
    if (!shown) {
        out_printf(o, "%*s", (int)r->view->columns->metric, "");
        put_quality(r, o);
    }
    out_char(o, '\n');
}
