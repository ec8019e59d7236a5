/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/text/plural.h"
#include "view/diff/verdict_view.h"

enum { COST = 10, CHANGE = 10, INTERVAL = 22, RELATIVE = 9, SAYS = 8, TEXT = 64, DEEPEST = 40 };

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
        snprintf(text, TEXT, "%.2f%%", shown);
    else
        snprintf(text, TEXT, fabs(shown) >= 1000 ? "%.0f" : "%.4g", shown);
}

static void put_change(const struct verdict_view *v, double change, char *text) {
    double shown = change * unit_of(v).scale;
    if (v->by == JUDGE_BY_SAMPLES)
        snprintf(text, TEXT, "%+.2f", shown);
    else
        snprintf(text, TEXT, fabs(shown) >= 1000 ? "%+.0f" : "%+.3g", shown);
}

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
        snprintf(text, TEXT, "%.4g %s", number / (units[i].from > 0 ? units[i].from : 1), units[i].name);
    else
        snprintf(text, TEXT, "%.0f", number);
}

static const char *const figure_says[] = {[FIGURE_UNJUDGED] = "",
                                          [FIGURE_TOO_FEW] = "too few runs to tell",
                                          [FIGURE_NOTHING] = "no difference seen",
                                          [FIGURE_LESS] = "less",
                                          [FIGURE_MORE] = "more"};

static void print_figures(const struct verdict_view *v, struct out *o) {
    for (size_t i = 0; i < v->figure_count; i++) {
        const struct verdict_figure *f = &v->figures[i];
        char base[TEXT], now[TEXT];
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

static bool is_told(const struct verdict_view *v, size_t key) {
    unsigned id = v->compare->keys.items[key]->key->id;
    return ((id == PROFILE_COMM || id == PROFILE_COMM_NODIGIT) && v->only_comm) ||
           (id == PROFILE_DSO && v->only_dso) || (id == PROFILE_SYMBOL && v->only_symbol);
}

static void print_titles(const struct verdict_view *v, struct out *o) {
    const struct compare *c = v->compare;
    out_printf(o, "# Event '%s'\n#\n", v->event);
    print_files(v, false, o);
    print_files(v, true, o);
    print_figures(v, o);
    out_printf(o, "# Costs: %s%s%s\n", unit_of(v).name, v->by == JUDGE_BY_EVENT ? ", " : "",
               v->by == JUDGE_BY_EVENT ? v->by_event : "");
    print_whole(v, o);
    if (v->doubts)
        out_printf(o, "# Machines differ: %s\n", v->doubts);
    char interval[TEXT];
    snprintf(interval, sizeof interval, "%g %% interval", v->level * 100);
    out_printf(o, "#\n# %*s  %*s  %*s  %*s  %*s  %-*s", COST - 2, "Base", COST, "New", CHANGE, "Change",
               INTERVAL, interval, RELATIVE, "Relative", SAYS, "Proved");
    for (size_t i = 0; i < c->keys.count; i++) {
        if (is_told(v, i))
            continue;
        out_str(o, "  ");
        out_left(o, c->keys.items[i]->title, strlen(c->keys.items[i]->title), c->widths.items[i]);
    }
    out_str(o, "\n#\n");
}

/* ---- rows ---- */

static const char *const says[] = {
    [INTERVAL_TOO_FEW] = "few", [INTERVAL_NOTHING] = "~", [INTERVAL_LESS] = "less", [INTERVAL_MORE] = "more"};

static void print_row(const struct verdict_view *v, uint32_t row, struct out *o) {
    const struct interval *r = &v->judgement->rows.items[row];
    const struct compare *c = v->compare;
    char base[TEXT], now[TEXT], change[TEXT], low[TEXT], high[TEXT], interval[2 * TEXT + 8] = "",
                                                                                         relative[TEXT] = "";
    put_cost(v, r->base, base);
    put_cost(v, r->now, now);
    put_change(v, r->now - r->base, change);
    if (r->says != INTERVAL_TOO_FEW) {
        put_change(v, r->low, low);
        put_change(v, r->high, high);
        snprintf(interval, sizeof interval, "%s to %s", low, high);
    }
    if (r->base > 0 && r->now > 0)
        snprintf(relative, sizeof relative, fabs(r->now / r->base - 1) < 10 ? "%+.1f%%" : "x%.3g",
                 fabs(r->now / r->base - 1) < 10 ? (r->now / r->base - 1) * 100 : r->now / r->base);
    else
        snprintf(relative, sizeof relative, r->base > 0 ? "gone" : "new");
    out_printf(o, "%*s  %*s  %*s  %*s  %*s  %-*s", COST, base, COST, now, CHANGE, change, INTERVAL, interval,
               RELATIVE, relative, SAYS, says[r->says]);
    for (size_t i = 0; i < c->keys.count; i++) {
        const char *text = c->rows.items[row].texts[i];
        if (is_told(v, i))
            continue;
        out_str(o, "  ");
        out_left(o, text, strlen(text), i + 1 < c->keys.count ? c->widths.items[i] : 0);
    }
    out_char(o, '\n');
}

/* Sums of a row, or of a caller of it, on both sides. */
static void sum_sides(const struct verdict_view *v, const struct compare_cell *cells, double *sums) {
    sums[0] = sums[1] = 0;
    for (uint32_t s = 0; s < v->compare->sides; s++)
        sums[v->files[s].is_new] += (double)cells[s].period;
}

/* Prints the callers of a row, each below its callee, with the part of the row's cost that came through them.
 */
static bool print_callers(const struct verdict_view *v, uint32_t row, struct compare_callers *callers,
                          struct out *o, struct err *err) {
    const struct interval *r = &v->judgement->rows.items[row];
    double whole[2], part[2];
    if (!v->sides)
        return true;
    if (!compare_callers_find(v->compare, v->sides, row, v->least_caller, callers, err))
        return false;
    sum_sides(v, compare_cell_at(v->compare, row, 0), whole);
    for (size_t i = 0; i < callers->list.count; i++) {
        const struct compare_caller *k = &callers->list.items[i];
        char base[TEXT], now[TEXT], change[TEXT];
        sum_sides(v, &callers->cells.items[k->cells], part);
        double was = whole[0] > 0 ? r->base * part[0] / whole[0] : 0,
               is = whole[1] > 0 ? r->now * part[1] / whole[1] : 0;
        put_cost(v, was, base);
        put_cost(v, is, now);
        put_change(v, is - was, change);
        out_printf(o, "%*s  %*s  %*s  ", COST, base, COST, now, CHANGE, change);
        out_fill(o, ' ', INTERVAL + RELATIVE + SAYS + 8 + 2 * (k->depth < DEEPEST ? k->depth : DEEPEST));
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
