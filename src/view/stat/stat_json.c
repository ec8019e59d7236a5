/* SPDX-License-Identifier: Apache-2.0 */
/* A row is an object in a line of its own, with perf's blanks around the colons. */
#include <math.h>
#include <stdio.h>

#include "base/text/json.h"
#include "view/stat/stat_internal.h"

static void put_text(struct out *o, const char *key, const char *text) {
    struct json j = {.out = o};
    out_printf(o, "\"%s\" : ", key);
    json_text(&j, NULL, text);
}

bool stat_json_begin(const struct stat_row *r, struct out *o) {
    static const char *const KEYS[COUNT_LEVELS] = {"",       "cpu",  "core",   "cluster", "cache", "die",
                                                   "socket", "node", "thread", "comm",    "cgroup"};
    const struct counts *c = r->counts;
    const char *text = c->keys.items[r->key].text;
    bool time = r->view->intervals && !r->sums;
    out_char(o, '{');
    if (time)
        out_printf(o, "\"interval\" : %.9f", c->time_ns / 1e9);
    if (c->level == COUNT_ALL)
        return time;
    out_str(o, time ? ", " : "");
    if (c->keys.items[r->key].core)
        put_text(o, KEYS[COUNT_CORE], text);
    else
        put_text(o, KEYS[c->level], c->level == COUNT_CPU ? text + strcspn(text, "0123456789") : text);
    if (c->level != COUNT_CPU && c->level < COUNT_THREAD)
        out_printf(o, ", \"%s\" : %u", r->view->columns->counters_key,
                   counts_cell(c, r->key, r->event)->counters);
    return true;
}

static void put_metric(const struct stat_row *r, const struct stat_metric *m, struct out *o) {
    char label[STAT_LABEL];
    stat_metric_label(m, label);
    out_printf(o, r->view->columns->json_numbers ? "\"metric-value\" : %f, " : "\"metric-value\" : \"%f\", ",
               m->value);
    put_text(o, "metric-unit", label + (*label == ' '));
}

void stat_json_row(const struct stat_row *r, struct out *o) {
    const struct count_cell *c = counts_cell(r->counts, r->key, r->event);
    const struct count_event *e = &r->counts->events[r->event];
    struct stat_metric metrics[STAT_METRICS_MAX];
    char count[STAT_COUNT_ROOM];
    unsigned n = stat_row_metrics(r, metrics), shown = 0;
    out_str(o, stat_json_begin(r, o) ? ", " : "");
    if (c->state == COUNT_COUNTED)
        snprintf(count, sizeof count, "%f", c->value * e->scale);
    else
        stat_count_text(r, count);
    put_text(o, "counter-value", count);
    out_str(o, ", ");
    put_text(o, "unit", e->unit);
    out_str(o, ", ");
    put_text(o, "event", e->name);
    if (e->cgroup) {
        out_str(o, ", ");
        put_text(o, "cgroup", e->cgroup);
    }
    if (r->view->runs > 1)
        out_printf(o, ", \"variance\" : %.2f", fabs(c->spread));
    out_printf(o, ", \"event-runtime\" : %.0f, \"pcnt-running\" : %.2f", c->running_ns,
               stat_running_percent(c));
    for (unsigned i = 0; i < n; i++) {
        if (isnan(metrics[i].value))
            continue;
        if (shown++) {
            out_str(o, "}\n");
            out_str(o, stat_json_begin(r, o) ? ", " : "");
        } else {
            out_str(o, ", ");
        }
        put_metric(r, &metrics[i], o);
    }
    out_str(o, "}\n");
}
