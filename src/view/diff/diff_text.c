/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules, as observed:
 *   - measures are right-aligned below right-aligned titles; with -t they are padded at the end, and the
 *     base's percentage has no sign. A weighted difference is 14 wide, whatever the column is
 *   - with more than two files titles end in "/" and the file's number
 *   - keys are as in report
 */
#include <inttypes.h>

#include "view/diff/diff_block.h"
#include "view/diff/diff_cells.h"

enum { DEEPEST = 40 };

struct printer {
    struct diff_cells cells;
    const struct compare *c;
    const struct diff_view *v;
    struct compare_callers callers; /* of the current row */
    uint32_t line;                  /* of the current row, which has several with blocks */
    struct out *out;
    struct err *err;
};

/* ---- titles ---- */

/* Prints what was compared. */
static void print_subject(const struct printer *p, const char *event, bool files) {
    const struct diff_view *v = p->v;
    out_printf(p->out, "# Event '%s'\n#\n", event);
    if (files) {
        out_str(p->out, "# Data files:\n");
        for (uint32_t s = 0; s < p->c->sides; s++)
            out_printf(p->out, "#  [%" PRIu32 "] %s %s\n", s, v->files[s], s ? "" : "(Baseline)");
        out_str(p->out, "#\n");
    }
    if (v->programs)
        out_printf(p->out, "# Programs: %s\n#\n", v->programs);
}

static void print_titles(const struct printer *p, const char *event) {
    const struct diff_view *v = p->v;
    print_subject(p, event, p->c->sides > 2 || v->verbose);
    out_str(p->out, "# ");
    for (size_t i = 0; i < p->cells.columns.count; i++) {
        const struct diff_column *c = &p->cells.columns.items[i];
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
    for (size_t i = 0; i < p->cells.columns.count; i++) {
        out_str(p->out, i ? "  " : "");
        out_fill(p->out, '.', p->cells.columns.items[i].width);
    }
    out_str(p->out, "\n#\n");
}

/* ---- rows ---- */

static void print_key(const struct printer *p, uint32_t row, const struct diff_column *c) {
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
    char text[DIFF_TEXT];
    for (size_t i = 0; i < p->cells.columns.count && !p->cells.columns.items[i].is; i++) {
        const struct diff_column *c = &p->cells.columns.items[i];
        out_str(p->out, !p->v->separator ? "  " : i ? p->v->separator : "");
        if (c->what == DIFF_BLOCK)
            diff_block_print(diff_cells_block(&p->cells, row, p->line, c->side), c->width, p->v->separator,
                             p->out);
        if (c->what == DIFF_HISTOGRAM)
            diff_block_print_values(diff_cells_block(&p->cells, row, p->line, c->side), c->width, p->out);
        if (c->what == DIFF_BLOCK || c->what == DIFF_HISTOGRAM)
            continue;
        diff_cells_put(&p->cells, cells, c, text);
        size_t len = strlen(text);
        /* A number of full width (a weighted difference) is left-aligned. */
        bool left = p->v->separator || (c->what == DIFF_NUMBER && len == DIFF_NUMBER_WIDTH);
        if (left)
            out_left(p->out, text, len, c->width);
        else
            out_right(p->out, text, len, c->width);
    }
}

static void print_row(const struct printer *p, uint32_t row) {
    print_measures(p, row, compare_cell_at(p->c, row, 0));
    for (size_t i = 0; i < p->cells.columns.count; i++) {
        const struct diff_column *c = &p->cells.columns.items[i];
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

/* ---- all ---- */

static void print_notes(const struct printer *p) {
    bool any = false;
    for (size_t i = 0; i < p->c->order.count; i++) {
        uint32_t row = p->c->order.items[i];
        const char *note = p->c->rows.items[row].note;
        if (!note || !diff_cells_listed(&p->cells, row))
            continue;
        if (!any)
            out_str(p->out, "#\n# Added up as one function, which builds name differently:\n");
        out_printf(p->out, "#   %s\n", note);
        any = true;
    }
}

void diff_text_about(const struct compare *c, const char *event, const struct diff_view *v, struct out *out) {
    const struct printer p = {.cells = {.c = c, .v = v}, .c = c, .v = v, .out = out};
    print_subject(&p, event, true);
    print_notes(&p);
}

bool diff_text_print(const struct compare *c, const char *event, const struct diff_view *v, struct out *out,
                     struct err *err) {
    struct printer p = {.cells = {.c = c, .v = v}, .c = c, .v = v, .out = out, .err = err};
    bool ok = diff_cells_make(&p.cells) || err_memory(err, "columns");
    if (ok && !v->quiet)
        print_titles(&p, event);
    for (size_t i = 0; ok && i < c->order.count && !out->failed; i++)
        if (diff_cells_listed(&p.cells, c->order.items[i])) {
            for (p.line = 0; p.line < diff_cells_lines(&p.cells, c->order.items[i]); p.line++)
                print_row(&p, c->order.items[i]);
            ok = print_callers(&p, c->order.items[i]);
        }
    if (ok && v->notes && !v->quiet)
        print_notes(&p);
    diff_cells_fini(&p.cells);
    compare_callers_fini(&p.callers);
    return ok;
}
