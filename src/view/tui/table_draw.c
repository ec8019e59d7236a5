/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "base/text/utf8.h"
#include "view/report/report_parts.h"
#include "view/tui/table_internal.h"

/* The function's name keeps that much if it needs it; other keys give way down to the least. */
enum {
    NAME_WIDTH = 40,
    NAME_LEAST = 24,
    LEAST_KEY = 5,
    MARKER_WIDTH = 2,
    GAP = 2,
    LEVEL_INDENT = 2,
    PERCENT_TOP = 5
};
#define PERCENT_MEDIUM 0.5

/* ---- layout ---- */

static bool is_measure(const struct tui_column *c) {
    return !c->is || !profile_column_is_key(c->is);
}

static const char *title_of(const struct tui_column *c) {
    const char *title = c->own ? c->own->title : c->is->title;
    return title + strspn(title, " ");
}

static int natural_width(const struct tui_table *t, const struct tui_column *c) {
    if (c->own)
        return c->own->width;
    int width = is_measure(c) ? c->is->key->width * (int)t->members.count
                              : (int)profile_width(t->d.profile, t->e, c->is);
    int title = (int)strlen(title_of(c));
    return width < title ? title : width;
}

/* Returns the index of the column with the name, which is the last to be cut. */
static size_t name_column(const struct tui_table *t) {
    size_t name = t->columns.count;
    for (size_t i = 0; i < t->columns.count; i++)
        if (!is_measure(&t->columns.items[i]) &&
            (name == t->columns.count || t->columns.items[name].is->key->id != PROFILE_SYMBOL))
            name = i;
    return name;
}

/* Cuts the widest of the other keys by a column. False: all are as narrow as can be. */
static bool narrow_one(struct tui_table *t, size_t name) {
    struct tui_column *widest = NULL;
    for (size_t i = t->left_out; i < t->columns.count; i++) {
        struct tui_column *c = &t->columns.items[i];
        if (i != name && !is_measure(c) && c->width > LEAST_KEY && (!widest || c->width > widest->width))
            widest = c;
    }
    if (widest)
        widest->width--;
    return widest;
}

/* Leaves out measures that can be spared as long as names have less room than their least. Returns how many
 * columns of characters are won. */
static int drop(struct tui_table *t, size_t name, int used, int cols) {
    int won = 0, need = used - cols;
    for (size_t i = t->left_out; i < t->columns.count; i++) {
        const struct tui_column *c = &t->columns.items[i];
        int least = i == name ? NAME_LEAST : LEAST_KEY;
        need -= !is_measure(c) && c->width > least ? c->width - least : 0;
    }
    while (need > won) {
        struct tui_column *most = NULL;
        for (size_t i = t->left_out; i < t->columns.count; i++) {
            struct tui_column *c = &t->columns.items[i];
            if (c->own && c->own->spare && !c->dropped && (!most || c->own->spare > most->own->spare))
                most = c;
        }
        if (!most)
            break;
        most->dropped = true;
        won += most->width + GAP;
    }
    return won;
}

static void lay_out(struct tui_table *t, int cols) {
    size_t name = name_column(t);
    if (t->left_out >= t->columns.count)
        t->left_out = t->columns.count ? (unsigned)t->columns.count - 1 : 0;
    int used = MARKER_WIDTH;
    for (size_t i = 0; i < t->columns.count; i++) {
        struct tui_column *c = &t->columns.items[i];
        c->width = natural_width(t, c);
        c->dropped = false;
        if (!is_measure(c) && c->width > cols)
            c->width = cols;
        used += i >= t->left_out ? c->width + GAP : 0;
    }
    used -= GAP;
    if (name == t->columns.count)
        return;
    used -= drop(t, name, used, cols);
    struct tui_column *n = &t->columns.items[name];
    int least = n->width < NAME_WIDTH ? n->width : NAME_WIDTH, over = used - cols;
    int spare = n->width - least;
    for (over -= spare; over > 0 && narrow_one(t, name); over--)
        ;
    /* What the name can have beyond its least. */
    n->width = least + (over < 0 ? (-over < spare ? -over : spare) : 0);
    if (name + 1 == t->columns.count && used < cols)
        n->width += cols - used;
}

/* ---- a line ---- */

static enum tui_color percent_color(double percent) {
    return percent >= PERCENT_TOP ? TUI_TOP : percent >= PERCENT_MEDIUM ? TUI_MEDIUM : TUI_NORMAL;
}

/* Draws a measure's numbers, one for each member that is shown. */
static void draw_measure(struct tui_table *t, struct tui_surface *s, int y, int x, const struct tui_column *c,
                         const struct profile_entry *entry) {
    const struct profile_key *key = c->is->key;
    int each = t->members.count > 1 ? key->width : c->width;
    for (size_t k = 0; k < t->members.count; k++) {
        uint32_t m = t->members.items[k];
        enum tui_color color = TUI_NORMAL;
        bool absent = key->layout & PROFILE_OF_CHILDREN && !entry->children;
        t->text.len = 0;
        if (key->layout & PROFILE_PERCENT && !absent) {
            uint64_t whole = report_is_latency(key)          ? t->e->member_totals[m].latency
                             : t->filter->relative && m == 0 ? t->shown_period
                                                             : t->e->member_totals[m].period;
            uint64_t number = profile_measure(&entry->self[m], entry->children ? &entry->children[m] : NULL,
                                              entry->latency ? &entry->latency[m] : NULL, c->is);
            double percent = report_percent(number, whole);
            report_print_percent(percent, 0, false, &t->text);
            color = percent_color(percent);
        } else {
            report_print_number(t->e, entry, m, c->is, 0, false, &t->text);
        }
        tui_right(s, y, x + (int)k * each, each, tui_style(color), out_text(&t->text));
    }
}

/* Returns the marker of a row: whether it is open, can be opened, or neither. */
static char row_marker(struct tui_table *t, uint32_t row, const struct profile_entry *entry) {
    if (t->levels_open && entry->count)
        return t->levels_open[t->shown.items[row]] ? '-' : '+';
    if (!tui_table_opens(t, t->shown.items[row]))
        return ' ';
    const struct tui_row *open = tui_table_row(t, row);
    return !open ? '+' : open->tree.lines.count || !t->own ? '-' : ' '; /* it turned out to have nothing */
}

static void draw_key(struct tui_table *t, struct tui_surface *s, int y, int x, const struct tui_column *c,
                     const struct profile_entry *entry) {
    t->text.len = 0;
    profile_text(t->d.profile, t->e, entry, c->is, &t->text);
    if (c->is->key->layout & PROFILE_RIGHT && t->text.len <= (size_t)c->width)
        x += c->width - (int)t->text.len;
    while (t->text.len && t->text.buf[t->text.len - 1] == ' ')
        t->text.len--;
    tui_text(s, y, x, c->width, tui_style(TUI_NORMAL), t->text.buf, t->text.len);
}

/* In a hierarchy a row has the keys of its own level only, after all measures. */
static void draw_level(struct tui_table *t, struct tui_surface *s, int y, int x,
                       const struct profile_entry *entry) {
    uint32_t level = UINT32_MAX;
    x += LEVEL_INDENT * (int)entry->depth;
    for (size_t i = 0; i < t->columns.count; i++) {
        struct tui_column *c = &t->columns.items[i];
        if (is_measure(c))
            continue;
        level += !c->is->joined;
        if (level != entry->depth)
            continue;
        t->text.len = 0;
        profile_text(t->d.profile, t->e, entry, c->is, &t->text);
        size_t blanks = 0;
        while (blanks < t->text.len && t->text.buf[blanks] == ' ')
            blanks++;
        x += tui_text(s, y, x, s->cols - 1 - x, tui_style(TUI_NORMAL), t->text.buf + blanks,
                      t->text.len - blanks) +
             GAP;
    }
}

static void draw_own_cell(struct tui_surface *s, int y, int x, const struct tui_column *c,
                          struct tui_style style, const char *text, size_t n) {
    if (c->own->right)
        tui_right(s, y, x, c->width, style, text);
    else
        tui_text(s, y, x, c->width, style, text, n);
}

/* A row that is no profile's. */
static void draw_own_row(struct tui_table *t, struct tui_surface *s, int y, uint32_t row) {
    int x = MARKER_WIDTH;
    tui_fill(s, y, 0, 1, (uint32_t)row_marker(t, row, NULL), tui_style(TUI_NORMAL));
    for (size_t i = t->left_out; i < t->columns.count && x < s->cols; i++) {
        const struct tui_column *c = &t->columns.items[i];
        if (c->dropped)
            continue;
        t->text.len = 0;
        struct tui_style style = t->own->cell(t->own->ctx, t->shown.items[row], i, &t->text);
        const char *text = out_text(&t->text);
        draw_own_cell(s, y, x, c, style, text, t->text.len);
        x += c->width + GAP;
    }
}

/* A line below such a row: its measures, and its name in place of the keys. */
static void draw_below(struct tui_table *t, struct tui_surface *s, int y, const struct tui_tree *tree,
                       const struct tui_line *line) {
    const struct tui_below_line *below = &tree->below.lines.items[line->node];
    int x = MARKER_WIDTH;
    for (size_t i = t->left_out; i < t->columns.count && is_measure(&t->columns.items[i]); i++) {
        const struct tui_column *c = &t->columns.items[i];
        const struct tui_below_cell *cell = &below->cells[i];
        if (c->dropped)
            continue;
        draw_own_cell(s, y, x, c, cell->style, cell->text, strlen(cell->text));
        x += c->width + GAP;
    }
    int most = s->cols - 1 - NAME_LEAST;
    int indent = most > x && (int)line->indent > most - x ? most - x : (int)line->indent;
    x += most > x ? indent : 0;
    tui_fill(s, y, x, 1, (uint32_t)line->marker, tui_style(TUI_NORMAL));
    x += MARKER_WIDTH;
    x += tui_str(s, y, x, s->cols - 1 - x, tui_style(TUI_NORMAL), "<- ");
    tui_str(s, y, x, s->cols - 1 - x, tui_style(TUI_NORMAL), below->name);
}

static void draw_row(struct tui_table *t, struct tui_surface *s, int y, uint32_t row) {
    if (t->own) {
        draw_own_row(t, s, y, row);
        return;
    }
    struct profile_entry entry = profile_entry_at(t->d.profile, t->e, t->shown.items[row]);
    int x = MARKER_WIDTH;
    tui_fill(s, y, 0, 1, (uint32_t)row_marker(t, row, &entry), tui_style(TUI_NORMAL));
    for (size_t i = t->left_out; i < t->columns.count && x < s->cols; i++) {
        const struct tui_column *c = &t->columns.items[i];
        if (is_measure(c))
            draw_measure(t, s, y, x, c, &entry);
        else if (!t->levels_open)
            draw_key(t, s, y, x, c, &entry);
        else
            continue;
        x += c->width + GAP;
    }
    if (t->levels_open)
        draw_level(t, s, y, x, &entry);
}

static void draw_graph_line(struct tui_table *t, struct tui_surface *s, int y, struct tui_place p) {
    struct tui_row *row = tui_table_row(t, p.row);
    if (!row || p.line > row->tree.lines.count)
        return;
    const struct tui_line *line = &row->tree.lines.items[p.line - 1];
    if (t->own) {
        draw_below(t, s, y, &row->tree, line);
        return;
    }
    int most = s->cols - 1 - NAME_WIDTH, x = (int)(line->indent < 10000 ? line->indent : 10000);
    if (x > most) /* what is deeper than the screen is wide still has a name */
        x = most > 0 ? most : 0;
    tui_fill(s, y, x, 1, (uint32_t)line->marker, tui_style(TUI_NORMAL));
    t->text.len = 0;
    tui_tree_text(&row->tree, &t->d, line, &t->text);
    tui_text(s, y, x + MARKER_WIDTH, s->cols - 1 - x - MARKER_WIDTH, tui_style(TUI_NORMAL), t->text.buf,
             t->text.len);
}

static void draw_line(struct tui_table *t, struct tui_surface *s, int y, struct tui_place p) {
    if (p.line)
        draw_graph_line(t, s, y, p);
    else
        draw_row(t, s, y, p.row);
}

/* ---- the head ---- */

static void put_filters(const struct tui_table *t, struct out *o) {
    static const char *const names[TUI_FILTERS] = {"Symbol", "Thread", "DSO", "Processor Socket"};
    const struct tui_filter *f = t->filter;
    for (unsigned i = 0; i < f->count; i++)
        out_printf(o, ", %s: %s", names[f->order[i]], f->text[f->order[i]]);
    if (f->least_percent > 0)
        out_printf(o, ", Percent limit: %g%%", f->least_percent);
    if (f->ranged)
        out_printf(o, ", Time: %.6f-%.6f", (double)f->from_ns / 1e9, (double)f->to_ns / 1e9);
}

static void make_title(struct tui_table *t) {
    struct out *o = &t->text;
    o->len = 0;
    if (t->own) {
        out_str(o, t->own->title);
        put_filters(t, o);
        out_str(o, t->own->of);
        return;
    }
    out_str(o, "Samples: ");
    report_print_unit(t->e->total.samples, o);
    out_char(o, ' ');
    report_print_event(t->d.text, t->e, t->members.items, t->members.count, o);
    if (t->d.note)
        out_printf(o, ", %s", t->d.note);
    out_printf(o, t->d.text->memory_sort ? ", Total weight : %" PRIu64 : ", Event count (approx.): %" PRIu64,
               t->e->total.period);
    put_filters(t, o);
}

static void draw_headers(struct tui_table *t, struct tui_surface *s, int y) {
    int x = MARKER_WIDTH;
    bool first_key = true;
    tui_fill(s, y, 0, s->cols, ' ', tui_style(TUI_HEAD));
    for (size_t i = t->left_out; i < t->columns.count && x < s->cols; i++) {
        const struct tui_column *c = &t->columns.items[i];
        const char *title = title_of(c);
        if (c->dropped)
            continue;
        if (c->own ? c->own->right : is_measure(c)) {
            tui_right(s, y, x, c->width, tui_style(TUI_HEAD), title);
        } else if (t->levels_open) { /* all levels in one place */
            x += first_key ? 0 : tui_str(s, y, x, 3, tui_style(TUI_HEAD), c->is->joined ? "+" : " / ");
            x += tui_str(s, y, x, s->cols - x, tui_style(TUI_HEAD), title);
            first_key = false;
            continue;
        } else {
            tui_str(s, y, x, c->width, tui_style(TUI_HEAD), title);
        }
        x += c->width + GAP;
    }
}

/* ---- all ---- */

void tui_table_draw(struct tui_table *t, struct tui_surface *s, int below) {
    int y = t->headers ? 2 : 1;
    t->height = s->rows - below - y > 0 ? s->rows - below - y : 0;
    tui_table_follow(t);
    lay_out(t, s->cols - 1);
    tui_fill(s, 0, 0, s->cols, ' ', tui_style(TUI_HEAD));
    make_title(t);
    tui_text(s, 0, 0, s->cols, tui_style(TUI_HEAD), t->text.buf, t->text.len);
    if (t->headers)
        draw_headers(t, s, 1);
    struct tui_place p = t->top;
    if (!t->shown.count)
        tui_str(s, y, MARKER_WIDTH, s->cols - MARKER_WIDTH, tui_style(TUI_NORMAL),
                t->filter->count || t->filter->ranged ? "nothing is left: ESC takes the last filter away"
                                                      : "there are no samples");
    for (int i = 0; i < t->height && t->shown.count; i++) {
        draw_line(t, s, y + i, p);
        if (p.row == t->at.row && p.line == t->at.line)
            tui_restyle(s, y + i, 0, s->cols - 1, tui_style(TUI_CURSOR));
        if (!tui_table_step(t, &p, true))
            break;
    }
    double rows = (double)t->shown.count;
    tui_scrollbar(s, y, t->height, rows > 1 ? (double)t->at.row / (rows - 1) : 0);
}

static void print_cells(const struct tui_surface *s, struct out *out) {
    int end = s->cols;
    while (end && s->cells[end - 1].ch == ' ')
        end--;
    for (int x = 0; x < end; x++) {
        uint32_t c = s->cells[x].ch;
        char bytes[4];
        if (c)
            out_mem(out, bytes, utf8_put(c, bytes));
    }
    out_char(out, '\n');
}

void tui_table_print(struct tui_table *t, struct out *out) {
    enum { WIDE = 1024 };
    struct tui_surface s = {.utf8 = true};
    struct err err = ERR_INIT;
    if (!tui_surface_resize(&s, 1, WIDE, &err))
        return;
    lay_out(t, WIDE - 1);
    make_title(t);
    tui_text(&s, 0, 0, WIDE, tui_style(TUI_NORMAL), t->text.buf, t->text.len);
    print_cells(&s, out);
    draw_headers(t, &s, 0);
    print_cells(&s, out);
    struct tui_place p = {0, 0};
    for (bool more = t->shown.count; more && !out->failed; more = tui_table_step(t, &p, true)) {
        tui_clear(&s);
        draw_line(t, &s, 0, p);
        print_cells(&s, out);
        if (!p.line && t->rows.count > 1024)
            tui_table_forget(t, false);
    }
    tui_surface_fini(&s);
}
