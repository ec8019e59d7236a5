/* SPDX-License-Identifier: Apache-2.0 */
#include "view/diff/diff_cells.h"

#include <inttypes.h>
#include <stdio.h>

enum { FORMULA_WIDTH = 70, BLOCK_WIDTH = 70, HISTOGRAM_WIDTH = 17 };

/* ---- which rows ---- */

bool diff_cells_listed(const struct diff_cells *p, uint32_t row) {
    const struct compare *c = p->c;
    bool paired = false;
    for (uint32_t s = 1; s < c->sides; s++)
        paired |= compare_cell_at(c, row, s)->there;
    if (p->v->blocks && !p->v->blocks->shown.items[row])
        return false;
    return !p->v->baseline_only || (paired && compare_cell_at(c, row, 0)->there);
}

/* ---- columns ---- */

static bool add(struct diff_cells *p, enum diff_measure what, uint32_t side, const char *title,
                unsigned width) {
    struct diff_column *c = vec_push(&p->columns);
    if (!c)
        return false;
    c->what = what;
    c->side = side;
    if (p->c->sides > 2)
        snprintf(c->title, sizeof c->title, "%s/%" PRIu32, title, side);
    else
        snprintf(c->title, sizeof c->title, "%s", title);
    c->width = strlen(c->title) > width ? (unsigned)strlen(c->title) : width;
    return true;
}

static bool add_side(struct diff_cells *p, uint32_t side) {
    static const struct {
        const char *title;
        unsigned width;
    } numbers[] = {[COMPARE_DELTA_ABS] = {"Delta Abs", 7},
                   [COMPARE_DELTA] = {"Delta", 7},
                   [COMPARE_RATIO] = {"Ratio", DIFF_NUMBER_WIDTH},
                   [COMPARE_WDIFF] = {"Weighted diff", DIFF_NUMBER_WIDTH}};
    enum compare_method method = p->v->how.method;
    return (p->v->blocks
                ? add(p, DIFF_BLOCK, side, "[Program Block Range] Cycles Diff", BLOCK_WIDTH) &&
                      (!p->v->histogram || add(p, DIFF_HISTOGRAM, side, "stddev/Hist", HISTOGRAM_WIDTH))
                : add(p, DIFF_NUMBER, side, numbers[method].title, numbers[method].width)) &&
           (!p->v->formulas || add(p, DIFF_FORMULA, side, "Formula", FORMULA_WIDTH)) &&
           (!p->v->periods || add(p, DIFF_PERIOD, side, "Period", DIFF_NUMBER_WIDTH));
}

static bool is_told(const struct diff_view *v, const struct profile_key *key) {
    return ((key->id == PROFILE_COMM || key->id == PROFILE_COMM_NODIGIT) && v->only_comm) ||
           (key->id == PROFILE_DSO && v->only_dso) || (key->id == PROFILE_SYMBOL && v->only_symbol);
}

/* Returns the width of a key's column: of all rows or, if rows are left out, of those that are shown. */
static unsigned width_of(const struct diff_cells *p, uint32_t key) {
    const struct compare *c = p->c;
    size_t widest = strlen(c->keys.items[key]->title);
    if (!p->v->baseline_only && c->widths.items[key] > widest)
        return c->widths.items[key];
    for (uint32_t i = 0; p->v->baseline_only && i < c->rows.count; i++) {
        size_t len = diff_cells_listed(p, i) ? strlen(c->rows.items[i].texts[key]) : 0;
        widest = len > widest ? len : widest;
    }
    return (unsigned)widest;
}

/* A key whose only value a filter fixes is left out, unless no key would be left. */
static bool add_keys(struct diff_cells *p) {
    const struct compare *c = p->c;
    bool keep = true;
    for (size_t i = 0; i < c->keys.count; i++)
        keep &= is_told(p->v, c->keys.items[i]->key);
    for (uint32_t i = 0; i < c->keys.count; i++) {
        if (!keep && is_told(p->v, c->keys.items[i]->key))
            continue;
        struct diff_column *column = vec_push(&p->columns);
        if (!column)
            return false;
        column->what = DIFF_KEY;
        column->key = i;
        column->is = c->keys.items[i];
        column->last = i + 1 == c->keys.count;
        column->width = width_of(p, i);
    }
    return true;
}

bool diff_cells_make(struct diff_cells *p) {
    bool ok = add(p, DIFF_BASE, 0, "Baseline", 8) &&
              (!p->v->periods || add(p, DIFF_BASE_PERIOD, 0, "Base period", DIFF_NUMBER_WIDTH));
    for (uint32_t side = 1; ok && side < p->c->sides; side++)
        ok = add_side(p, side);
    return ok && add_keys(p);
}

/* ---- cells ---- */

static double share_of(const struct compare *c, const struct compare_cell *base) {
    return c->totals.items[0] ? 100.0 * (double)base->period / (double)c->totals.items[0] : 0;
}

static void put_number(const struct diff_cells *p, const struct compare_cell *cells, uint32_t side,
                       char *text) {
    double number;
    bool has = compare_compute_cells(p->c, &p->v->how, cells, side, &number);
    if (!cells[side].there)
        *text = 0;
    else if (!has)
        snprintf(text, DIFF_TEXT, "N/A");
    else if (p->v->how.method == COMPARE_RATIO)
        snprintf(text, DIFF_TEXT, "%*.6f", DIFF_NUMBER_WIDTH, number);
    else if (p->v->how.method == COMPARE_WDIFF)
        snprintf(text, DIFF_TEXT, "%*" PRId64, DIFF_NUMBER_WIDTH, (int64_t)number);
    else
        snprintf(text, DIFF_TEXT, "%+.2f%%", number);
}

static void put_formula(const struct diff_cells *p, const struct compare_cell *cells, uint32_t side,
                        char *text) {
    const struct compare *c = p->c;
    const struct compare_cell *base = &cells[0], *other = &cells[side];
    *text = 0;
    if (!other->there)
        return;
    switch (p->v->how.method) {
    case COMPARE_DELTA_ABS:
    case COMPARE_DELTA:
        snprintf(text, DIFF_TEXT, "(%" PRIu64 " * 100 / %" PRIu64 ") - (%" PRIu64 " * 100 / %" PRIu64 ")",
                 other->period, c->totals.items[side], base->period, c->totals.items[0]);
        break;
    case COMPARE_RATIO:
        snprintf(text, DIFF_TEXT, "%" PRIu64 " / %" PRIu64, other->period, base->period);
        break;
    case COMPARE_WDIFF:
        snprintf(text, DIFF_TEXT, "(%" PRIu64 " * %" PRId64 ") - (%" PRIu64 " * %" PRId64 ")", other->period,
                 p->v->how.new_weight, base->period, p->v->how.base_weight);
        break;
    }
}

void diff_cells_put(const struct diff_cells *p, const struct compare_cell *cells, const struct diff_column *c,
                    char *text) {
    const struct compare_cell *cell = &cells[c->side];
    *text = 0;
    switch (c->what) {
    case DIFF_BASE:
        if (cell->there)
            snprintf(text, DIFF_TEXT, p->v->separator ? "%.2f" : "%.2f%%", share_of(p->c, cell));
        break;
    case DIFF_BASE_PERIOD:
        snprintf(text, DIFF_TEXT, "%" PRIu64, cell->period);
        break;
    case DIFF_NUMBER:
        put_number(p, cells, c->side, text);
        break;
    case DIFF_FORMULA:
        if (!p->v->blocks)
            put_formula(p, cells, c->side, text);
        break;
    case DIFF_PERIOD:
        if (cell->there)
            snprintf(text, DIFF_TEXT, "%" PRIu64, cell->period);
        break;
    case DIFF_BLOCK:
    case DIFF_HISTOGRAM:
    case DIFF_KEY:
        break;
    }
}

const struct compare_block *diff_cells_block(const struct diff_cells *p, uint32_t row, uint32_t line,
                                             uint32_t side) {
    const struct compare_blocks *b = p->v->blocks;
    size_t i = b->starts.items[row], end = b->starts.items[row + 1];
    while (i < end && b->list.items[i].side < side)
        i++;
    i += line;
    return i < end && b->list.items[i].side == side ? &b->list.items[i] : NULL;
}

uint32_t diff_cells_lines(const struct diff_cells *p, uint32_t row) {
    const struct compare_blocks *b = p->v->blocks;
    uint32_t most = 1, lines = 0;
    for (size_t i = b ? b->starts.items[row] : 0; b && i < b->starts.items[row + 1]; i++) {
        bool same = lines && b->list.items[i].side == b->list.items[i - 1].side;
        lines = same ? lines + 1 : 1;
        most = lines > most ? lines : most;
    }
    return most;
}

void diff_cells_fini(struct diff_cells *p) {
    vec_fini(&p->columns);
}
