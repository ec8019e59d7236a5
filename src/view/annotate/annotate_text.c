/* SPDX-License-Identifier: Apache-2.0 */
#include "view/annotate/annotate_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *annotate_percent_name(unsigned percent) {
    static const char *const names[] = {[ANNOTATE_LOCAL_PERIOD] = "local-period",
                                        [ANNOTATE_GLOBAL_PERIOD] = "global-period",
                                        [ANNOTATE_LOCAL_HITS] = "local-hits",
                                        [ANNOTATE_GLOBAL_HITS] = "global-hits"};
    return percent < sizeof names / sizeof *names ? names[percent] : NULL;
}

/* ---- numbers ---- */

double annotate_share(const struct annotate_printer *p, const struct annotate_sums *s, uint32_t event) {
    bool local = p->o->percent == ANNOTATE_LOCAL_PERIOD || p->o->percent == ANNOTATE_LOCAL_HITS;
    bool hits = p->o->percent == ANNOTATE_LOCAL_HITS || p->o->percent == ANNOTATE_GLOBAL_HITS;
    const struct annotate_sums *of = local ? &p->l->self[event] : &p->o->totals[event];
    uint64_t all = hits ? of->samples : of->period;
    return all ? 100.0 * (double)(hits ? s->samples : s->period) / (double)all : 0.0;
}

bool annotate_is_shown(const struct annotate_printer *p, uint32_t event) {
    return !p->o->hide_empty || p->o->totals[event].samples;
}

uint32_t annotate_shown(const struct annotate_printer *p) {
    uint32_t shown = 0;
    for (uint32_t i = 0; i < p->l->events.count; i++)
        shown += annotate_is_shown(p, i);
    return shown;
}

uint32_t annotate_column_width(const struct annotate_printer *p) {
    enum { PERCENT = 8, PERIOD = 12 };
    return p->o->column == ANNOTATE_PERIOD ? PERIOD : PERCENT;
}

/* perf-config(1): colors.top and colors.medium, and their limits. */
const char *annotate_heat(const struct annotate_printer *p, double percent) {
    if (!p->o->color || percent < 0.5)
        return NULL;
    return percent >= 5 ? "\033[31m" : "\033[32m";
}

void annotate_put_percent(const struct annotate_printer *p, double percent) {
    const char *color = annotate_heat(p, percent);
    if (color)
        out_str(p->out, color);
    out_printf(p->out, "%8.2f", percent);
    if (color)
        out_str(p->out, ANNOTATE_COLOR_END);
}

/* The columns before an instruction. */
void annotate_put_sums(const struct annotate_printer *p, const struct annotate_sums *sums) {
    for (uint32_t i = 0; i < p->l->events.count; i++) {
        if (!annotate_is_shown(p, i))
            continue;
        double percent = annotate_share(p, &sums[i], i);
        const char *color = annotate_heat(p, percent);
        if (p->o->column == ANNOTATE_PERCENT) {
            annotate_put_percent(p, percent);
            continue;
        }
        if (color)
            out_str(p->out, color);
        out_dec(p->out, p->o->column == ANNOTATE_PERIOD ? sums[i].period : sums[i].samples,
                annotate_column_width(p));
        if (color)
            out_str(p->out, ANNOTATE_COLOR_END);
    }
}

static void put_blank(const struct annotate_printer *p) {
    out_fill(p->out, ' ', (size_t)annotate_column_width(p) * annotate_shown(p));
    out_str(p->out, " :");
}

/* The columns of a line of text, then its number, unless that is 0. */
void annotate_put_number(const struct annotate_printer *p, uint32_t number) {
    put_blank(p);
    if (number)
        out_printf(p->out, " %-*" PRIu32 " ", (int)p->digits, number);
}

/* ---- texts ---- */

/* Without spaces around it, tabs as spaces, and nothing that would change the terminal. */
void annotate_put_source(struct out *out, struct bytes text) {
    enum { TAB = 8 };
    size_t from = 0, to = text.size, column = 0;
    while (from < to && (text.data[from] == ' ' || text.data[from] == '\t'))
        from++;
    while (to > from && (text.data[to - 1] == ' ' || text.data[to - 1] == '\t'))
        to--;
    for (size_t i = from; i < to; i++) {
        uint8_t c = text.data[i];
        size_t width = c == '\t' ? TAB - column % TAB : 1;
        if (c == '\t')
            out_fill(out, ' ', width);
        else
            out_char(out, c < ' ' || c == 0x7f ? '?' : (char)c);
        column += width;
    }
}

const char *annotate_file(const struct annotate_printer *p, uint32_t file) {
    const char *path = strpool_text(&p->l->files, file), *slash = strrchr(path, '/');
    return slash && !p->o->full_paths ? slash + 1 : path;
}

/* ---- instructions ---- */

static void put_bytes(const struct annotate_printer *p, const uint8_t *bytes, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (i)
            out_char(p->out, ' ');
        out_hex0(p->out, bytes[i], 2);
    }
}

/* " :   1190:   ": the address fills up to the next stop. */
static void put_address(const struct annotate_printer *p, uint64_t address) {
    char text[32];
    int n = snprintf(text, sizeof text, "%" PRIx64 ":", address);
    if (p->o->color)
        out_printf(p->out, " : \033[35m  %s" ANNOTATE_COLOR_END "\033[34m", text);
    else
        out_printf(p->out, " :   %s", text);
    out_fill(p->out, ' ', (size_t)(8 - n % 8));
}

static void end_line(const struct annotate_printer *p) {
    if (p->o->color)
        out_str(p->out, ANNOTATE_COLOR_END);
    out_char(p->out, '\n');
}

/* objdump(1) shows seven bytes to a line. */
enum { RAW_BYTES = 7, RAW_WIDTH = 24 };

static void put_more_bytes(struct annotate_printer *p, const struct disasm_instruction *x) {
    for (size_t at = RAW_BYTES; at < x->length; at += RAW_BYTES) {
        for (uint32_t i = 0; i < annotate_shown(p); i++)
            if (p->o->column == ANNOTATE_PERCENT)
                out_printf(p->out, "%8.2f", 0.0);
            else
                out_dec(p->out, 0, annotate_column_width(p));
        put_address(p, x->address + at);
        size_t left = x->length - at;
        put_bytes(p, x->bytes + at, left < RAW_BYTES ? left : RAW_BYTES);
        end_line(p);
        p->line++;
    }
}

void annotate_put_row(struct annotate_printer *p, uint32_t row) {
    const struct disasm_instruction *x = &p->l->list.instructions.items[row];
    annotate_put_sums(p, &p->l->row_sums[(size_t)row * p->l->events.count]);
    put_address(p, x->address);
    if (p->o->raw) {
        size_t n = x->length < RAW_BYTES ? x->length : RAW_BYTES;
        put_bytes(p, x->bytes, n);
        out_fill(p->out, ' ', n ? RAW_WIDTH + 1 - 3 * n : RAW_WIDTH);
    }
    out_str(p->out, x->text);
    if (x->unknown && !p->o->raw) {
        out_str(p->out, "  ");
        put_bytes(p, x->bytes, x->length);
    }
    end_line(p);
    p->line++;
    if (p->o->raw)
        put_more_bytes(p, x);
}

/* ---- titles ---- */

static void put_title(struct annotate_printer *p) {
    static const char *const names[] = {
        [ANNOTATE_PERCENT] = "Percent", [ANNOTATE_SAMPLES] = "Samples", [ANNOTATE_PERIOD] = "Period"};
    bool local = p->o->percent == ANNOTATE_LOCAL_PERIOD || p->o->percent == ANNOTATE_LOCAL_HITS;
    bool hits = p->o->percent == ANNOTATE_LOCAL_HITS || p->o->percent == ANNOTATE_GLOBAL_HITS;
    uint64_t before = p->out->total + p->out->len;
    out_printf(p->out, " %-*s|\tSource code & Disassembly of %s for %s (%" PRIu64 " samples, percent: %s %s)",
               (int)(annotate_column_width(p) * annotate_shown(p)), names[p->o->column],
               p->o->full_paths ? p->o->object_path : p->o->object, p->o->event, p->l->self->samples,
               local ? "local" : "global", hits ? "hits" : "period");
    uint64_t width = p->out->total + p->out->len - before;
    out_char(p->out, '\n');
    out_fill(p->out, '-', (size_t)width + 5);
    out_char(p->out, '\n');
    p->line += 2;
}

static void put_empty(struct annotate_printer *p) {
    put_blank(p);
    out_char(p->out, '\n');
    p->line++;
}

/* What objdump(1) says first; the numbers are those that perf gives to its lines. */
static void put_head(struct annotate_printer *p) {
    for (int i = 0; i < 3; i++)
        put_empty(p);
    if (p->l->code.section.size) {
        annotate_put_number(p, 3);
        out_printf(p->out, "Disassembly of section %.*s:\n", (int)p->l->code.section.size,
                   (const char *)p->l->code.section.data);
        p->line++;
        put_empty(p);
    }
    annotate_put_number(p, 5);
    out_hex0(p->out, p->l->code.address, 16);
    out_printf(p->out, " <%s>:\n", p->o->function);
    p->line++;
}

/* ---- in the order of the code ---- */

/* The source lines that are read up to one that code was made for: those not shown yet, at most six; a line
 * that goes back is shown alone. As objdump(1) does. */
static void put_source_to(struct annotate_printer *p, uint32_t id) {
    enum { BEFORE = 5 };
    const struct annotate_line *line = &p->l->lines.items[id];
    const char *path = strpool_text(&p->l->files, line->file);
    uint32_t *shown = &p->shown[line->file], from = line->line;
    struct bytes text;
    if (line->line > *shown) {
        from = line->line > BEFORE ? line->line - BEFORE : 1;
        from = from > *shown ? from : *shown + 1;
        *shown = line->line;
    }
    if (!annotate_sources_line(p->o->sources, path, line->line, &text)) {
        if (p->o->line_summary) {
            annotate_put_number(p, line->line);
            out_printf(p->out, "%s:%" PRIu32 "\n", annotate_file(p, line->file), line->line);
            p->line++;
        }
        return;
    }
    for (uint32_t i = from; i <= line->line; i++) {
        if (!annotate_sources_line(p->o->sources, path, i, &text))
            continue;
        struct out one;
        if (!out_init(&one, NULL, NULL))
            return;
        annotate_put_source(&one, text);
        annotate_put_number(p, one.len ? i : 0);
        out_mem(p->out, one.buf, one.len);
        out_char(p->out, '\n');
        out_fini(&one);
        p->line++;
    }
}

static void put_rows(struct annotate_printer *p, uint64_t *hottest) {
    uint32_t before = ANNOTATE_NONE, scope = ANNOTATE_NONE, n = p->l->events.count;
    double most = -1;
    for (uint32_t i = 0; i < p->l->rows.count; i++) {
        const struct annotate_row *row = &p->l->rows.items[i];
        if (p->o->inlines && row->scope != scope)
            annotate_put_scopes(p, scope, row->scope);
        scope = row->scope;
        if (p->o->source && row->line != ANNOTATE_NONE && row->line != before)
            put_source_to(p, row->line);
        before = row->line != ANNOTATE_NONE ? row->line : before;
        double share = annotate_share(p, &p->l->row_sums[(size_t)i * n], 0);
        if (hottest && share > most) {
            most = share;
            *hottest = p->line;
        }
        annotate_put_row(p, i);
    }
    bool beyond = false;
    for (uint32_t i = 0; i < n; i++)
        beyond |= p->l->outside[i].samples > 0;
    if (!beyond)
        return;
    annotate_put_sums(p, p->l->outside);
    out_str(p->out, " :   at places that the file has no code for\n");
    p->line++;
}

bool annotate_text_print(const struct annotate_listing *l, const struct annotate_text_options *o,
                         struct out *out, uint64_t *hottest, struct err *err) {
    struct annotate_printer p = {.l = l, .o = o, .out = out};
    uint64_t last = l->code.address + (l->code.bytes.size ? l->code.bytes.size - 1 : 0);
    for (p.digits = 1; last >>= 4;)
        p.digits++;
    p.shown = calloc(l->files.entries.count + 1, sizeof *p.shown);
    bool ok = p.shown && (!o->line_summary || annotate_put_line_summary(&p)) &&
              (!o->inlines || annotate_put_scope_summary(&p));
    if (ok)
        put_title(&p);
    if (ok && o->jump)
        ok = annotate_put_hottest(&p);
    if (ok && !o->jump) {
        put_head(&p);
        put_rows(&p, hottest);
    }
    free(p.shown);
    return ok || err_memory(err, "annotate");
}
