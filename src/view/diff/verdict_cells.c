/* SPDX-License-Identifier: Apache-2.0 */
#include "view/diff/verdict_cells.h"

#include <math.h>
#include <stdio.h>

/* ---- units ---- */

/* How costs are scaled for display, and the unit that they have then. */
struct unit {
    double scale;
    const char *name;
};

static struct unit unit_of(const struct verdict_view *v) {
    switch (v->by) {
    case JUDGE_BY_SAMPLES:
        return (struct unit){100, "% of all samples"};
    case JUDGE_BY_TIME:
        return v->clock ? (struct unit){1e3, "ms in a second"} : (struct unit){1e9, "events in a second"};
    case JUDGE_BY_REQUESTS:
        return v->clock ? (struct unit){1e-3, "us for one request"}
                        : (struct unit){1, "events for one request"};
    case JUDGE_BY_EVENT:
        return (struct unit){1, "events for one of another"};
    }
    return (struct unit){1, ""};
}

static void put_cost(const struct verdict_view *v, double cost, char *text) {
    double shown = cost * unit_of(v).scale;
    if (v->by == JUDGE_BY_SAMPLES)
        snprintf(text, VERDICT_TEXT, "%.2f%%", shown);
    else
        snprintf(text, VERDICT_TEXT, fabs(shown) >= 1000 ? "%.0f" : "%.4g", shown);
}

static void put_change(const struct verdict_view *v, double change, char *text) {
    double shown = change * unit_of(v).scale;
    if (v->by == JUDGE_BY_SAMPLES)
        snprintf(text, VERDICT_TEXT, "%+.2f", shown);
    else
        snprintf(text, VERDICT_TEXT, fabs(shown) >= 1000 ? "%+.0f" : "%+.3g", shown);
}

const char *verdict_unit(const struct verdict_view *v) {
    return unit_of(v).name;
}

/* ---- columns ---- */

const struct verdict_column verdict_columns[VERDICT_COLUMNS] = {
    [VERDICT_BASE] = {"Base", 10, true},        [VERDICT_NEW] = {"New", 10, true},
    [VERDICT_CHANGE] = {"Change", 10, true},    [VERDICT_INTERVAL] = {"interval", 22, true},
    [VERDICT_RELATIVE] = {"Relative", 9, true}, [VERDICT_SAYS] = {"Proved", 8, false},
};

void verdict_column_title(const struct verdict_view *v, unsigned column, char *title, size_t size) {
    if (column == VERDICT_INTERVAL)
        snprintf(title, size, "%g %% interval", v->level * 100);
    else
        snprintf(title, size, "%s", verdict_columns[column].title);
}

bool verdict_is_told(const struct verdict_view *v, size_t key) {
    unsigned id = v->compare->keys.items[key]->key->id;
    return ((id == PROFILE_COMM || id == PROFILE_COMM_NODIGIT) && v->only_comm) ||
           (id == PROFILE_DSO && v->only_dso) || (id == PROFILE_SYMBOL && v->only_symbol);
}

/* ---- rows ---- */

static const char *const says[] = {
    [INTERVAL_TOO_FEW] = "few", [INTERVAL_NOTHING] = "~", [INTERVAL_LESS] = "less", [INTERVAL_MORE] = "more"};

/* Puts one of the columns up to the change, of what a row, or a part of it, cost. */
static void put_costs(const struct verdict_view *v, double base, double now, unsigned column, char *text) {
    if (column == VERDICT_CHANGE)
        put_change(v, now - base, text);
    else
        put_cost(v, column == VERDICT_BASE ? base : now, text);
}

static void put_interval(const struct verdict_view *v, const struct interval *r, char *text) {
    char low[VERDICT_TEXT], high[VERDICT_TEXT];
    *text = '\0';
    if (r->says == INTERVAL_TOO_FEW)
        return;
    put_change(v, r->low, low);
    put_change(v, r->high, high);
    snprintf(text, VERDICT_CELL, "%s to %s", low, high);
}

static void put_relative(const struct interval *r, char *text) {
    double share = r->base > 0 ? r->now / r->base : 0;
    if (!(r->base > 0 && r->now > 0))
        snprintf(text, VERDICT_CELL, r->base > 0 ? "gone" : "new");
    else if (fabs(share - 1) < 10)
        snprintf(text, VERDICT_CELL, "%+.1f%%", (share - 1) * 100);
    else
        snprintf(text, VERDICT_CELL, "x%.3g", share);
}

void verdict_cell_put(const struct verdict_view *v, uint32_t row, unsigned column, char *text) {
    const struct interval *r = &v->judgement->rows.items[row];
    if (column < VERDICT_INTERVAL)
        put_costs(v, r->base, r->now, column, text);
    else if (column == VERDICT_INTERVAL)
        put_interval(v, r, text);
    else if (column == VERDICT_RELATIVE)
        put_relative(r, text);
    else
        snprintf(text, VERDICT_CELL, "%s", says[r->says]);
}

/* Sums of a row, or of a caller of it, on both sides. */
static void sum_sides(const struct verdict_view *v, const struct compare_cell *cells, double *sums) {
    sums[0] = sums[1] = 0;
    for (uint32_t s = 0; s < v->compare->sides; s++)
        sums[v->files[s].is_new] += (double)cells[s].period;
}

void verdict_cell_put_part(const struct verdict_view *v, uint32_t row, const struct compare_cell *cells,
                           unsigned column, char *text) {
    const struct interval *r = &v->judgement->rows.items[row];
    double whole[2], part[2];
    *text = '\0';
    if (column >= VERDICT_INTERVAL)
        return;
    sum_sides(v, compare_cell_at(v->compare, row, 0), whole);
    sum_sides(v, cells, part);
    put_costs(v, whole[0] > 0 ? r->base * part[0] / whole[0] : 0,
              whole[1] > 0 ? r->now * part[1] / whole[1] : 0, column, text);
}
