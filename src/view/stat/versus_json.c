/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/json.h"
#include "view/stat/versus_view.h"

static const char *const ends[] = {[VERSUS_PRECISE] = "precise",
                                   [VERSUS_TIME] = "time",
                                   [VERSUS_PAIRS] = "pairs",
                                   [VERSUS_STOPPED] = "stopped"};

static const char *const verdicts[] = {[VERDICT_TOO_FEW] = "too few pairs",
                                       [VERDICT_NOTHING] = "no difference seen",
                                       [VERDICT_LESS] = "less",
                                       [VERDICT_MORE] = "more"};

static void print_measure(const struct versus_view *view, size_t b, size_t i, struct json *j) {
    const struct versus_measure *m = &view->measures[i];
    const struct verdict *v = versus_verdict(view->versus, b, i);
    json_open(j, NULL, '{');
    json_text(j, "name", m->name);
    if (*m->unit)
        json_text(j, "unit", m->unit);
    json_bool(j, "primary", m->primary);
    json_bool(j, "counted", !view->versus->missing[i]);
    if (!view->versus->missing[i]) {
        json_real(j, "a", v->a * m->scale);
        json_real(j, "b", v->b * m->scale);
        json_real(j, "ratio", v->ratio);
        json_real(j, "low", v->low);
        json_real(j, "high", v->high);
        json_real(j, "level", v->level);
        json_real(j, "p", v->p);
        json_text(j, "verdict", verdicts[v->says]);
        json_real(j, "visible", v->visible);
        json_number(j, "equal", v->equal);
    }
    json_close(j, '}');
}

void versus_print_json(const struct versus_view *view, struct out *o) {
    const struct versus *v = view->versus;
    struct json j = {.out = o};
    json_open(&j, NULL, '{');
    json_number(&j, "version", 1);
    json_open(&j, "commands", '[');
    for (size_t i = 0; i < v->commands; i++) {
        json_open(&j, NULL, '{');
        json_text(&j, "command", view->commands[i]);
        json_bool(&j, "shell", view->shells[i]);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_number(&j, "pairs", v->pairs);
    json_real(&j, "seconds", v->seconds);
    json_text(&j, "end", ends[v->end]);
    json_real(&j, "until", view->until);
    json_real(&j, "precision", v->precision);
    json_real(&j, "level", view->level);
    json_bool(&j, "regression", view->regressed);
    json_open(&j, "comparisons", '[');
    for (size_t b = 1; b < v->commands; b++) {
        json_open(&j, NULL, '{');
        json_number(&j, "command", b);
        json_number(&j, "against", 0);
        json_open(&j, "measures", '[');
        for (size_t i = 0; i < v->measures; i++)
            if (view->measures[i].name)
                print_measure(view, b, i, &j);
        json_close(&j, ']');
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_close(&j, '}');
}
