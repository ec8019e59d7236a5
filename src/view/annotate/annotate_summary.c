/* SPDX-License-Identifier: Apache-2.0 */
/* What of a function was hit most: lines, and calls that were inlined. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "view/annotate/annotate_internal.h"

/* A line or a call, to be sorted. */
struct ranked {
    const struct annotate_sums *sums; /* [members] */
    uint32_t members, index;
    bool by_hits;
};

static int by_heat(const void *a, const void *b) {
    const struct ranked *x = a, *y = b;
    for (uint32_t i = 0; i < x->members; i++) {
        uint64_t p = x->by_hits ? x->sums[i].samples : x->sums[i].period,
                 q = y->by_hits ? y->sums[i].samples : y->sums[i].period;
        if (p != q)
            return p > q ? -1 : 1;
    }
    return (x->index > y->index) - (x->index < y->index);
}

/* Those of `count` that were hit, most first, for free(); *used: how many. NULL: out of memory. */
static struct ranked *rank(const struct annotate_printer *p, const struct annotate_sums *sums, size_t count,
                           size_t *used) {
    uint32_t n = p->l->events.count;
    bool hits = p->o->percent == ANNOTATE_LOCAL_HITS || p->o->percent == ANNOTATE_GLOBAL_HITS;
    struct ranked *list = calloc(count + 1, sizeof *list);
    *used = 0;
    for (size_t i = 0; list && i < count; i++) {
        bool any = false;
        for (uint32_t e = 0; e < n; e++)
            any |= sums[i * n + e].samples > 0;
        if (any)
            list[(*used)++] = (struct ranked){&sums[i * n], n, (uint32_t)i, hits};
    }
    if (list)
        qsort(list, *used, sizeof *list, by_heat);
    return list;
}

static void put_percents(const struct annotate_printer *p, const struct annotate_sums *sums) {
    for (uint32_t i = 0; i < p->l->events.count; i++)
        if (annotate_is_shown(p, i))
            annotate_put_percent(p, annotate_share(p, &sums[i], i));
}

static void put_summary_title(struct annotate_printer *p, const char *what) {
    out_printf(p->out, "\n%s %s\n----------------------------------------------\n\n", what,
               p->o->object_path);
    p->line += 4;
}

/* Begins what comes after the percentages, in the colour of the first one. */
static const char *heat_of(const struct annotate_printer *p, const struct annotate_sums *sums) {
    const char *color = annotate_heat(p, annotate_share(p, sums, 0));
    if (color)
        out_str(p->out, color);
    return color;
}

static void end_heat(struct annotate_printer *p, const char *color) {
    out_char(p->out, '\n');
    if (color)
        out_str(p->out, ANNOTATE_COLOR_END);
    p->line++;
}

bool annotate_put_line_summary(struct annotate_printer *p) {
    size_t used;
    struct ranked *list = rank(p, p->l->line_sums, p->l->lines.count, &used);
    put_summary_title(p, "Sorted summary for file");
    for (size_t i = 0; list && i < used; i++) {
        const struct annotate_line *line = &p->l->lines.items[list[i].index];
        put_percents(p, list[i].sums);
        const char *color = heat_of(p, list[i].sums);
        out_printf(p->out, " %s:%" PRIu32, annotate_file(p, line->file), line->line);
        end_heat(p, color);
    }
    if (list && p->l->no_line->samples) {
        put_percents(p, p->l->no_line);
        out_str(p->out, " (no line is known)\n");
        p->line++;
    }
    free(list);
    return list;
}

/* ---- summary of inlined functions (--inlines) ---- */

static void put_call(const struct annotate_printer *p, const struct annotate_scope *s) {
    out_str(p->out, s->function);
    if (s->file != STRPOOL_NONE)
        out_printf(p->out, " (inlined at %s:%" PRIu32 ")", annotate_file(p, s->file), s->line);
    else
        out_str(p->out, " (inlined)");
}

bool annotate_put_scope_summary(struct annotate_printer *p) {
    size_t used;
    struct ranked *list = rank(p, p->l->scope_sums, p->l->scopes.count, &used);
    if (list && used)
        put_summary_title(p, "Inlined functions in file");
    for (size_t i = 0; list && i < used; i++) {
        put_percents(p, list[i].sums);
        const char *color = heat_of(p, list[i].sums);
        out_char(p->out, ' ');
        put_call(p, &p->l->scopes.items[list[i].index]);
        end_heat(p, color);
    }
    free(list);
    return list;
}

static uint32_t depth_of(const struct annotate_printer *p, uint32_t scope) {
    uint32_t depth = 0;
    for (; scope != ANNOTATE_NONE; scope = p->l->scopes.items[scope].outer)
        depth++;
    return depth;
}

static bool is_within(const struct annotate_printer *p, uint32_t outer, uint32_t scope) {
    while (scope != ANNOTATE_NONE && scope != outer)
        scope = p->l->scopes.items[scope].outer;
    return scope == outer;
}

void annotate_put_scopes(struct annotate_printer *p, uint32_t from, uint32_t to) {
    enum { DEPTH = 64 };
    uint32_t path[DEPTH], n = 0;
    for (uint32_t s = to; s != ANNOTATE_NONE && n < DEPTH; s = p->l->scopes.items[s].outer)
        path[n++] = s;
    if (!n || (from != ANNOTATE_NONE && is_within(p, to, from))) { /* back to what it is inlined into */
        annotate_put_number(p, 0);
        out_char(p->out, ' ');
        out_fill(p->out, ' ', 2 * (size_t)depth_of(p, to));
        out_printf(p->out, "%s:\n", n ? p->l->scopes.items[to].function : p->o->function);
        p->line++;
        return;
    }
    while (n-- > 0) {
        if (from != ANNOTATE_NONE && is_within(p, path[n], from))
            continue;
        annotate_put_number(p, 0);
        out_char(p->out, ' ');
        out_fill(p->out, ' ', 2 * (size_t)depth_of(p, path[n]));
        put_call(p, &p->l->scopes.items[path[n]]);
        out_str(p->out, ":\n");
        p->line++;
    }
}

/* ---- the hottest first ---- */

static bool is_hit(const struct annotate_printer *p, uint32_t row) {
    for (uint32_t i = 0; i < p->l->events.count; i++)
        if (p->l->row_sums[(size_t)row * p->l->events.count + i].samples)
            return true;
    return false;
}

/* A row that was hit. */
struct hit_row {
    uint32_t line, row;
    uint64_t period; /* of the first event */
};

static int by_line(const void *a, const void *b) {
    const struct hit_row *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    if (x->line == ANNOTATE_NONE && x->period != y->period)
        return x->period > y->period ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* The rows that were hit, by line, and those without one by how much they were, for free(); *used: how many.
 * NULL: out of memory. */
static struct hit_row *hit_rows(const struct annotate_printer *p, size_t *used) {
    struct hit_row *list = calloc(p->l->rows.count + 1, sizeof *list);
    *used = 0;
    for (uint32_t i = 0; list && i < p->l->rows.count; i++)
        if (is_hit(p, i))
            list[(*used)++] = (struct hit_row){p->l->rows.items[i].line, i,
                                               p->l->row_sums[(size_t)i * p->l->events.count].period};
    if (list)
        qsort(list, *used, sizeof *list, by_line);
    return list;
}

static void put_rows_of(struct annotate_printer *p, const struct hit_row *rows, size_t count, uint32_t line) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rows[middle].line < line)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < count && rows[low].line == line; low++)
        annotate_put_row(p, rows[low].row);
}

static void put_hot_line(struct annotate_printer *p, const struct ranked *r) {
    const struct annotate_line *line = &p->l->lines.items[r->index];
    struct bytes text;
    annotate_put_sums(p, r->sums);
    out_printf(p->out, " : %s:%" PRIu32 "  ", annotate_file(p, line->file), line->line);
    if (p->o->source &&
        annotate_sources_line(p->o->sources, strpool_text(&p->l->files, line->file), line->line, &text))
        annotate_put_source(p->out, text);
    out_char(p->out, '\n');
    p->line++;
}

bool annotate_put_hottest(struct annotate_printer *p) {
    size_t used, hit;
    struct ranked *list = rank(p, p->l->line_sums, p->l->lines.count, &used);
    struct hit_row *rows = hit_rows(p, &hit);
    bool ok = list && rows;
    for (size_t i = 0; ok && i < used; i++) {
        put_hot_line(p, &list[i]);
        put_rows_of(p, rows, hit, list[i].index);
    }
    if (ok)
        put_rows_of(p, rows, hit, ANNOTATE_NONE);
    free(rows);
    free(list);
    return ok;
}
