/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>

#include "count/rate.h"
#include "view/stat/stat_internal.h"

/* Widths as the two were seen to print them. */
const struct stat_columns STAT_COLUMNS_7 = {
    .name = 32,
    .metric = 37,
    .key = {0, 6, 18, 20, 22, 12, 6, 6, 24, 24, 24},
    .counters = "ctrs",
    .counters_key = "counters",
    .cpu = "cpu",
};
const struct stat_columns STAT_COLUMNS_6 = {
    .name = 32,
    .metric = 34,
    .key = {0, 10, 15, 20, 22, 12, 6, 6, 25, 25, 25},
    .counters = "cpus",
    .counters_key = "aggregate-number",
    .cpu = "CPU",
    .short_table = true,
    .csv_blanks = true,
    .json_numbers = true,
};

static unsigned used_metrics(const struct stat_row *r, struct stat_metric out[STAT_METRICS_MAX]) {
    const struct metric_set *set = r->view->metrics;
    unsigned n = 0;
    for (size_t i = 0; i < set->uses.count && n < STAT_METRICS_MAX; i++) {
        const struct metric_use *u = &set->uses.items[i];
        if (u->shown_at == r->event)
            out[n++] = (struct stat_metric){metric_use_value(set, u, r->counts, r->key), u->unit,
                                            u->metric->name, 1, false};
    }
    return n;
}

unsigned stat_row_metrics(const struct stat_row *r, struct stat_metric out[STAT_METRICS_MAX]) {
    if (r->view->metrics)
        return used_metrics(r, out);
    struct count_rate rates[COUNT_RATES_MAX];
    unsigned n = count_rates(r->counts, r->key, r->event, rates);
    for (unsigned i = 0; i < n; i++)
        out[i] = (struct stat_metric){rates[i].value, rates[i].unit, NULL,
                                      rates[i].form == COUNT_RATE_THREE ? 3 : 2,
                                      rates[i].form == COUNT_RATE_PERCENT};
    return n;
}

void stat_metric_label(const struct stat_metric *m, char out[STAT_LABEL]) {
    if (m->name)
        snprintf(out, STAT_LABEL, "%s  %s", m->unit, m->name);
    else
        snprintf(out, STAT_LABEL, "%s", m->unit);
}

/* Puts `between` between groups of three digits, from the right; what does not fit is left as it is. */
static void group_digits(char *text, size_t room, const char *between) {
    size_t n = strlen(text), digits = strcspn(text, "."), len = strlen(between);
    for (size_t at = digits; len && at > 3; at -= 3) {
        if (n + len >= room || text[at - 4] == '-')
            return;
        memmove(text + at - 3 + len, text + at - 3, n - (at - 3) + 1);
        memcpy(text + at - 3, between, len);
        n += len;
    }
}

void stat_count_text(const struct stat_row *r, char out[STAT_COUNT_ROOM]) {
    const struct count_cell *c = counts_cell(r->counts, r->key, r->event);
    const struct count_event *e = &r->counts->events[r->event];
    if (c->state != COUNT_COUNTED) {
        snprintf(out, STAT_COUNT_ROOM, "%s",
                 c->state == COUNT_NOT_SUPPORTED ? "<not supported>" : "<not counted>");
        return;
    }
    snprintf(out, STAT_COUNT_ROOM, "%.*f", e->scale != 1 ? 2 : 0, c->value * e->scale);
    if (r->view->form == STAT_TEXT)
        group_digits(out, STAT_COUNT_ROOM, r->view->thousands);
}

double stat_running_percent(const struct count_cell *c) {
    return c->enabled_ns > 0 ? 100 * c->running_ns / c->enabled_ns : 100;
}

static void print_row(const struct stat_row *r, struct out *o) {
    static void (*const PRINT[])(const struct stat_row *, struct out *) = {
        [STAT_TEXT] = stat_text_row, [STAT_CSV] = stat_csv_row, [STAT_JSON] = stat_json_row};
    if (counts_cell(r->counts, r->key, r->event)->state != COUNT_NONE)
        PRINT[r->view->form](r, o);
}

void stat_print_rows(const struct stat_view *v, const struct counts *c, bool sums, struct out *o) {
    size_t keys = c->keys.count, events = c->event_count;
    bool by_event = c->level == COUNT_CPU || c->level >= COUNT_THREAD;
    if (v->metric_only) {
        stat_metric_only(v, c, sums, o);
        return;
    }
    for (size_t i = 0; i < keys * events; i++) {
        struct stat_row r = {v, c, by_event ? i % keys : i / events, by_event ? i / keys : i % events, sums};
        print_row(&r, o);
    }
}

/* --- titles and times --- */

void stat_print_title(const struct stat_view *v, const char *what, struct out *o) {
    if (v->form != STAT_TEXT)
        return;
    out_printf(o, "\n Performance counter stats for %s", what);
    if (v->runs > 1)
        out_printf(o, " (%zu runs)", v->runs);
    out_str(o, ":\n\n");
}

/* How many decimals tell something: two digits of the deviation, as 6.x has it. */
static int decimals(const struct stat_view *v, double deviation_s) {
    if (!v->columns->short_table)
        return 9;
    int n = deviation_s > 0 ? (int)ceil(1 - log10(deviation_s)) + 1 : 9;
    return n < 1 ? 1 : n > 9 ? 9 : n;
}

static void print_table(const struct stat_times *t, double mean, int digits, struct out *o) {
    enum { BARS_MAX = 60, PER_BAR = 5 };
    int indent = 18 - digits - 2;
    out_printf(o, "%*s# Table of individual measurements:\n", indent, "");
    for (size_t i = 0; i < t->runs; i++) {
        double run = t->elapsed_ns[i] / 1e9, off = run - mean;
        double bars = run > 0 ? floor(100 * fabs(off) / run / PER_BAR) + 1 : 1;
        out_printf(o, "%*s%.*f (%+.*f) ", indent, "", digits, run, digits, off);
        out_fill(o, '#', bars < BARS_MAX ? (size_t)bars : BARS_MAX);
        out_char(o, '\n');
    }
    out_printf(o, "\n%*s# Final result:\n", indent, "");
}

void stat_print_times(const struct stat_view *v, const struct counts *c, const struct stat_times *t,
                      struct out *o) {
    if (v->form != STAT_TEXT)
        return;
    if (c->event_count)
        out_char(o, '\n');
    if (t->runs > 1) {
        double deviation, mean = count_mean(t->elapsed_ns, t->runs, &deviation) / 1e9;
        deviation /= 1e9;
        int digits = decimals(v, deviation);
        if (t->table)
            print_table(t, mean, digits, o);
        out_printf(o, "%*s%.*f +- %.*f seconds time elapsed  ( +-%6.2f%% )\n\n", 18 - digits - 2, "", digits,
                   mean, digits, deviation, mean > 0 ? 100 * deviation / mean : 0.0);
        return;
    }
    out_printf(o, " %17.9f seconds time elapsed\n\n", c->elapsed_ns / 1e9);
    if (t->command)
        out_printf(o, " %17.9f seconds user\n %17.9f seconds sys\n\n\n", c->user_ns / 1e9,
                   c->system_ns / 1e9);
}

void stat_print_interval_heading(const struct stat_view *v, const struct counts *c, struct out *o) {
    static const char *const LEVELS[] = {"",       "",     "core",     "cluster", "cache", "die",
                                         "socket", "node", "comm-pid", "comm",    "cgroup"};
    const struct stat_columns *w = v->columns;
    int width = (int)w->key[c->level];
    if (v->form != STAT_TEXT)
        return;
    out_str(o, "#           time ");
    if (c->level == COUNT_CPU)
        out_printf(o, "%-*s ", width, w->cpu);
    else if (c->level >= COUNT_THREAD)
        out_printf(o, "%*s%*s ", c->level == COUNT_THREAD ? 20 : 16, LEVELS[c->level],
                   width - (c->level == COUNT_THREAD ? 20 : 16), "");
    else if (c->level != COUNT_ALL)
        out_printf(o, "%-*s %s ", width, LEVELS[c->level], w->counters);
    if (v->metric_only)
        stat_metric_only_heading(v, c, o);
    else
        out_str(o, "            counts unit events\n");
}
