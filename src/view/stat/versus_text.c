/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text/plural.h"
#include "view/stat/versus_view.h"

enum { NAME_WIDTH = 17, VALUE_WIDTH = 12, TEXT = 64 };

/* Decimals that show two figures of what is below a hundred. */
static int decimals(double percent) {
    double size = fabs(percent);
    return size >= 9.95 ? 0 : size >= 0.995 ? 1 : size >= 0.0995 ? 2 : 3;
}

static bool is_time(const struct versus_measure *m) {
    return strcmp(m->unit, "ns") == 0;
}

/* "2.1 % faster (1.6 to 2.7 %)" for what is a share of A; the ends may change places. */
static void print_share(struct out *o, double share, double one, double other, const char *word) {
    double low = fmin(one, other) * 100, high = fmax(one, other) * 100;
    int n = decimals(share * 100);
    out_printf(o, "%.*f %% %s (%.*f to %.*f %%)", n, share * 100, word, n, low, n, high);
}

static void print_difference(const struct verdict *v, const struct versus_measure *m, char letter,
                             struct out *o) {
    bool more = v->says == VERDICT_MORE, count = !*m->unit;
    if (v->ratio >= 2 && more) {
        const char *verb = m->primary || is_time(m) ? "takes" : "has";
        const char *what = is_time(m) ? "as long" : count ? "as many" : "as much";
        out_printf(o, "%c %s %.2f times %s (%.2f to %.2f)", letter, verb, v->ratio, what, v->low, v->high);
        return;
    }
    const char *word = m->primary ? (more ? "slower" : "faster") : more ? "more" : count ? "fewer" : "less";
    out_printf(o, "%c %s ", letter, m->primary ? "is" : is_time(m) ? "takes" : "has");
    print_share(o, fabs(v->ratio - 1), fabs(v->low - 1), fabs(v->high - 1), word);
}

void versus_print_verdict(const struct verdict *v, const struct versus_measure *m, char letter,
                          struct out *o) {
    switch (v->says) {
    case VERDICT_TOO_FEW:
        out_str(o, "too few pairs to tell");
        return;
    case VERDICT_LESS:
    case VERDICT_MORE:
        print_difference(v, m, letter, o);
        return;
    case VERDICT_NOTHING:
        break;
    }
    if (v->equal == v->pairs)
        out_str(o, "equal in all pairs");
    else if (v->visible == 0)
        out_printf(o, "no difference seen: equal in %zu pairs of %zu", v->equal, v->pairs);
    else if (v->visible >= 1)
        out_printf(o, "no difference seen; %.1f times as much would have been", 1 + v->visible);
    else
        out_printf(o, "no difference seen; one of %.*f %% would have been", decimals(v->visible * 100),
                   v->visible * 100);
}

/* `beside`: the value whose unit it is given in. */
static void print_value(struct out *o, double value, double beside, const struct versus_measure *m) {
    static const struct {
        double from, unit;
        const char *name;
    } times[] = {{1e9, 1e9, "s"}, {1e6, 1e6, "ms"}, {1e3, 1e3, "us"}, {0, 1, "ns"}};
    char text[TEXT];
    size_t i = 0;
    while (beside < times[i].from)
        i++;
    if (is_time(m))
        snprintf(text, sizeof text, "%.2f %s", value / times[i].unit, times[i].name);
    else
        snprintf(text, sizeof text, "%.*f%s%s", value * m->scale < 100 && floor(value) != value,
                 value * m->scale, *m->unit ? " " : "", m->unit);
    out_right(o, text, strlen(text), VALUE_WIDTH);
}

/* Enough of them to tell the ends of the interval apart. */
static int ratio_decimals(const struct verdict *v) {
    double width = v->high - v->low;
    return v->ratio >= 10 ? 2 : width > 0 && width < 0.002 ? 4 : 3;
}

static void print_row(const struct versus_view *view, size_t b, size_t i, struct out *o) {
    const struct versus_measure *m = &view->measures[i];
    const struct verdict *v = versus_verdict(view->versus, b, i);
    char ratio[TEXT];
    out_char(o, ' ');
    out_left(o, m->name, strlen(m->name), NAME_WIDTH);
    if (view->versus->missing[i]) {
        out_str(o, "  not counted here\n");
        return;
    }
    print_value(o, v->a, v->a, m);
    print_value(o, v->b, v->a > 0 ? v->a : v->b, m);
    int n = ratio_decimals(v);
    if (v->says == VERDICT_TOO_FEW && v->pairs)
        snprintf(ratio, sizeof ratio, "%.*f", n, v->ratio);
    else if (v->says == VERDICT_TOO_FEW)
        snprintf(ratio, sizeof ratio, "-");
    else
        snprintf(ratio, sizeof ratio, "%.*f (%.*f to %.*f)", n, v->ratio, n, v->low, n, v->high);
    out_str(o, "   ");
    out_left(o, ratio, strlen(ratio), 23);
    out_char(o, ' ');
    versus_print_verdict(v, m, (char)('A' + b), o);
    out_char(o, '\n');
}

static void print_block(const struct versus_view *view, size_t b, struct out *o) {
    char letter[2] = {(char)('A' + b), 0};
    out_char(o, '\n');
    out_fill(o, ' ', 1 + NAME_WIDTH);
    out_right(o, "A", 1, VALUE_WIDTH);
    out_right(o, letter, 1, VALUE_WIDTH);
    out_printf(o, "   %s/A\n", letter);
    for (size_t i = 0; i < view->versus->measures; i++)
        if (view->measures[i].name)
            print_row(view, b, i, o);
}

static void print_end(const struct versus_view *view, struct out *o) {
    const struct versus *v = view->versus;
    double until = view->until * 100;
    out_printf(o, "\n %zu pair%s in %.1f s, in random order; ", v->pairs, plural(v->pairs), v->seconds);
    switch (v->end) {
    case VERSUS_PRECISE:
        out_printf(o, "the intervals reach %g %% to either side, as asked for\n", until);
        break;
    case VERSUS_TIME:
        if (isfinite(v->precision))
            out_printf(o, "the time was over with intervals of %.*f %% to either side (--until %g%%)\n",
                       decimals(v->precision * 100), v->precision * 100, until);
        else
            out_str(o, "the time was over: for more pairs, --for TIME\n");
        break;
    case VERSUS_PAIRS:
        out_str(o, "as many as asked for\n");
        break;
    case VERSUS_STOPPED:
        out_str(o, "then it was stopped\n");
        break;
    }
    out_printf(
        o,
        " Medians of runs. The intervals of cpu time and elapsed time hold together in %g %% of comparisons; "
        "those of the others do, too.\n",
        view->level * 100);
}

void versus_print_text(const struct versus_view *view, struct out *o) {
    size_t commands = view->versus->commands;
    bool a_shell = view->shells[0], other = false;
    out_char(o, '\n');
    for (size_t i = 0; i < commands; i++) {
        out_printf(o, " %c: %s\n", (char)('A' + i), view->commands[i]);
        other = other || view->shells[i] != a_shell;
    }
    if (other)
        for (size_t i = 0; i < commands; i++)
            if (view->shells[i])
                out_printf(o, " %c needs a shell, whose start is measured too.\n", (char)('A' + i));
    for (size_t b = 1; b < commands; b++)
        print_block(view, b, o);
    print_end(view, o);
    out_char(o, '\n');
}
