/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text/plural.h"
#include "view/diff/verdict_cells.h"

enum { DEEPEST = 40 };

/* ---- titles ---- */

static void print_files(const struct verdict_view *v, bool is_new, struct out *o) {
    out_str(o, is_new ? "# New:  " : "# Base: ");
    bool any = false;
    for (uint32_t s = 0; s < v->compare->sides; s++) {
        const struct verdict_file *f = &v->files[s];
        if (f->is_new != is_new)
            continue;
        out_printf(o, "%s%s (%" PRIu64 " sample%s)", any ? ", " : "", f->path, f->samples,
                   plural(f->samples));
        any = true;
    }
    out_char(o, '\n');
}

/* Prints "2.31 s" of nanoseconds, else the number. */
static void put_figure(double number, bool ns, char *text) {
    static const struct {
        double from;
        const char *name;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {0, "ns"}};
    size_t i = 0;
    while (number < units[i].from)
        i++;
    if (ns)
        snprintf(text, VERDICT_TEXT, "%.4g %s", number / (units[i].from > 0 ? units[i].from : 1),
                 units[i].name);
    else
        snprintf(text, VERDICT_TEXT, "%.0f", number);
}

static const char *const figure_says[] = {[FIGURE_UNJUDGED] = "",
                                          [FIGURE_TOO_FEW] = "too few runs to tell",
                                          [FIGURE_NOTHING] = "no difference seen",
                                          [FIGURE_LESS] = "less",
                                          [FIGURE_MORE] = "more"};

static void print_figures(const struct verdict_view *v, struct out *o) {
    for (size_t i = 0; i < v->figure_count; i++) {
        const struct verdict_figure *f = &v->figures[i];
        char base[VERDICT_TEXT], now[VERDICT_TEXT];
        put_figure(f->base, f->ns, base);
        put_figure(f->now, f->ns, now);
        bool first = !i || f->counted != f[-1].counted;
        const char *title = !first ? "" : f->counted ? "Counted:" : "Recorded:";
        out_printf(o, "# %-9s %s: %s, then %s", title, f->name, base, now);
        if (f->base > 0)
            out_printf(o, " (%+.1f %%)", (f->now / f->base - 1) * 100);
        if (f->says > FIGURE_TOO_FEW)
            out_printf(o, ", by %+.1f %% to %+.1f %%: %s", f->low * 100, f->high * 100, figure_says[f->says]);
        else if (f->says == FIGURE_TOO_FEW)
            out_printf(o, ": %s", figure_says[f->says]);
        out_char(o, '\n');
    }
}

/* Compares the totals, as shares do not show if everything costs more. */
static void print_whole(const struct verdict_view *v, struct out *o) {
    enum { WORTH_TELLING = 5 }; /* % */
    for (size_t i = 0; i < v->figure_count && v->by == JUDGE_BY_SAMPLES; i++) {
        const struct verdict_figure *f = &v->figures[i];
        double change = f->base > 0 ? (f->now / f->base - 1) * 100 : 0;
        if (!f->counted && !strcmp(f->name, v->event) && (change > WORTH_TELLING || change < -WORTH_TELLING))
            out_printf(
                o, "#        the whole changed by %+.1f %%: --per 1 shows where, if both did the same work\n",
                change);
    }
}

/* Prints what was compared, and how. */
static void print_subject(const struct verdict_view *v, struct out *o) {
    out_printf(o, "# Event '%s'\n#\n", v->event);
    print_files(v, false, o);
    print_files(v, true, o);
    print_figures(v, o);
    out_printf(o, "# Costs: %s%s%s\n", verdict_unit(v), v->by == JUDGE_BY_EVENT ? ", " : "",
               v->by == JUDGE_BY_EVENT ? v->by_event : "");
    print_whole(v, o);
    if (v->doubts)
        out_printf(o, "# Machines differ: %s\n", v->doubts);
    if (v->programs)
        out_printf(o, "# Programs: %s\n", v->programs);
}

static void print_titles(const struct verdict_view *v, struct out *o) {
    const struct compare *c = v->compare;
    print_subject(v, o);
    char title[VERDICT_TEXT];
    out_str(o, "#\n#");
    for (unsigned i = 0; i < VERDICT_COLUMNS; i++) {
        unsigned width = verdict_columns[i].width - (i ? 0 : 2);
        verdict_column_title(v, i, title, sizeof title);
        out_str(o, i ? "  " : " ");
        if (verdict_columns[i].right)
            out_right(o, title, strlen(title), width);
        else
            out_left(o, title, strlen(title), width);
    }
    for (size_t i = 0; i < c->keys.count; i++) {
        if (verdict_is_told(v, i))
            continue;
        out_str(o, "  ");
        out_left(o, c->keys.items[i]->title, strlen(c->keys.items[i]->title), c->widths.items[i]);
    }
    out_str(o, "\n#\n");
}

/* ---- rows ---- */

static void print_row(const struct verdict_view *v, uint32_t row, struct out *o) {
    const struct compare *c = v->compare;
    char text[VERDICT_CELL];
    for (unsigned i = 0; i < VERDICT_COLUMNS; i++) {
        const struct verdict_column *column = &verdict_columns[i];
        verdict_cell_put(v, row, i, text);
        out_str(o, i ? "  " : "");
        if (column->right)
            out_right(o, text, strlen(text), column->width);
        else
            out_left(o, text, strlen(text), column->width);
    }
    for (size_t i = 0; i < c->keys.count; i++) {
        const char *key = c->rows.items[row].texts[i];
        if (verdict_is_told(v, i))
            continue;
        out_str(o, "  ");
        out_left(o, key, strlen(key), i + 1 < c->keys.count ? c->widths.items[i] : 0);
    }
    out_char(o, '\n');
}

/* Prints the callers of a row, each below its callee, with the part of the row's cost that came through them.
 */
static bool print_callers(const struct verdict_view *v, uint32_t row, struct compare_callers *callers,
                          struct out *o, struct err *err) {
    if (!v->sides)
        return true;
    if (!compare_callers_find(v->compare, v->sides, row, v->least_caller, callers, err))
        return false;
    for (size_t i = 0; i < callers->list.count; i++) {
        const struct compare_caller *k = &callers->list.items[i];
        char text[VERDICT_CELL];
        size_t blanks = 2 * (k->depth < DEEPEST ? k->depth : DEEPEST);
        for (unsigned n = 0; n < VERDICT_COLUMNS; n++) {
            if (n < VERDICT_INTERVAL) {
                verdict_cell_put_part(v, row, &callers->cells.items[k->cells], n, text);
                out_right(o, text, strlen(text), verdict_columns[n].width);
                out_str(o, "  ");
            } else {
                blanks += verdict_columns[n].width + 2;
            }
        }
        out_fill(o, ' ', blanks + 2);
        out_printf(o, "<- %s\n", k->text);
    }
    return true;
}

/* ---- ends ---- */

void verdict_put_name(const struct compare *c, uint32_t row, struct out *out) {
    for (size_t i = 0; i < c->keys.count; i++) {
        const char *text = c->rows.items[row].texts[i];
        const char *level = c->keys.items[i]->key->id == PROFILE_SYMBOL ? strstr(text, "] ") : NULL;
        out_str(out, i ? " " : "");
        out_str(out, level ? level + 2 : text);
    }
}

static void print_gate(const struct verdict_view *v, struct out *o) {
    out_printf(o, "# Gate: ");
    if (!v->offender_count)
        out_printf(o, "nothing is proved to cost %g %% more%s%s.\n", v->gate_share * 100,
                   v->gate_function ? " in " : "", v->gate_function ? v->gate_function : "");
    for (size_t i = 0; i < v->offender_count; i++) {
        const struct interval *r = &v->judgement->rows.items[v->offenders[i]];
        out_str(o, i ? "#       " : "");
        verdict_put_name(v->compare, v->offenders[i], o);
        if (r->base > 0)
            out_printf(o, " costs %+.1f %%, proved to be more than %g %%\n", (r->now / r->base - 1) * 100,
                       v->gate_share * 100);
        else
            out_printf(o, " is new, and proved to cost more than %g %% of all\n", v->gate_share * 100);
    }
}

static void print_end(const struct verdict_view *v, struct out *o) {
    const struct interval_result *r = &v->judgement->result;
    size_t proved = 0;
    for (size_t i = 0; i < v->judgement->rows.count; i++) {
        enum interval_says what = v->judgement->rows.items[i].says;
        proved += what == INTERVAL_LESS || what == INTERVAL_MORE;
    }
    out_printf(
        o,
        "#\n# %zu of %zu rows have samples enough to be judged; of %zu a change is proved (~: the interval "
        "covers zero).\n# All intervals hold together in %g %% of comparisons: %.2f errors to either side, "
        "%u blocks of time",
        r->tested, v->judgement->rows.count, proved, v->level * 100, r->reach, r->blocks);
    if (r->correlation > 0)
        out_printf(o, ", which still are alike (%.2f)", r->correlation);
    out_str(o, ".\n");
    for (uint32_t i = 0; i < v->judgement->order.count; i++) {
        const char *note = v->compare->rows.items[v->judgement->order.items[i]].note;
        if (note)
            out_printf(o, "# Added up: %s\n", note);
    }
    if (v->gated)
        print_gate(v, o);
}

void verdict_text_about(const struct verdict_view *v, struct out *out) {
    print_subject(v, out);
    print_end(v, out);
}

bool verdict_text_print(const struct verdict_view *v, struct out *out, struct err *err) {
    struct compare_callers callers = {0};
    bool ok = true;
    if (!v->quiet)
        print_titles(v, out);
    for (size_t i = 0; ok && i < v->judgement->order.count && !out->failed; i++) {
        print_row(v, v->judgement->order.items[i], out);
        ok = print_callers(v, v->judgement->order.items[i], &callers, out, err);
    }
    if (ok && !v->quiet)
        print_end(v, out);
    compare_callers_fini(&callers);
    return ok;
}
