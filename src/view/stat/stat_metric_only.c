/* SPDX-License-Identifier: Apache-2.0 */
/* --metric-only: a line for each key, with what was computed and nothing of what was counted. */
#include <math.h>
#include <stdio.h>

#include "base/text/json.h"
#include "view/stat/stat_internal.h"

enum { COLUMN = 20 };

typedef void column_fn(const struct stat_row *r, const struct stat_metric *m, bool first, struct out *o);

/* All metrics of a key, in the order of their events. */
static void each(const struct stat_row *of, bool first, column_fn *fn, struct out *o) {
    const struct counts *c = of->counts;
    for (size_t e = 0; e < c->event_count; e++) {
        struct stat_row r = {of->view, c, of->key, e, of->sums};
        struct stat_metric metrics[STAT_METRICS_MAX];
        unsigned n = stat_row_metrics(&r, metrics);
        for (unsigned i = 0; i < n; i++, first = false)
            fn(&r, &metrics[i], first, o);
    }
}

static int width_of(const char *label) {
    int n = (int)strlen(label);
    return n > COLUMN ? n : COLUMN;
}

static void text_name(const struct stat_row *r, const struct stat_metric *m, bool first, struct out *o) {
    char label[STAT_LABEL];
    (void)r, (void)first;
    stat_metric_label(m, label);
    out_printf(o, "%*s ", width_of(label), label);
}

static void text_value(const struct stat_row *r, const struct stat_metric *m, bool first, struct out *o) {
    char label[STAT_LABEL], value[64] = "";
    (void)r, (void)first;
    stat_metric_label(m, label);
    if (!isnan(m->value))
        snprintf(value, sizeof value, "%.*f", (int)m->digits, m->value);
    out_printf(o, "%*s ", width_of(label), value);
}

static void csv_name(const struct stat_row *r, const struct stat_metric *m, bool first, struct out *o) {
    char label[STAT_LABEL];
    (void)first;
    stat_metric_label(m, label);
    out_printf(o, "%s%s", label, r->view->separator);
}

static void csv_value(const struct stat_row *r, const struct stat_metric *m, bool first, struct out *o) {
    (void)first;
    if (!isnan(m->value))
        out_printf(o, "%.*f", (int)m->digits, m->value);
    out_str(o, r->view->separator);
}

static void json_value(const struct stat_row *r, const struct stat_metric *m, bool first, struct out *o) {
    char label[STAT_LABEL];
    struct json j = {.out = o};
    (void)r;
    stat_metric_label(m, label);
    out_str(o, first ? "" : ", ");
    json_text(&j, NULL, label);
    if (isnan(m->value))
        out_str(o, " : \"\"");
    else
        out_printf(o, " : \"%.*f\"", (int)m->digits, m->value);
}

void stat_metric_only_heading(const struct stat_view *v, const struct counts *c, struct out *o) {
    if (!c->keys.count || v->form == STAT_JSON)
        return;
    struct stat_row r = {v, c, 0, 0, false};
    each(&r, true, v->form == STAT_TEXT ? text_name : csv_name, o);
    out_char(o, '\n');
}

/* Over rows that begin with a key stands nothing. */
static void text_heading(const struct stat_view *v, const struct counts *c, struct out *o) {
    int key = (int)v->columns->key[c->level];
    if (c->level == COUNT_ALL)
        key = 0;
    else
        key += c->level == COUNT_CPU || c->level >= COUNT_THREAD ? 1 : 6;
    out_printf(o, "%*s", key, "");
    stat_metric_only_heading(v, c, o);
}

void stat_metric_only(const struct stat_view *v, const struct counts *c, bool sums, struct out *o) {
    if (v->form == STAT_TEXT && (!v->intervals || sums))
        text_heading(v, c, o);
    else if (v->form == STAT_CSV && !v->intervals)
        stat_metric_only_heading(v, c, o);
    for (size_t k = 0; k < c->keys.count; k++) {
        struct stat_row r = {v, c, k, 0, sums};
        switch (v->form) {
        case STAT_TEXT:
            stat_text_begin(&r, o);
            each(&r, true, text_value, o);
            break;
        case STAT_CSV:
            stat_csv_begin(&r, o);
            each(&r, true, csv_value, o);
            break;
        case STAT_JSON:
            each(&r, !stat_json_begin(&r, o), json_value, o);
            out_char(o, '}');
        }
        out_char(o, '\n');
    }
}
