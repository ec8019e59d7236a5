/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules, as observed:
 *   - measures are right-aligned below right-aligned titles; with -t they are padded at the end, and the
 *     base's percentage has no sign. A weighted difference is 14 wide, whatever the column is
 *   - with more than two files titles end in "/" and the file's number
 *   - keys are as in report
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/vec.h"
#include "view/diff/diff_block.h"
#include "view/diff/diff_view.h"

enum measure { BASE, BASE_PERIOD, NUMBER, BLOCK, HISTOGRAM, FORMULA, PERIOD, KEY };
enum {
    TEXT = 256,
    FORMULA_WIDTH = 70,
    BLOCK_WIDTH = 70,
    HISTOGRAM_WIDTH = 17,
    NUMBER_WIDTH = 14,
    TITLE = 48,
    DEEPEST = 40
};

struct column {
    enum measure what;
    uint32_t side, key;
    const struct profile_column *is; /* of a key */
    bool last;
    unsigned width;
    char title[TITLE];
};

struct printer {
    const struct compare *c;
    const struct diff_view *v;
    VEC(struct column) columns;
    struct compare_callers callers; /* of the current row */
    size_t line;                    /* of the current row, which has several with blocks */
    struct out *out;
    struct err *err;
};

/* ---- columns ---- */

static bool add(struct printer *p, enum measure what, uint32_t side, const char *title, unsigned width) {
    struct column *c = vec_push(&p->columns);
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

static bool add_side(struct printer *p, uint32_t side) {
    static const struct {
        const char *title;
        unsigned width;
    } numbers[] = {[COMPARE_DELTA_ABS] = {"Delta Abs", 7},
                   [COMPARE_DELTA] = {"Delta", 7},
                   [COMPARE_RATIO] = {"Ratio", NUMBER_WIDTH},
                   [COMPARE_WDIFF] = {"Weighted diff", NUMBER_WIDTH}};
    enum compare_method method = p->v->how.method;
    return (p->v->blocks ? add(p, BLOCK, side, "[Program Block Range] Cycles Diff", BLOCK_WIDTH) &&
                               (!p->v->histogram || add(p, HISTOGRAM, side, "stddev/Hist", HISTOGRAM_WIDTH))
                         : add(p, NUMBER, side, numbers[method].title, numbers[method].width)) &&
           (!p->v->formulas || add(p, FORMULA, side, "Formula", FORMULA_WIDTH)) &&
           (!p->v->periods || add(p, PERIOD, side, "Period", NUMBER_WIDTH));
}

static bool is_told(const struct diff_view *v, const struct profile_key *key) {
    return ((key->id == PROFILE_COMM || key->id == PROFILE_COMM_NODIGIT) && v->only_comm) ||
           (key->id == PROFILE_DSO && v->only_dso) || (key->id == PROFILE_SYMBOL && v->only_symbol);
}

static bool is_listed(const struct printer *p, uint32_t row);

/* Returns the width of a key's column: of all rows or, if rows are left out, of those that are shown. */
static unsigned width_of(const struct printer *p, uint32_t key) {
    const struct compare *c = p->c;
    size_t widest = strlen(c->keys.items[key]->title);
    if (!p->v->baseline_only && c->widths.items[key] > widest)
        return c->widths.items[key];
    for (uint32_t i = 0; p->v->baseline_only && i < c->rows.count; i++) {
        size_t len = is_listed(p, i) ? strlen(c->rows.items[i].texts[key]) : 0;
        widest = len > widest ? len : widest;
    }
    return (unsigned)widest;
}

/* A key whose only value a filter fixes is left out, unless no key would be left. */
static bool add_keys(struct printer *p) {
    const struct compare *c = p->c;
    bool keep = true;
    for (size_t i = 0; i < c->keys.count; i++)
        keep &= is_told(p->v, c->keys.items[i]->key);
    for (uint32_t i = 0; i < c->keys.count; i++) {
        if (!keep && is_told(p->v, c->keys.items[i]->key))
            continue;
        struct column *column = vec_push(&p->columns);
        if (!column)
            return false;
        column->what = KEY;
        column->key = i;
        column->is = c->keys.items[i];
        column->last = i + 1 == c->keys.count;
        column->width = width_of(p, i);
    }
    return true;
}

static bool make_columns(struct printer *p) {
    bool ok = add(p, BASE, 0, "Baseline", 8) &&
              (!p->v->periods || add(p, BASE_PERIOD, 0, "Base period", NUMBER_WIDTH));
    for (uint32_t side = 1; ok && side < p->c->sides; side++)
        ok = add_side(p, side);
    return ok && add_keys(p);
}

/* ---- titles ---- */

static void print_titles(const struct printer *p, const char *event) {
    const struct diff_view *v = p->v;
    out_printf(p->out, "# Event '%s'\n#\n", event);
    if (p->c->sides > 2 || v->verbose) {
        out_str(p->out, "# Data files:\n");
        for (uint32_t s = 0; s < p->c->sides; s++)
            out_printf(p->out, "#  [%" PRIu32 "] %s %s\n", s, v->files[s], s ? "" : "(Baseline)");
        out_str(p->out, "#\n");
    }
    out_str(p->out, "# ");
    for (size_t i = 0; i < p->columns.count; i++) {
        const struct column *c = &p->columns.items[i];
        const char *title = c->is ? c->is->title : c->title;
        out_str(p->out, !i ? "" : v->separator ? v->separator : "  ");
        if (c->is)
            out_left(p->out, title, strlen(title), c->width);
        else
            out_right(p->out, title, strlen(title), c->width);
    }
    out_str(p->out, "\n");
    if (v->separator)
        return;
    out_str(p->out, "# ");
    for (size_t i = 0; i < p->columns.count; i++) {
        out_str(p->out, i ? "  " : "");
        out_fill(p->out, '.', p->columns.items[i].width);
    }
    out_str(p->out, "\n#\n");
}

/* ---- cells ---- */

static double share_of(const struct compare *c, const struct compare_cell *base) {
    return c->totals.items[0] ? 100.0 * (double)base->period / (double)c->totals.items[0] : 0;
}

static void put_number(const struct printer *p, const struct compare_cell *cells, uint32_t side, char *text) {
    double number;
    bool has = compare_compute_cells(p->c, &p->v->how, cells, side, &number);
    if (!cells[side].there)
        *text = 0;
    else if (!has)
        snprintf(text, TEXT, "N/A");
    else if (p->v->how.method == COMPARE_RATIO)
        snprintf(text, TEXT, "%*.6f", NUMBER_WIDTH, number);
    else if (p->v->how.method == COMPARE_WDIFF)
        snprintf(text, TEXT, "%*" PRId64, NUMBER_WIDTH, (int64_t)number);
    else
        snprintf(text, TEXT, "%+.2f%%", number);
}

static void put_formula(const struct printer *p, const struct compare_cell *cells, uint32_t side,
                        char *text) {
    const struct compare *c = p->c;
    const struct compare_cell *base = &cells[0], *other = &cells[side];
    *text = 0;
    if (!other->there)
        return;
    switch (p->v->how.method) {
    case COMPARE_DELTA_ABS:
    case COMPARE_DELTA:
        snprintf(text, TEXT, "(%" PRIu64 " * 100 / %" PRIu64 ") - (%" PRIu64 " * 100 / %" PRIu64 ")",
                 other->period, c->totals.items[side], base->period, c->totals.items[0]);
        break;
    case COMPARE_RATIO:
        snprintf(text, TEXT, "%" PRIu64 " / %" PRIu64, other->period, base->period);
        break;
    case COMPARE_WDIFF:
        snprintf(text, TEXT, "(%" PRIu64 " * %" PRId64 ") - (%" PRIu64 " * %" PRId64 ")", other->period,
                 p->v->how.new_weight, base->period, p->v->how.base_weight);
        break;
    }
}

static void put_measure(const struct printer *p, const struct compare_cell *cells, const struct column *c,
                        char *text) {
    const struct compare_cell *cell = &cells[c->side];
    *text = 0;
    switch (c->what) {
    case BASE:
        if (cell->there)
            snprintf(text, TEXT, p->v->separator ? "%.2f" : "%.2f%%", share_of(p->c, cell));
        break;
    case BASE_PERIOD:
        snprintf(text, TEXT, "%" PRIu64, cell->period);
        break;
    case NUMBER:
        put_number(p, cells, c->side, text);
        break;
    case FORMULA:
        if (!p->v->blocks)
            put_formula(p, cells, c->side, text);
        break;
    case PERIOD:
        if (cell->there)
            snprintf(text, TEXT, "%" PRIu64, cell->period);
        break;
    case BLOCK:
    case HISTOGRAM:
    case KEY:
        break;
    }
}

/* Returns the block of a side on the current line of a row; NULL: it has fewer. */
static const struct compare_block *block_at(const struct printer *p, uint32_t row, uint32_t side) {
    const struct compare_blocks *b = p->v->blocks;
    size_t i = b->starts.items[row], end = b->starts.items[row + 1];
    while (i < end && b->list.items[i].side < side)
        i++;
    i += p->line;
    return i < end && b->list.items[i].side == side ? &b->list.items[i] : NULL;
}

/* Returns how many lines a row has. */
static size_t lines_of(const struct printer *p, uint32_t row) {
    const struct compare_blocks *b = p->v->blocks;
    size_t most = 1, lines = 0;
    for (size_t i = b ? b->starts.items[row] : 0; b && i < b->starts.items[row + 1]; i++) {
        bool same = lines && b->list.items[i].side == b->list.items[i - 1].side;
        lines = same ? lines + 1 : 1;
        most = lines > most ? lines : most;
    }
    return most;
}

static void print_key(const struct printer *p, uint32_t row, const struct column *c) {
    const char *text = p->c->rows.items[row].texts[c->key], *separator = p->v->separator;
    unsigned layout = c->is->key->layout;
    size_t len = strlen(text);
    if (layout & PROFILE_CUT && len > c->width)
        len = c->width;
    size_t pad = c->width > len ? c->width - len : 0;
    bool right = layout & PROFILE_RIGHT && (!separator || layout & PROFILE_ALWAYS_RIGHT);
    out_fill(p->out, ' ', right ? pad : 0);
    for (size_t i = 0; i < len; i++)
        out_char(p->out, separator && *separator && text[i] == *separator ? '.' : text[i]);
    if (!right && !(c->last && layout & PROFILE_RAGGED))
        out_fill(p->out, ' ', pad);
}

/* Prints the measures of a row, or of a caller of it. */
static void print_measures(const struct printer *p, uint32_t row, const struct compare_cell *cells) {
    char text[TEXT];
    for (size_t i = 0; i < p->columns.count && !p->columns.items[i].is; i++) {
        const struct column *c = &p->columns.items[i];
        out_str(p->out, !p->v->separator ? "  " : i ? p->v->separator : "");
        if (c->what == BLOCK)
            diff_block_print(block_at(p, row, c->side), c->width, p->v->separator, p->out);
        if (c->what == HISTOGRAM)
            diff_block_print_values(block_at(p, row, c->side), c->width, p->out);
        if (c->what == BLOCK || c->what == HISTOGRAM)
            continue;
        put_measure(p, cells, c, text);
        size_t len = strlen(text);
        /* A number of full width (a weighted difference) is left-aligned. */
        bool left = p->v->separator || (c->what == NUMBER && len == NUMBER_WIDTH);
        if (left)
            out_left(p->out, text, len, c->width);
        else
            out_right(p->out, text, len, c->width);
    }
}

static void print_row(const struct printer *p, uint32_t row) {
    print_measures(p, row, compare_cell_at(p->c, row, 0));
    for (size_t i = 0; i < p->columns.count; i++) {
        const struct column *c = &p->columns.items[i];
        if (!c->is)
            continue;
        out_str(p->out, p->v->separator ? p->v->separator : "  ");
        print_key(p, row, c);
    }
    out_char(p->out, '\n');
}

/* Prints the callers of a row, each below its callee. */
static bool print_callers(struct printer *p, uint32_t row) {
    const struct diff_view *v = p->v;
    if (!v->sides)
        return true;
    if (!compare_callers_find(p->c, v->sides, row, v->least_caller, &p->callers, p->err))
        return false;
    for (size_t i = 0; i < p->callers.list.count; i++) {
        const struct compare_caller *k = &p->callers.list.items[i];
        print_measures(p, row, &p->callers.cells.items[k->cells]);
        out_str(p->out, v->separator ? v->separator : "  ");
        out_fill(p->out, ' ', 2 + 2 * (k->depth < DEEPEST ? k->depth : DEEPEST));
        out_printf(p->out, "<- %s\n", k->text);
    }
    return true;
}

static bool is_listed(const struct printer *p, uint32_t row) {
    const struct compare *c = p->c;
    bool paired = false;
    for (uint32_t s = 1; s < c->sides; s++)
        paired |= compare_cell_at(c, row, s)->there;
    if (p->v->blocks && !p->v->blocks->shown.items[row])
        return false;
    return !p->v->baseline_only || (paired && compare_cell_at(c, row, 0)->there);
}

/* ---- all ---- */

static void print_notes(const struct printer *p) {
    bool any = false;
    for (size_t i = 0; i < p->c->order.count; i++) {
        uint32_t row = p->c->order.items[i];
        const char *note = p->c->rows.items[row].note;
        if (!note || !is_listed(p, row))
            continue;
        if (!any)
            out_str(p->out, "#\n# Added up as one function, which builds name differently:\n");
        out_printf(p->out, "#   %s\n", note);
        any = true;
    }
}

bool diff_text_print(const struct compare *c, const char *event, const struct diff_view *v, struct out *out,
                     struct err *err) {
    struct printer p = {.c = c, .v = v, .out = out, .err = err};
    bool ok = make_columns(&p) || err_memory(err, "columns");
    if (ok && !v->quiet)
        print_titles(&p, event);
    for (size_t i = 0; ok && i < c->order.count && !out->failed; i++)
        if (is_listed(&p, c->order.items[i])) {
            for (p.line = 0; p.line < lines_of(&p, c->order.items[i]); p.line++)
                print_row(&p, c->order.items[i]);
            ok = print_callers(&p, c->order.items[i]);
        }
    if (ok && v->notes && !v->quiet)
        print_notes(&p);
    vec_fini(&p.columns);
    compare_callers_fini(&p.callers);
    return ok;
}
