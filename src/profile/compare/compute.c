/* SPDX-License-Identifier: Apache-2.0 */
/* What is computed of compared rows, and their order by it. */
#include <math.h>
#include <stdlib.h>

#include "profile/compare/compare.h"

static double percent_of(const struct compare *c, const struct compare_cell *cells, uint32_t side) {
    uint64_t total = c->totals.items[side];
    return total ? 100.0 * (double)cells[side].period / (double)total : 0;
}

double compare_percent(const struct compare *c, uint32_t row, uint32_t side) {
    return percent_of(c, compare_cell_at(c, row, 0), side);
}

bool compare_compute_cells(const struct compare *c, const struct compare_computation *how,
                           const struct compare_cell *cells, uint32_t side, double *number) {
    const struct compare_cell *base = &cells[0], *other = &cells[side];
    *number = 0;
    if (!other->there)
        return false;
    switch (how->method) {
    case COMPARE_DELTA_ABS:
    case COMPARE_DELTA:
        *number = percent_of(c, cells, side) - percent_of(c, cells, 0);
        return true;
    case COMPARE_RATIO:
        if (base->there && base->period)
            *number = (double)other->period / (double)base->period;
        return base->there && base->period;
    case COMPARE_WDIFF:
        if (base->there)
            *number = (double)other->period * (double)how->new_weight -
                      (double)base->period * (double)how->base_weight;
        return base->there;
    }
    return false;
}

bool compare_compute(const struct compare *c, const struct compare_computation *how, uint32_t row,
                     uint32_t side, double *number) {
    return compare_compute_cells(c, how, compare_cell_at(c, row, 0), side, number);
}

/* ---- order ---- */

struct sorting {
    const struct compare *c;
    const struct compare_computation *how;
    uint32_t by;
};

static int by_size(double x, double y) {
    return x > y ? -1 : x < y;
}

/* Compares two rows by one side: those that are there first, then by what is computed, then by period. */
static int by_side(const struct sorting *s, uint32_t x, uint32_t y, uint32_t side) {
    const struct compare_cell *a = compare_cell_at(s->c, x, side), *b = compare_cell_at(s->c, y, side);
    double p, q;
    if (!side)
        return by_size((double)a->period, (double)b->period);
    bool has_p = compare_compute(s->c, s->how, x, side, &p),
         has_q = compare_compute(s->c, s->how, y, side, &q);
    if (a->there != b->there)
        return a->there ? -1 : 1;
    if (has_p != has_q)
        return has_p ? -1 : 1;
    if (s->how->method == COMPARE_DELTA_ABS) {
        p = fabs(p);
        q = fabs(q);
    }
    return has_p ? by_size(p, q) : by_size((double)a->period, (double)b->period);
}

/* What a key's text is sorted by: of a function its name, whatever its level. */
static const char *sorted_text(const struct compare *c, uint32_t row, size_t key) {
    const char *text = c->rows.items[row].texts[key];
    const char *level = c->keys.items[key]->key->id == PROFILE_SYMBOL ? strstr(text, "] ") : NULL;
    return level ? level + 2 : text;
}

static int by_row(const void *one, const void *other, void *ctx) {
    const struct sorting *s = ctx;
    uint32_t x = *(const uint32_t *)one, y = *(const uint32_t *)other;
    int order = by_side(s, x, y, s->by);
    for (uint32_t side = 0; !order && side < s->c->sides; side++)
        order = side == s->by ? 0 : by_side(s, x, y, side);
    for (size_t i = 0; !order && i < s->c->keys.count; i++)
        order = strcmp(sorted_text(s->c, x, i), sorted_text(s->c, y, i));
    return order ? order : x < y ? -1 : x > y;
}

bool compare_sort(struct compare *c, const struct compare_computation *how, uint32_t by, struct err *err) {
    struct sorting s = {c, how, by};
    vec_clear(&c->order);
    if (!vec_reserve(&c->order, c->rows.count + 1))
        return err_memory(err, "comparison");
    for (uint32_t i = 0; i < c->rows.count; i++)
        c->order.items[c->order.count++] = i;
    qsort_r(c->order.items, c->order.count, sizeof *c->order.items, by_row, &s);
    return true;
}
