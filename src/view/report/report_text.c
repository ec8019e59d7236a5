/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules, as observed:
 *   - a row is two spaces and its cells with two spaces between; titles have "# " before them
 *   - measures are right-aligned below right-aligned titles, keys left-aligned; the last cell of a row is
 *     padded unless its key is PROFILE_RAGGED
 *   - with -t nothing is aligned to the right: numbers have one space before them and, like everything else,
 *     are padded at the end to the width of the column; there are no dots below the titles
 *   - -w: keys are cut to the width; a measure is as wide as requested but never narrower than its title,
 *     which is padded at the end
 *   - in a hierarchy each level is indented by three columns; a key is as far to the right of the measures as
 *     three columns for each level below the first, and blanks at the start of a key are dropped
 */
#include "view/report/report_text.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/threads/relay.h"
#include "view/report/report_blocks.h"
#include "view/report/report_cell.h"
#include "view/report/report_parts.h"

/* perf prints one of its tips, picked at random; here it is always the same. */
#define TIP "To see from where hot functions are called, try: %s report --no-children -g callee"

#define LEVEL_INDENT 3
#define MOST_TITLE   1023 /* with its blanks, however long the names below it */
#define MOST_DOTS    207  /* below a hierarchy's keys, however long they are */
#define COLUMN_GAP   2

/* A column that is printed. */
struct column {
    const struct profile_column *is;
    const struct profile_key *key;
    bool measure;
    bool last;      /* no other column follows, not even one that is left out */
    bool plain;     /* in a plain table: a percentage of periods, or a left-aligned key that is never cut */
    unsigned asked; /* -w; 0: nothing */
    unsigned width; /* for the current event */
    size_t title_len;
};

/* A printed percentage, kept since most rows have one of few numbers. */
struct percent_cell {
    uint64_t number;
    uint8_t column; /* from 1; 0: none yet */
    uint8_t len;
    char text[14];
};
enum { PERCENT_CELLS_BITS = 8, PERCENT_CELLS = 1 << PERCENT_CELLS_BITS };

/* What each thread that prints rows has for itself. */
struct scratch {
    struct profile_graph graph;
    struct out text; /* text of a cell */
    struct percent_cell cells[PERCENT_CELLS];
};

struct printer {
    const struct profile *p;
    const struct profile_event *e;
    const struct report_text_options *o;
    VEC(struct column) columns;
    VEC(uint32_t) members; /* indices of those members of the event that are shown */
    bool plain;            /* padded columns, no colours, no -w, one number per cell */
    struct scratch *scratch;
    struct out *out;
    struct err *err;
};

/* ---- columns ---- */

static bool is_told_by_filter(const struct report_text_options *o, const struct profile_key *key) {
    return ((key->id == PROFILE_COMM || key->id == PROFILE_COMM_NODIGIT) && o->only_comm) ||
           (key->id == PROFILE_DSO && o->only_dso) || (key->id == PROFILE_SYMBOL && o->only_symbol);
}

/* Lists the columns. A key whose only value a filter fixes is left out, unless no key would be left. */
static bool choose_columns(struct printer *pr) {
    vec_clear(&pr->columns);
    const struct report_text_options *o = pr->o;
    bool keep = true;
    for (size_t i = 0; i < o->columns->out.count; i++) {
        const struct profile_column *c = &o->columns->out.items[i];
        if (c->shown && profile_column_is_key(c) && !is_told_by_filter(o, c->key))
            keep = false;
    }
    keep = keep || o->hierarchy;
    size_t number = 0; /* columns are counted as -w does: with those left out */
    for (size_t i = 0; i < o->columns->out.count; i++) {
        const struct profile_column *c = &o->columns->out.items[i];
        number += c->shown;
        if (!c->shown || profile_column_is_elsewhere(c, pr->e))
            continue;
        if (pr->columns.count)
            pr->columns.items[pr->columns.count - 1].last = false;
        if (!keep && is_told_by_filter(o, c->key))
            continue;
        struct column *have = vec_push(&pr->columns);
        if (!have)
            return err_memory(pr->err, "columns");
        have->is = c;
        have->key = c->key;
        have->measure = !profile_column_is_key(c);
        have->last = true;
        have->title_len = strlen(c->title);
        have->asked = number <= o->width_count ? o->widths[number - 1] : 0;
    }
    return true;
}

static void measure_columns(struct printer *pr) {
    for (size_t i = 0; i < pr->columns.count; i++) {
        struct column *c = &pr->columns.items[i];
        if (c->measure) {
            c->width = c->key->width * (unsigned)pr->members.count;
            if (c->width < c->title_len)
                c->width = (unsigned)c->title_len;
            if (c->width < c->asked)
                c->width = c->asked;
        } else {
            c->width = c->asked ? c->asked : profile_width(pr->p, pr->e, c->is);
            if (!c->asked && c->width < c->title_len)
                c->width = (unsigned)c->title_len;
        }
    }
}

/* ---- titles ---- */

static void print_title(const struct printer *pr) {
    const struct report_text_options *o = pr->o;
    out_str(pr->out, "# Samples: ");
    report_print_unit(pr->e->total.samples, pr->out);
    out_char(pr->out, ' ');
    report_print_event(o, pr->e, pr->members.items, pr->members.count, pr->out);
    if (o->shows_reference && strstr(pr->e->name, "call-graph=no"))
        out_str(pr->out, ", show reference callgraph");
    if (o->times)
        out_printf(pr->out, " (time slices: %s)", o->times);
    if (o->memory_sort && !*o->memory_sort) /* -F alone */
        out_printf(pr->out, "\n# Total weight : %" PRIu64, pr->e->total.period);
    else if (o->memory_sort)
        out_printf(pr->out, "\n# Total weight : %" PRIu64 "\n# Sort order   : %s", pr->e->total.period,
                   o->memory_sort);
    else
        out_printf(pr->out, "\n# Event count (approx.): %" PRIu64, pr->e->total.period);
    if (o->socket >= 0)
        out_printf(pr->out, "\n# Processor Socket: %d", o->socket);
    out_str(pr->out, "\n#\n");
}

static void print_dots(struct out *out, size_t n) {
    out_fill(out, '.', n);
}

static void print_column_names(const struct printer *pr) {
    const char *separator = pr->o->separator;
    out_str(pr->out, "# ");
    for (size_t i = 0; i < pr->columns.count; i++) {
        const struct column *c = &pr->columns.items[i];
        size_t len = c->title_len;
        if (i)
            out_str(pr->out, separator ? separator : "  ");
        if (c->asked && !c->measure && len > c->width)
            len = c->width;
        if (c->measure || c->is->field)
            out_right(pr->out, c->is->title, len, c->width);
        else
            out_left(pr->out, c->is->title, len, c->width < MOST_TITLE ? c->width : MOST_TITLE);
    }
    out_char(pr->out, '\n');
    if (separator)
        return;
    out_str(pr->out, "# ");
    for (size_t i = 0; i < pr->columns.count; i++) {
        out_fill(pr->out, ' ', i ? COLUMN_GAP : 0);
        print_dots(pr->out, pr->columns.items[i].width);
    }
    out_str(pr->out, "\n#\n");
}

/* ---- cells ---- */

/* Prints one member's number in `width` columns (0: without padding). */
static void print_number(const struct printer *pr, const struct profile_entry *entry, uint32_t member,
                         const struct profile_column *c, unsigned width) {
    report_print_number(pr->e, entry, member, c, width, pr->o->color, pr->out);
}

/* Prints a measure. Nothing follows a number that is the last in its line. */
static void print_measure(const struct printer *pr, const struct profile_entry *entry,
                          const struct column *c) {
    const struct profile_key *key = c->key;
    unsigned unit = key->width;
    size_t start = pr->out->total + pr->out->len;
    for (size_t k = 0; k < pr->members.count; k++) {
        uint32_t i = pr->members.items[k];
        bool absent = key->layout & PROFILE_OF_CHILDREN && !entry->children;
        if (k && absent)
            break; /* "N/A" only once */
        if (absent && (pr->o->separator || c->asked)) {
            print_number(pr, entry, i, c->is, c->asked > 4 ? c->asked : c->asked ? 4 : unit); /* " N/A" */
        } else if (pr->o->separator) {
            out_char(pr->out, ' ');
            print_number(pr, entry, i, c->is, 0);
        } else if (c->asked) {
            out_char(pr->out, ' ');
            print_number(pr, entry, i, c->is,
                         (c->asked > c->title_len ? c->asked : (unsigned)c->title_len) - 1);
        } else if (key->id == PROFILE_LATENCY_CHILDREN) { /* always begins with a blank */
            out_char(pr->out, ' ');
            print_number(pr, entry, i, c->is, unit - 1);
        } else {
            print_number(pr, entry, i, c->is, pr->members.count == 1 ? c->width : unit);
        }
    }
    size_t len = pr->out->total + pr->out->len - start;
    if (!pr->o->color && len < c->width && !(c->last && !pr->o->hierarchy))
        out_fill(pr->out, ' ', c->width - len);
}

/* Whether -w does not cut a text: an address in place of a name (a name does not begin with a digit), or a
 * text for which the width is too small anyway. */
static bool is_never_cut(const struct printer *pr, const struct column *c) {
    enum { LEVEL = 4 };
    const struct out *text = &pr->scratch->text;
    return c->asked < c->key->cut_from || c->key->cut_from == PROFILE_NEVER_CUT ||
           (c->key->layout & PROFILE_LEVEL && text->len > LEVEL && text->buf[LEVEL] >= '0' &&
            text->buf[LEVEL] <= '9');
}

/* Returns the number of digits if -w sets the width of a number, else 0. */
static unsigned digits_asked(const struct column *c) {
    if (!(c->key->layout & PROFILE_DIGITS) || !c->asked)
        return 0;
    return c->asked > c->key->blanks ? c->asked - c->key->blanks : 1;
}

/* Pads a number with zeros to at least this many digits. */
static void set_digits(struct out *text, unsigned digits) {
    char number[24];
    size_t sign = text->len && text->buf[0] == '-', from = sign;
    while (from + 1 < text->len && text->buf[from] == '0')
        from++;
    size_t len = text->len - from;
    if (len > sizeof number)
        return;
    memcpy(number, text->buf + from, len);
    text->len = sign;
    out_fill(text, '0', len < digits ? digits - len : 0);
    out_mem(text, number, len);
}

/* Makes a key's text in pr->scratch->text, without separators and cut to the requested width. */
static void make_text(struct printer *pr, const struct profile_entry *entry, const struct column *c) {
    const char *separator = pr->o->separator;
    pr->scratch->text.len = 0;
    profile_text(pr->p, pr->e, entry, c->is, &pr->scratch->text);
    unsigned digits = digits_asked(c);
    if (digits)
        set_digits(&pr->scratch->text, digits);
    else if ((c->asked ? !is_never_cut(pr, c) : c->key->layout & PROFILE_CUT) &&
             pr->scratch->text.len > c->width)
        pr->scratch->text.len = c->width;
    if (separator && *separator)
        for (size_t i = 0; i < pr->scratch->text.len; i++)
            if (pr->scratch->text.buf[i] == *separator)
                pr->scratch->text.buf[i] = '.';
}

static void print_key(struct printer *pr, const struct profile_entry *entry, const struct column *c) {
    make_text(pr, entry, c);
    if (c->key->layout & PROFILE_RIGHT && (!pr->o->separator || c->key->layout & PROFILE_ALWAYS_RIGHT))
        out_right(pr->out, pr->scratch->text.buf, pr->scratch->text.len, c->width);
    else
        out_left(pr->out, pr->scratch->text.buf, pr->scratch->text.len,
                 c->last && c->key->layout & PROFILE_RAGGED ? 0 : c->width);
}

/* ---- rows ---- */

static double entry_percent(const struct printer *pr, const struct profile_entry *entry) {
    return report_entry_percent(pr->e, entry, pr->o->children);
}

/* True if a single root's first frame is left out. It is the row's own symbol; perf decides by the text of
 * -s, which must begin with "sym", with no -F (so callers first lose their first frame, too). */
static bool row_names_first(const struct printer *pr) {
    const struct profile_columns *columns = pr->o->columns;
    return !columns->fields_said && columns->sort && !strncmp(columns->sort, "sym", 3);
}

static bool print_graph(struct printer *pr, const struct profile_entry *entry) {
    const struct report_text_options *o = pr->o;
    if (o->chain_mode == PROFILE_CHAIN_NONE || !entry->has_graph)
        return true;
    if (!profile_graph_build(pr->p, pr->e, entry, &pr->scratch->graph, pr->err))
        return false;
    struct report_graph_options options = {.mode = o->chain_mode,
                                           .value = o->chain_value,
                                           .print_limit = o->chain_limit,
                                           .skip_first = row_names_first(pr),
                                           .color = o->color,
                                           .separator = o->separator ? o->separator : ";"};
    struct report_graph_totals totals = {
        .all_period = pr->e->member_totals[0].period,
        .entry_period = entry->children ? entry->children->period : entry->self->period,
        .entry_samples = entry->children ? entry->children->samples : entry->self->samples};
    report_graph_print(pr->p, &pr->scratch->graph, &options, &totals, pr->out);
    return true;
}

/* Does print_measure for a percentage in a plain table; `column` is the column's index. */
static void print_plain_percent(const struct printer *pr, const struct profile_entry *entry, size_t column) {
    const struct column *c = &pr->columns.items[column];
    uint64_t number = profile_measure(entry->self, entry->children, entry->latency, c->is);
    struct percent_cell *cell =
        &pr->scratch->cells[(number + column) * 0x9e3779b97f4a7c15u >> (64 - PERCENT_CELLS_BITS)];
    if (cell->number != number || cell->column != column + 1) {
        struct out *text = &pr->scratch->text;
        text->len = 0;
        report_print_percent(report_percent(number, pr->e->member_totals[0].period), c->width, false, text);
        if (text->len > sizeof cell->text) {
            out_mem(pr->out, text->buf, text->len);
            return;
        }
        *cell = (struct percent_cell){
            .number = number, .column = (uint8_t)(column + 1), .len = (uint8_t)text->len};
        memcpy(cell->text, text->buf, text->len);
    }
    memcpy(out_room(pr->out, sizeof cell->text), cell->text, sizeof cell->text);
    pr->out->len += cell->len;
}

static bool is_plain(const struct printer *pr, const struct column *c, size_t column) {
    unsigned layout = c->key->layout;
    if (!c->measure)
        return pr->plain && !(layout & (PROFILE_RIGHT | PROFILE_CUT));
    return pr->plain && layout & PROFILE_PERCENT && !report_is_latency(c->key) && column < UINT8_MAX &&
           (pr->o->children || !(layout & PROFILE_OF_CHILDREN));
}

/* Does print_key for a key that is never cut, in a plain table: prints directly to the output. */
static void print_plain_key(const struct printer *pr, const struct profile_entry *entry,
                            const struct column *c) {
    uint64_t start = pr->out->total + pr->out->len;
    profile_text(pr->p, pr->e, entry, c->is, pr->out);
    size_t len = (size_t)(pr->out->total + pr->out->len - start);
    if (len < c->width && !(c->last && c->key->layout & PROFILE_RAGGED))
        out_fill(pr->out, ' ', c->width - len);
}

static bool print_row(struct printer *pr, const struct profile_entry *entry) {
    const char *separator = pr->o->separator;
    for (size_t i = 0; i < pr->columns.count; i++) {
        const struct column *c = &pr->columns.items[i];
        if (!separator)
            out_mem(pr->out, "  ", COLUMN_GAP); /* before the first column, too */
        else if (i)
            out_str(pr->out, separator);
        if (c->plain && c->measure)
            print_plain_percent(pr, entry, i);
        else if (c->measure)
            print_measure(pr, entry, c);
        else if (c->plain)
            print_plain_key(pr, entry, c);
        else
            print_key(pr, entry, c);
    }
    out_char(pr->out, '\n');
    return print_graph(pr, entry);
}

static bool print_range(struct printer *pr, uint32_t from, uint32_t end) {
    for (uint32_t i = from; i < end && !pr->out->failed; i++) {
        struct profile_entry entry = profile_entry_at(pr->p, pr->e, i);
        bool shown = pr->o->percent_limit <= 0 || entry_percent(pr, &entry) >= pr->o->percent_limit;
        if (shown && !print_row(pr, &entry))
            return false;
    }
    return true;
}

/* What the threads that print rows share. */
struct shared {
    const struct printer *pr;
    struct scratch *scratch; /* indexed by thread */
};

static bool print_piece(void *ctx, uint32_t from, uint32_t end, unsigned thread, struct out *text,
                        struct err *err) {
    const struct shared *s = ctx;
    struct printer pr = *s->pr;
    pr.scratch = &s->scratch[thread];
    pr.out = text;
    pr.err = err;
    return print_range(&pr, from, end);
}

static bool scratch_init(struct scratch *s) {
    *s = (struct scratch){0};
    return out_init(&s->text, NULL, NULL);
}

static void scratch_fini(struct scratch *s) {
    profile_graph_fini(&s->graph);
    out_fini(&s->text);
}

static bool print_rows(struct printer *pr) {
    enum { MANY_ROWS = 1024 };
    unsigned threads = pool_threads(pr->o->pool);
    if (threads == 1 || pr->e->root_count < MANY_ROWS)
        return print_range(pr, 0, pr->e->root_count);
    struct shared s = {.pr = pr, .scratch = calloc(threads, sizeof *s.scratch)};
    bool ok = s.scratch != NULL;
    for (unsigned i = 0; ok && i < threads; i++)
        ok = scratch_init(&s.scratch[i]);
    if (ok)
        ok = relay_run(pr->o->pool, pr->e->root_count, print_piece, &s, pr->out, pr->err);
    else
        err_memory(pr->err, "report");
    for (unsigned i = 0; s.scratch && i < threads; i++)
        scratch_fini(&s.scratch[i]);
    free(s.scratch);
    return ok;
}

/* ---- hierarchy ---- */

/* Whether the key begins a level, instead of joining that of the key before it. */
static bool begins_level(const struct column *c) {
    return !c->measure && !c->is->joined;
}

/* Returns the first key of a level; NULL: none. Those that join it follow it. */
static const struct column *key_of_level(const struct printer *pr, uint32_t depth) {
    for (size_t i = 0; i < pr->columns.count; i++)
        if (begins_level(&pr->columns.items[i]) && depth-- == 0)
            return &pr->columns.items[i];
    return NULL;
}

static bool joins_level(const struct printer *pr, const struct column *c) {
    return c < pr->columns.items + pr->columns.count && !c->measure && c->is->joined;
}

static uint32_t level_count(const struct printer *pr) {
    uint32_t n = 0;
    for (size_t i = 0; i < pr->columns.count; i++)
        n += begins_level(&pr->columns.items[i]);
    return n;
}

static unsigned measures_width(const struct printer *pr) {
    unsigned width = 0, n = 0;
    for (size_t i = 0; i < pr->columns.count; i++)
        if (pr->columns.items[i].measure)
            width += pr->columns.items[i].width + (n++ ? COLUMN_GAP : 0);
    return width;
}

static size_t blanks_before(const char *text, size_t len) {
    size_t n = 0;
    while (n < len && text[n] == ' ')
        n++;
    return n;
}

static unsigned levels_indent(const struct printer *pr) {
    uint32_t levels = level_count(pr);
    return levels ? (levels - 1) * LEVEL_INDENT : 0;
}

static void print_hierarchy_measures(const struct printer *pr, const struct profile_entry *entry) {
    bool first = true;
    for (size_t i = 0; i < pr->columns.count; i++) {
        const struct column *c = &pr->columns.items[i];
        if (!c->measure)
            continue;
        if (!first)
            out_str(pr->out, pr->o->separator ? pr->o->separator : "  ");
        if (entry) {
            print_measure(pr, entry, c);
        } else if (pr->o->separator) {
            out_right(pr->out, c->is->title, c->title_len, c->width);
        } else {
            out_fill(pr->out, ' ', first ? levels_indent(pr) : 0);
            out_right(pr->out, c->is->title, c->title_len, c->width);
        }
        first = false;
    }
    if (!first)
        out_str(pr->out, pr->o->separator ? pr->o->separator : "  ");
}

static void print_hierarchy_names(const struct printer *pr) {
    bool first = true;
    size_t longest = 0, title = 0, width = 0;
    uint32_t depth = 0;
    out_str(pr->out, "# ");
    print_hierarchy_measures(pr, NULL);
    for (size_t i = 0; i < pr->columns.count; i++) {
        const struct column *c = &pr->columns.items[i];
        if (c->measure)
            continue;
        size_t blanks = blanks_before(c->is->title, c->title_len);
        const char *between = first ? "" : c->is->joined ? "+" : " / ";
        width = c->is->joined ? width + 1 + c->width : depth++ * LEVEL_INDENT + c->width;
        out_str(pr->out, between);
        title += c->title_len - blanks + strlen(between);
        out_mem(pr->out, c->is->title + blanks, c->title_len - blanks);
        longest = width > longest ? width : longest;
        first = false;
    }
    out_str(pr->out, "\n# ");
    if (pr->o->separator) {
        for (size_t i = 0; i < pr->columns.count; i++)
            if (pr->columns.items[i].measure) {
                print_dots(pr->out, pr->columns.items[i].width);
                out_str(pr->out, pr->o->separator);
            }
    } else {
        print_dots(pr->out, measures_width(pr) + levels_indent(pr));
        out_str(pr->out, "  ");
    }
    longest = longest > title ? longest : title;
    print_dots(pr->out, longest < MOST_DOTS ? longest : MOST_DOTS);
    out_str(pr->out, "\n#\n");
}

static bool print_level(struct printer *pr, const struct profile_entry *entry) {
    const struct column *c = key_of_level(pr, entry->depth);
    out_fill(pr->out, ' ', entry->depth * LEVEL_INDENT + (pr->o->separator ? 0 : COLUMN_GAP));
    print_hierarchy_measures(pr, entry);
    out_fill(pr->out, ' ', pr->o->separator ? 0 : levels_indent(pr));
    for (bool first = true; c && (first || joins_level(pr, c)); c++, first = false) {
        out_str(pr->out, first ? "" : pr->o->separator ? pr->o->separator : "  ");
        make_text(pr, entry, c);
        size_t blanks = blanks_before(pr->scratch->text.buf, pr->scratch->text.len),
               width = c->key->layout & (PROFILE_RAGGED | PROFILE_RIGHT) ? 0 : c->width;
        out_left(pr->out, pr->scratch->text.buf + blanks, pr->scratch->text.len - blanks,
                 width > blanks ? width - blanks : 0);
    }
    out_char(pr->out, '\n');
    return entry->count ? true : print_graph(pr, entry);
}

/* Printed below a row whose rows are all below the limit. */
static void print_no_entry(const struct printer *pr, uint32_t depth) {
    out_fill(pr->out, ' ',
             COLUMN_GAP + measures_width(pr) + COLUMN_GAP + levels_indent(pr) + depth * LEVEL_INDENT);
    out_printf(pr->out, "no entry >= %.2f%%\n", pr->o->percent_limit);
}

/* The state of the walk at one level of the hierarchy. */
struct walk {
    uint32_t next, end;
    bool any;
};

static bool print_hierarchy(struct printer *pr) {
    VEC(struct walk) levels = {0};
    struct walk *w = vec_push(&levels);
    bool ok = w || err_memory(pr->err, "hierarchy");
    if (ok)
        *w = (struct walk){.end = pr->e->root_count, .any = true};
    while (ok && levels.count && !pr->out->failed) {
        w = &levels.items[levels.count - 1];
        if (w->next == w->end) {
            if (!w->any)
                print_no_entry(pr, (uint32_t)levels.count - 1);
            levels.count--;
            continue;
        }
        struct profile_entry entry = profile_entry_at(pr->p, pr->e, w->next++);
        if (entry_percent(pr, &entry) < pr->o->percent_limit)
            continue;
        w->any = true;
        ok = print_level(pr, &entry);
        if (ok && entry.count) {
            w = vec_push(&levels);
            ok = w || err_memory(pr->err, "hierarchy");
            if (ok)
                *w = (struct walk){.next = entry.first, .end = entry.first + entry.count};
        }
    }
    vec_fini(&levels);
    return ok;
}

/* ---- all ---- */

/* Prints the table of --total-cycles. */
static bool print_blocks(struct printer *pr) {
    struct report_blocks_options o = {
        .percent_limit = pr->o->percent_limit, .color = pr->o->color, .separator = pr->o->separator};
    if (!pr->o->quiet)
        print_title(pr);
    return report_blocks_print(pr->p, pr->e, &o, pr->out, pr->err);
}

/* Lists the members to show: without those of a group that have no samples. */
static bool choose_members(struct printer *pr) {
    vec_clear(&pr->members);
    for (uint32_t i = 0; i < pr->e->members; i++) {
        if (pr->e->members > 1 && !pr->o->keep_empty && !profile_has_samples(pr->p, pr->e->event + i))
            continue;
        uint32_t *member = vec_push(&pr->members);
        if (!member)
            return err_memory(pr->err, "columns");
        *member = i;
    }
    return true;
}

static bool print_event(struct printer *pr) {
    if (!choose_members(pr))
        return false;
    if (pr->o->blocks)
        return print_blocks(pr);
    if (!choose_columns(pr))
        return false;
    pr->plain = !pr->o->separator && !pr->o->color && !pr->o->width_count && pr->e->members == 1;
    memset(pr->scratch->cells, 0, sizeof pr->scratch->cells);
    bool tree = pr->o->hierarchy && level_count(pr) > 0;
    measure_columns(pr);
    for (size_t i = 0; i < pr->columns.count; i++)
        pr->columns.items[i].plain = is_plain(pr, &pr->columns.items[i], i);
    if (!pr->o->quiet) {
        print_title(pr);
        if (tree)
            print_hierarchy_names(pr);
        else
            print_column_names(pr);
    }
    if (!(tree ? print_hierarchy(pr) : print_rows(pr)))
        return false;
    out_str(pr->out, "\n\n");
    return true;
}

/* Prints the filters that leave only one value of a key. */
static void print_filters(const struct report_text_options *o, struct out *out) {
    for (unsigned i = 0; o->only_comm && i < 2; i++) /* once for each of two keys */
        if (profile_columns_find(o->columns, i ? PROFILE_COMM_NODIGIT : PROFILE_COMM))
            out_printf(out, "# comm: %s\n", o->only_comm);
    if (o->only_dso && profile_columns_find(o->columns, PROFILE_DSO))
        out_printf(out, "# dso: %s\n", o->only_dso);
    if (o->only_symbol && profile_columns_find(o->columns, PROFILE_SYMBOL))
        out_printf(out, "# symbol: %s\n", o->only_symbol);
}

bool report_text_print(const struct profile *p, const struct report_text_options *o, struct out *out,
                       struct err *err) {
    struct scratch scratch;
    struct printer pr = {.p = p, .o = o, .scratch = &scratch, .out = out, .err = err};
    bool ok = scratch_init(&scratch) || err_memory(err, "report");
    if (ok) {
        print_filters(o, out);
        if (!o->quiet)
            out_printf(out, "#\n# Total Lost Samples: %" PRIu64 "\n#\n", o->lost);
    }
    for (uint32_t i = 0; ok && i < profile_event_count(p) && !out->failed; i++) {
        pr.e = profile_event(p, i);
        if (pr.e->read > pr.e->dropped || o->keep_empty)
            ok = print_event(&pr);
    }
    if (ok && !o->quiet)
        out_printf(out, "#\n# (Tip: " TIP ")\n#\n", o->program);
    vec_fini(&pr.columns);
    vec_fini(&pr.members);
    scratch_fini(&scratch);
    return ok;
}
