/* SPDX-License-Identifier: Apache-2.0 */
#include "count/verdict/verdict_rank.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { EXACT_SUM_MAX = VERDICT_RANK_EXACT * (VERDICT_RANK_EXACT + 1) };

/* Walks the differences by size, from both ends of the sorted array inwards to zero. */
struct by_size {
    const double *sorted;
    size_t from, to; /* what is left: [from, to) */
};

/* Takes the largest difference that is left. */
static double take_largest(struct by_size *w) {
    double low = w->sorted[w->from], high = w->sorted[w->to - 1];
    if (-low > high) {
        w->from++;
        return low;
    }
    w->to--;
    return high;
}

static double peek_size(const struct by_size *w) {
    return fmax(-w->sorted[w->from], w->sorted[w->to - 1]);
}

/* What is known of the ranks, which are doubled, so that the mean of two is whole. */
struct ranks {
    double positive; /* their sum where the difference is above zero */
    double sum, square_sum;
    /* How many choices of signs lead to each sum; sums[0] alone at the start. NULL: not asked. */
    double *sums;
    size_t sums_end;
};

static void add_rank(struct ranks *r, size_t doubled) {
    r->sum += (double)doubled;
    r->square_sum += (double)doubled * (double)doubled;
    if (!r->sums)
        return;
    for (size_t s = r->sums_end; s-- > 0;)
        r->sums[s + doubled] += r->sums[s];
    r->sums_end += doubled;
}

static void find_ranks(struct ranks *r, const double *sorted, size_t n) {
    struct by_size w = {sorted, 0, n};
    while (w.from < w.to) {
        size_t top = w.to - w.from, positives = 0, ties = 0;
        double size = peek_size(&w);
        if (size == 0)
            return;
        while (w.from < w.to && peek_size(&w) == size) {
            positives += take_largest(&w) > 0;
            ties++;
        }
        size_t doubled = 2 * top - ties + 1; /* twice the mean of top, top - 1 ... top - ties + 1 */
        for (size_t i = 0; i < ties; i++)
            add_rank(r, doubled);
        r->positive += (double)positives * (double)doubled;
    }
}

double verdict_rank_p(const double *sorted, size_t n) {
    double sums[EXACT_SUM_MAX + 1] = {1};
    struct ranks r = {.sums = n <= VERDICT_RANK_EXACT ? sums : NULL, .sums_end = 1};
    find_ranks(&r, sorted, n);
    if (r.sum == 0)
        return 1;
    double least = fmin(r.positive, r.sum - r.positive);
    if (!r.sums) {
        double away = r.sum / 2 - least - 1; /* ranks are doubled: 1 is half a rank */
        return away <= 0 ? 1 : fmin(1, erfc(away / sqrt(r.square_sum / 4) / sqrt(2)));
    }
    double below = 0, all = 0;
    for (size_t s = 0; s < r.sums_end; s++) {
        all += sums[s];
        below += (double)s <= least ? sums[s] : 0;
    }
    return fmin(1, 2 * below / all);
}

double verdict_rank_z(double alpha) {
    double low = 0, high = 40;
    for (int i = 0; i < 80; i++) {
        double middle = (low + high) / 2;
        if (erfc(middle / sqrt(2)) > alpha)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The number of Walsh averages that lie below the interval for `alpha`, the same number above it, and one
 * more; 0: no interval is that sure. */
static double outside(size_t n, double alpha) {
    if (n > VERDICT_RANK_EXACT) {
        double mean = (double)n * (double)(n + 1) / 4;
        double away = verdict_rank_z(alpha) * sqrt(mean * (double)(2 * n + 1) / 6);
        return floor(mean - 0.5 - away) + 1;
    }
    double sums[EXACT_SUM_MAX / 2 + 1] = {1};
    struct ranks r = {.sums = sums, .sums_end = 1};
    for (size_t i = 1; i <= n; i++)
        add_rank(&r, i);
    double below = 0;
    size_t k = 0;
    while (k < r.sums_end && (below += sums[k]) <= alpha / 2 * ldexp(1, (int)n))
        k++;
    return (double)k;
}

/* The order of doubles as the order of integers, so that halving finds one exactly. */
static int64_t ordered(double d) {
    int64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return bits < 0 ? INT64_MIN - bits : bits;
}

static double from_ordered(int64_t i) {
    double d;
    i = i < 0 ? INT64_MIN - i : i;
    memcpy(&d, &i, sizeof d);
    return d;
}

/* How many Walsh averages are at most `limit`. */
static double averages_up_to(const double *sorted, size_t n, double limit) {
    double count = 0;
    size_t j = n; /* sorted[j..] are too large for partners from i on */
    for (size_t i = 0; i < n; i++) {
        while (j > i && (sorted[i] + sorted[j - 1]) / 2 > limit)
            j--;
        if (j <= i)
            break;
        count += (double)(j - i);
    }
    return count;
}

/* The k-th smallest Walsh average, k from 1. They are counted, not stored: n runs have n * n / 2. */
static double average_at(const double *sorted, size_t n, double k) {
    int64_t low = ordered(sorted[0]), high = ordered(sorted[n - 1]);
    while (low < high) {
        int64_t middle = (low & high) + ((low ^ high) >> 1);
        if (averages_up_to(sorted, n, from_ordered(middle)) < k)
            low = middle + 1;
        else
            high = middle;
    }
    return from_ordered(low);
}

static double average_count(size_t n) {
    return (double)n * (double)(n + 1) / 2;
}

struct verdict_range verdict_rank_interval(const double *sorted, size_t n, double alpha) {
    double k = n ? outside(n, alpha) : 0;
    if (k < 1)
        return (struct verdict_range){-INFINITY, INFINITY};
    return (struct verdict_range){average_at(sorted, n, k), average_at(sorted, n, average_count(n) + 1 - k)};
}

double verdict_rank_estimate(const double *sorted, size_t n) {
    double all = average_count(n), lower = floor((all + 1) / 2), upper = all + 1 - lower;
    double at = average_at(sorted, n, lower);
    return lower == upper ? at : (at + average_at(sorted, n, upper)) / 2;
}
