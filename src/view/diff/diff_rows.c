/* SPDX-License-Identifier: Apache-2.0 */
#include "view/diff/diff_rows.h"

#include <inttypes.h>
#include <stdlib.h>

#include "view/diff/diff_block.h"
#include "view/diff/verdict_cells.h"

/* ---- cells ---- */

static struct tui_style style_of(int sign) {
    return tui_style(sign > 0 ? TUI_TOP : sign < 0 ? TUI_MEDIUM : TUI_NORMAL);
}

/* Which way a computed number points, as far as its text shows. */
static int sign_of(const struct diff_rows *r, const struct compare_cell *cells, uint32_t side) {
    const double shown = r->cells.v->how.method == COMPARE_RATIO   ? 0.0000005
                         : r->cells.v->how.method == COMPARE_WDIFF ? 0.5
                                                                   : 0.005;
    double number;
    if (!cells[side].there || !compare_compute_cells(r->c, &r->cells.v->how, cells, side, &number))
        return 0;
    number -= r->cells.v->how.method == COMPARE_RATIO ? 1 : 0;
    return number >= shown ? 1 : number <= -shown ? -1 : 0;
}

/* Appends a measure of a row, or of a part of it that has `cells`. */
static struct tui_style put_plain(const struct diff_rows *r, struct diff_place p,
                                  const struct compare_cell *cells, size_t column, struct out *out) {
    const struct diff_column *c = &r->cells.columns.items[column];
    char text[DIFF_TEXT];
    if (c->what == DIFF_BLOCK || c->what == DIFF_HISTOGRAM) {
        const struct compare_block *b = diff_cells_block(&r->cells, p.row, p.line, c->side);
        if (c->what == DIFF_HISTOGRAM) {
            diff_block_print_values(b, 0, out);
            return tui_style(TUI_NORMAL);
        }
        diff_block_print(b, 0, NULL, out);
        return style_of(!b || !b->difference ? 0 : b->difference > 0 ? 1 : -1);
    }
    diff_cells_put(&r->cells, cells ? cells : compare_cell_at(r->c, p.row, 0), c, text);
    out_str(out, text + strspn(text, " "));
    return c->what == DIFF_NUMBER
               ? style_of(sign_of(r, cells ? cells : compare_cell_at(r->c, p.row, 0), c->side))
               : tui_style(TUI_NORMAL);
}

static const struct tui_style unproved = {TUI_NORMAL, TUI_DIM};

static struct tui_style put_judged(const struct diff_rows *r, struct diff_place p,
                                   const struct compare_cell *cells, size_t column, struct out *out) {
    enum interval_says says = r->verdict->judgement->rows.items[p.row].says;
    char text[VERDICT_CELL];
    if (cells)
        verdict_cell_put_part(r->verdict, p.row, cells, (unsigned)column, text);
    else
        verdict_cell_put(r->verdict, p.row, (unsigned)column, text);
    out_str(out, text);
    if (says != INTERVAL_MORE && says != INTERVAL_LESS)
        return unproved;
    /* What came through a caller is not judged by itself. */
    return cells || column < VERDICT_CHANGE ? tui_style(TUI_NORMAL)
                                            : style_of(says == INTERVAL_MORE ? 1 : -1);
}

static struct tui_style put_measure(const struct diff_rows *r, struct diff_place p,
                                    const struct compare_cell *cells, size_t column, struct out *out) {
    return r->verdict ? put_judged(r, p, cells, column, out) : put_plain(r, p, cells, column, out);
}

static struct tui_style cell(void *ctx, uint32_t row, size_t column, struct out *out) {
    const struct diff_rows *r = ctx;
    struct diff_place p = r->list.items[row];
    if (column < r->measures)
        return put_measure(r, p, NULL, column, out);
    out_str(out, r->c->rows.items[p.row].texts[r->keys.items[column - r->measures]]);
    enum interval_says says = r->verdict ? r->verdict->judgement->rows.items[p.row].says : INTERVAL_MORE;
    return says == INTERVAL_MORE || says == INTERVAL_LESS ? tui_style(TUI_NORMAL) : unproved;
}

static double share(void *ctx, uint32_t row) {
    const struct diff_rows *r = ctx;
    double most = 0;
    for (uint32_t s = 0; s < r->c->sides; s++) {
        double percent = compare_percent(r->c, r->list.items[row].row, s);
        most = percent > most ? percent : most;
    }
    return most;
}

/* ---- callers ---- */

static bool copy_caller(const struct diff_rows *r, struct diff_place p, const struct compare_callers *callers,
                        const struct compare_caller *k, struct out *text, struct tui_below *out) {
    struct tui_below_cell *cells = arena_alloc(&out->arena, r->measures * sizeof *cells);
    struct tui_below_line *line = cells ? vec_push(&out->lines) : NULL;
    if (!line)
        return false;
    *line = (struct tui_below_line){k->depth, arena_strndup(&out->arena, k->text, strlen(k->text)), cells};
    bool ok = line->name;
    for (size_t i = 0; ok && i < r->measures; i++) {
        text->len = 0;
        cells[i].style = put_measure(r, p, &callers->cells.items[k->cells], i, text);
        cells[i].text = arena_strndup(&out->arena, out_text(text), text->len);
        ok = cells[i].text;
    }
    return ok;
}

static bool below(void *ctx, uint32_t row, struct tui_below *out, struct err *err) {
    const struct diff_rows *r = ctx;
    struct diff_place p = r->list.items[row];
    struct compare_callers callers = {0};
    struct out text;
    if (!out_init(&text, NULL, NULL))
        return err_memory(err, "callers");
    bool ok = compare_callers_find(r->c, r->sides, p.row, r->least_caller, &callers, err);
    for (size_t i = 0; ok && i < callers.list.count; i++)
        ok = copy_caller(r, p, &callers, &callers.list.items[i], &text, out) || err_memory(err, "callers");
    compare_callers_fini(&callers);
    out_fini(&text);
    return ok;
}

/* ---- columns ---- */

static bool add_measure(struct diff_rows *r, const char *title, bool right, unsigned spare) {
    struct tui_rows_column *c = vec_push(&r->columns);
    if (!c)
        return false;
    *c = (struct tui_rows_column){
        .title = arena_strndup(&r->arena, title, strlen(title)), .right = right, .spare = spare};
    r->measures++;
    return c->title;
}

static bool add_key(struct diff_rows *r, uint32_t key, unsigned width) {
    const struct profile_column *is = r->c->keys.items[key];
    struct tui_rows_column *c = vec_push(&r->columns);
    uint32_t *slot = c ? vec_push(&r->keys) : NULL;
    if (!slot)
        return false;
    *c = (struct tui_rows_column){
        .is = is, .title = is->title, .width = (int)width, .right = is->key->layout & PROFILE_RIGHT};
    *slot = key;
    return true;
}

static bool add_place(struct diff_rows *r, uint32_t row, uint32_t line) {
    struct diff_place *p = vec_push(&r->list);
    if (p)
        *p = (struct diff_place){row, line};
    return p;
}

/* Completes `r`, whose columns and rows are listed. */
static bool finish(struct diff_rows *r, const char *event, uint64_t samples) {
    r->rows = (struct tui_rows){.ctx = r,
                                .name = event,
                                .title = out_text(&r->title),
                                .of = out_text(&r->of),
                                .about = out_text(&r->about),
                                .samples = samples,
                                .columns = r->columns.items,
                                .column_count = r->columns.count,
                                .row_count = r->list.count,
                                .cell = cell,
                                .share = share,
                                .below = r->sides ? below : NULL,
                                .no_below = "callers are not compared: use -g"};
    for (size_t i = 0; i < r->measures; i++) {
        struct tui_rows_column *c = &r->columns.items[i];
        c->width = tui_rows_width(&r->rows, i, c->title);
    }
    return !r->title.failed && !r->of.failed && !r->about.failed;
}

static bool begin(struct diff_rows *r, const char *event) {
    if (!out_init(&r->title, NULL, NULL) || !out_init(&r->of, NULL, NULL) || !out_init(&r->about, NULL, NULL))
        return false;
    out_printf(&r->title, "Event '%s'", event);
    out_str(&r->of, ": ");
    return true;
}

static uint64_t samples_of(const struct compare *c) {
    uint64_t samples = 0;
    for (uint32_t i = 0; i < c->rows.count; i++)
        samples += compare_cell_at(c, i, 0)->samples;
    return samples;
}

/* ---- a comparison ---- */

static bool plain_columns(struct diff_rows *r) {
    static const unsigned spares[] = {
        [DIFF_FORMULA] = 3, [DIFF_PERIOD] = 2, [DIFF_BASE_PERIOD] = 2, [DIFF_HISTOGRAM] = 1, [DIFF_KEY] = 0};
    bool ok = diff_cells_make(&r->cells);
    for (size_t i = 0; ok && i < r->cells.columns.count; i++) {
        const struct diff_column *c = &r->cells.columns.items[i];
        ok = c->is ? add_key(r, c->key, c->width)
                   : add_measure(r, c->title, c->what != DIFF_HISTOGRAM, spares[c->what]);
    }
    return ok;
}

static bool plain_rows(struct diff_rows *r) {
    bool ok = true;
    for (size_t i = 0; ok && i < r->c->order.count; i++) {
        uint32_t row = r->c->order.items[i];
        uint32_t lines = diff_cells_listed(&r->cells, row) ? diff_cells_lines(&r->cells, row) : 0;
        for (uint32_t line = 0; ok && line < lines; line++)
            ok = add_place(r, row, line);
    }
    return ok;
}

bool diff_rows_make(struct diff_rows *r, const struct compare *c, const char *event,
                    const struct diff_view *v, struct err *err) {
    r->c = r->cells.c = c;
    r->cells.v = v;
    r->sides = v->sides;
    r->least_caller = v->least_caller;
    if (!begin(r, event))
        return err_memory(err, "table");
    for (uint32_t s = 0; c->sides > 2 && s < c->sides; s++)
        out_printf(&r->of, "%s[%" PRIu32 "] %s", s ? ", " : "", s, v->files[s]);
    if (c->sides <= 2)
        out_printf(&r->of, "%s, then %s", v->files[0], v->files[1]);
    diff_text_about(c, event, v, &r->about);
    return (plain_columns(r) && plain_rows(r) && finish(r, event, samples_of(c))) || err_memory(err, "table");
}

/* ---- a judged one ---- */

static bool judged_columns(struct diff_rows *r) {
    static const unsigned spares[VERDICT_COLUMNS] = {
        [VERDICT_RELATIVE] = 4, [VERDICT_NEW] = 3, [VERDICT_BASE] = 2, [VERDICT_INTERVAL] = 1};
    bool ok = true;
    for (unsigned i = 0; ok && i < VERDICT_COLUMNS; i++) {
        char title[VERDICT_TEXT];
        verdict_column_title(r->verdict, i, title, sizeof title);
        ok = add_measure(r, title, verdict_columns[i].right, spares[i]);
    }
    for (uint32_t i = 0; ok && i < r->c->keys.count; i++) {
        size_t title = strlen(r->c->keys.items[i]->title);
        unsigned width = r->c->widths.items[i] > title ? r->c->widths.items[i] : (unsigned)title;
        ok = verdict_is_told(r->verdict, i) || add_key(r, i, width);
    }
    return ok;
}

bool verdict_rows_make(struct diff_rows *r, const struct verdict_view *v, struct err *err) {
    r->c = v->compare;
    r->verdict = v;
    r->sides = v->sides;
    r->least_caller = v->least_caller;
    if (!begin(r, v->event))
        return err_memory(err, "table");
    for (uint32_t s = 0; s < v->compare->sides; s++)
        out_printf(&r->of, "%s%s",
                   !s                                              ? ""
                   : v->files[s].is_new && !v->files[s - 1].is_new ? ", then "
                                                                   : ", ",
                   v->files[s].path);
    verdict_text_about(v, &r->about);
    bool ok = judged_columns(r);
    for (size_t i = 0; ok && i < v->judgement->order.count; i++)
        ok = add_place(r, v->judgement->order.items[i], 0);
    return (ok && finish(r, v->event, v->files[0].samples)) || err_memory(err, "table");
}

void diff_rows_fini(struct diff_rows *r) {
    diff_cells_fini(&r->cells);
    vec_fini(&r->list);
    vec_fini(&r->columns);
    vec_fini(&r->keys);
    arena_fini(&r->arena);
    out_fini(&r->title);
    out_fini(&r->of);
    out_fini(&r->about);
    *r = (struct diff_rows){0};
}
