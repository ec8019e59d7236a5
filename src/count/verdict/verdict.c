/* SPDX-License-Identifier: Apache-2.0 */
#include "count/verdict/verdict.h"

#include <math.h>
#include <stdlib.h>

#include "base/hash.h"
#include "count/verdict/verdict_rank.h"

static const double POWER = 0.9; /* what "would have been seen" means */

static int by_value(const void *x, const void *y) {
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static double clean(double value) {
    return isfinite(value) && value > 0 ? value : 0;
}

static bool has_zero(const double *values, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (clean(values[i]) == 0)
            return true;
    return false;
}

/* `room` has n elements. */
static double median(const double *values, size_t n, double *room) {
    for (size_t i = 0; i < n; i++)
        room[i] = clean(values[i]);
    qsort(room, n, sizeof *room, by_value);
    return (room[(n - 1) / 2] + room[n / 2]) / 2;
}

/* Fills `sorted` with the logarithms of the ratios. */
static void find_ratios(const struct verdict_measure *m, double *sorted, struct verdict *v) {
    double more = has_zero(m->a, m->n) || has_zero(m->b, m->n) ? m->step / 2 : 0;
    for (size_t i = 0; i < m->n; i++) {
        double a = clean(m->a[i]) + more, b = clean(m->b[i]) + more;
        sorted[i] = a == b ? 0 : log(b / a); /* without a step, zeros are as the smallest number */
        if (!isfinite(sorted[i]))
            sorted[i] = log(fmax(b, 5e-324)) - log(fmax(a, 5e-324));
        v->equal += sorted[i] == 0;
    }
    qsort(sorted, m->n, sizeof *sorted, by_value);
}

/* Turns logarithms into what is said, at a rate `alpha` of false alarms. */
static void say(struct verdict *v, const double *sorted, double alpha) {
    struct verdict_range r = verdict_rank_interval(sorted, v->pairs, alpha);
    double half = (r.high - r.low) / 2, z = verdict_rank_z(alpha);
    v->level = 1 - alpha;
    v->ratio = v->pairs ? exp(verdict_rank_estimate(sorted, v->pairs)) : 1;
    v->low = exp(r.low);
    v->high = exp(r.high);
    v->visible = expm1(half * (z + verdict_rank_z(2 * (1 - POWER))) / z);
    if (!isfinite(half))
        v->says = VERDICT_TOO_FEW;
    else if (v->p > alpha || (r.low <= 0 && r.high >= 0))
        v->says = VERDICT_NOTHING;
    else
        v->says = r.low > 0 ? VERDICT_MORE : VERDICT_LESS;
}

/* Holm's procedure: the smallest p is tested at alpha / n, the next at alpha / (n - 1), and so on up to the
 * first that fails; all after that fail with it, at its level. */
static void say_others(const struct verdict_measure *m, size_t count, struct verdict *out,
                       double *const *sorted, double alpha) {
    size_t left = 0;
    bool failed = false;
    for (size_t i = 0; i < count; i++)
        left += !m[i].primary;
    double at = 0;
    for (double last = -1; left;) {
        double next = 2; /* the smallest p that has not had its turn */
        size_t same = 0;
        for (size_t i = 0; i < count; i++)
            if (!m[i].primary && out[i].p > last && out[i].p < next)
                next = out[i].p;
        at = failed ? at : alpha / (double)left;
        for (size_t i = 0; i < count; i++) {
            if (m[i].primary || out[i].p != next)
                continue;
            say(&out[i], sorted[i], at);
            same++;
        }
        failed = failed || next > at;
        last = next;
        left -= same;
    }
}

static bool alloc_sorted(const struct verdict_measure *m, size_t count, double **sorted, double **room) {
    size_t total = 0, longest = 0;
    for (size_t i = 0; i < count; i++) {
        total += m[i].n;
        longest = m[i].n > longest ? m[i].n : longest;
    }
    *room = calloc(total + longest + 1, sizeof **room);
    double *at = *room ? *room + longest : NULL;
    for (size_t i = 0; at && i < count; i++) {
        sorted[i] = at;
        at += m[i].n;
    }
    return at != NULL;
}

bool verdict_judge(const struct verdict_measure *measures, size_t count, const struct verdict_options *o,
                   struct verdict *out, struct err *err) {
    double alpha = (1 - o->level) / (o->comparisons ? o->comparisons : 1), *room = NULL;
    double **sorted = calloc(count + 1, sizeof *sorted);
    size_t primaries = 0;
    if (!sorted || !alloc_sorted(measures, count, sorted, &room)) {
        free(sorted);
        return err_memory(err, "verdict");
    }
    for (size_t i = 0; i < count; i++) {
        const struct verdict_measure *m = &measures[i];
        out[i] = (struct verdict){.pairs = m->n, .p = 1};
        primaries += m->primary;
        if (!m->n)
            continue;
        out[i].a = median(m->a, m->n, room);
        out[i].b = median(m->b, m->n, room);
        find_ratios(m, sorted[i], &out[i]);
        out[i].p = verdict_rank_p(sorted[i], m->n);
    }
    for (size_t i = 0; i < count; i++)
        if (measures[i].primary)
            say(&out[i], sorted[i], alpha / (double)primaries);
    say_others(measures, count, out, sorted, alpha);
    free(sorted);
    free(room);
    return true;
}

double verdict_precision(const struct verdict_measure *measures, const struct verdict *verdicts,
                         size_t count) {
    double widest = -1;
    for (size_t i = 0; i < count; i++) {
        const struct verdict *v = &verdicts[i];
        if (!measures[i].primary)
            continue;
        if (v->pairs < VERDICT_PAIRS_MIN || v->says == VERDICT_TOO_FEW)
            return INFINITY;
        widest = fmax(widest, sqrt(v->high / v->low) - 1);
    }
    return widest < 0 ? INFINITY : widest;
}

uint32_t verdict_draw(uint64_t *state, uint32_t n) {
    *state += HASH_ODD; /* with hash_u64's steps, splitmix64 */
    return (uint32_t)((hash_u64(*state) >> 32) * n >> 32);
}

void verdict_shuffle(uint64_t *state, unsigned *order, size_t n) {
    for (size_t i = 0; i < n; i++) { /* Fisher-Yates from the inside out */
        size_t j = verdict_draw(state, (uint32_t)i + 1);
        if (j != i)
            order[i] = order[j];
        order[j] = (unsigned)i;
    }
}
