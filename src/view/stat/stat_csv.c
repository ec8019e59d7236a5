/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>

#include "view/stat/stat_internal.h"

void stat_csv_begin(const struct stat_row *r, struct out *o) {
    const struct stat_view *v = r->view;
    const struct counts *c = r->counts;
    if (v->intervals && !r->sums)
        out_printf(o, v->columns->csv_blanks ? " %15.9f%s" : "%.9f%s", c->time_ns / 1e9, v->separator);
    else if (r->sums && v->csv_summary)
        out_printf(o, v->columns->csv_blanks ? "%16s%s" : "%s%s", "summary", v->separator);
    if (c->level == COUNT_ALL)
        return;
    out_printf(o, "%s%s", c->keys.items[r->key].text, v->separator);
    if (c->level != COUNT_CPU && c->level < COUNT_THREAD)
        out_printf(o, "%u%s", counts_cell(c, r->key, r->event)->counters, v->separator);
}

static void put_metric(const struct stat_metric *m, const char *separator, struct out *o) {
    char label[STAT_LABEL];
    stat_metric_label(m, label);
    const char *unit = label + (*label == ' ');
    out_printf(o, "%.*f%s%s\n", (int)m->digits, m->value, separator, unit);
}

void stat_csv_row(const struct stat_row *r, struct out *o) {
    const struct count_cell *c = counts_cell(r->counts, r->key, r->event);
    const struct count_event *e = &r->counts->events[r->event];
    const char *sep = r->view->separator;
    struct stat_metric metrics[STAT_METRICS_MAX];
    char count[STAT_COUNT_ROOM];
    unsigned n = stat_row_metrics(r, metrics), shown = 0;
    stat_csv_begin(r, o);
    stat_count_text(r, count);
    out_printf(o, "%s%s%s%s%s%s", count, sep, e->unit, sep, e->name, sep);
    if (e->cgroup)
        out_printf(o, "%s%s", e->cgroup, sep);
    if (r->view->runs > 1)
        out_printf(o, "%.2f%%%s", fabs(c->spread), sep);
    out_printf(o, "%.0f%s%.2f%s", c->running_ns, sep, stat_running_percent(c), sep);
    for (unsigned i = 0; i < n; i++) {
        if (isnan(metrics[i].value))
            continue;
        if (shown++) { /* the fields before it are empty */
            stat_csv_begin(r, o);
            for (int k = 0; k < 5 + (e->cgroup != NULL) + (r->view->runs > 1); k++)
                out_str(o, sep);
        }
        put_metric(&metrics[i], sep, o);
    }
    if (!shown)
        out_printf(o, "%s\n", sep);
}
