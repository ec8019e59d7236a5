/* SPDX-License-Identifier: Apache-2.0 */
#include "view/diff/verdict_view.h"

static const char *const bys[] = {[JUDGE_BY_SAMPLES] = "samples",
                                  [JUDGE_BY_TIME] = "time",
                                  [JUDGE_BY_EVENT] = "event",
                                  [JUDGE_BY_REQUESTS] = "requests"};

static const char *const says[] = {[INTERVAL_TOO_FEW] = "too few samples",
                                   [INTERVAL_NOTHING] = "not proved",
                                   [INTERVAL_LESS] = "less",
                                   [INTERVAL_MORE] = "more"};

static const char *const figure_says[] = {[FIGURE_UNJUDGED] = "",
                                          [FIGURE_TOO_FEW] = "too few runs",
                                          [FIGURE_NOTHING] = "not proved",
                                          [FIGURE_LESS] = "less",
                                          [FIGURE_MORE] = "more"};

static void print_keys(const struct compare *c, uint32_t row, struct json *j) {
    json_open(j, "keys", '{');
    for (size_t i = 0; i < c->keys.count; i++)
        json_text(j, c->keys.items[i]->key->name, c->rows.items[row].texts[i]);
    json_close(j, '}');
}

static void print_row(const struct verdict_view *v, uint32_t row, struct json *j) {
    const struct interval *r = &v->judgement->rows.items[row];
    const struct compare *c = v->compare;
    json_open(j, NULL, '{');
    print_keys(c, row, j);
    json_real(j, "base", r->base);
    json_real(j, "new", r->now);
    json_real(j, "change", r->now - r->base);
    json_real(j, "low", r->low);
    json_real(j, "high", r->high);
    json_text(j, "verdict", says[r->says]);
    json_open(j, "recordings", '[');
    for (uint32_t s = 0; s < c->sides; s++) {
        const struct compare_cell *cell = compare_cell_at(c, row, s);
        json_open(j, NULL, '{');
        json_number(j, "samples", cell->samples);
        json_number(j, "period", cell->period);
        json_close(j, '}');
    }
    json_close(j, ']');
    if (c->rows.items[row].note)
        json_text(j, "note", c->rows.items[row].note);
    json_close(j, '}');
}

static void print_gate(const struct verdict_view *v, struct json *j) {
    json_open(j, "gate", '{');
    json_real(j, "share", v->gate_share);
    if (v->gate_function)
        json_text(j, "function", v->gate_function);
    json_open(j, "regressions", '[');
    for (size_t i = 0; i < v->offender_count; i++) {
        json_open(j, NULL, '{');
        print_keys(v->compare, v->offenders[i], j);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_close(j, '}');
}

void verdict_json_print(const struct verdict_view *v, struct json *j) {
    const struct interval_result *r = &v->judgement->result;
    json_open(j, NULL, '{');
    json_text(j, "event", v->event);
    json_text(j, "against", bys[v->by]);
    if (v->by == JUDGE_BY_EVENT)
        json_text(j, "against_event", v->by_event);
    if (v->doubts)
        json_text(j, "doubts", v->doubts);
    json_real(j, "level", v->level);
    json_real(j, "reach", r->reach);
    json_number(j, "tested", r->tested);
    json_number(j, "blocks", r->blocks);
    json_real(j, "correlation", r->correlation);
    json_open(j, "recordings", '[');
    for (uint32_t s = 0; s < v->compare->sides; s++) {
        json_open(j, NULL, '{');
        json_text(j, "path", v->files[s].path);
        json_text(j, "side", v->files[s].is_new ? "new" : "base");
        json_number(j, "samples", v->files[s].samples);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_open(j, "figures", '[');
    for (size_t i = 0; i < v->figure_count; i++) {
        json_open(j, NULL, '{');
        json_text(j, "name", v->figures[i].name);
        json_real(j, "base", v->figures[i].base);
        const struct verdict_figure *f = &v->figures[i];
        json_real(j, "new", f->now);
        if (f->counted)
            json_text(j, "verdict", figure_says[f->says]);
        if (f->says > FIGURE_TOO_FEW) {
            json_real(j, "low", f->low);
            json_real(j, "high", f->high);
        }
        json_close(j, '}');
    }
    json_close(j, ']');
    if (v->gated)
        print_gate(v, j);
    json_open(j, "rows", '[');
    for (size_t i = 0; i < v->judgement->order.count && !j->out->failed; i++)
        print_row(v, v->judgement->order.items[i], j);
    json_close(j, ']');
    json_close(j, '}');
}
