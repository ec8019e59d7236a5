/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The signed-rank test of differences between the two halves of pairs (Wilcoxon 1945), with the estimate and
 * the interval that belong to it (Hodges and Lehmann 1963: the median of the Walsh averages (d_i + d_j) / 2,
 * i <= j, and two of them as far from the ends as the test allows). It asks for no distribution: when which
 * half of a pair ran first was drawn by lot, its share of false alarms is what is asked for whatever the
 * noise, bursts and drift included.
 *
 * A difference of zero keeps its rank and loses its vote (Pratt 1959): leaving such pairs out would make a
 * sample that is mostly equal look like a small one that is not. Equal differences share their mean rank.
 *
 * All take the differences in ascending order; none may be NaN.
 */
#ifndef SONDE_COUNT_VERDICT_RANK_H
#define SONDE_COUNT_VERDICT_RANK_H

#include <stddef.h>

/* Up to so many pairs the distribution is exact, ties and zeros included; beyond, normal with a correction
 * for continuity and the variance of the ranks there are. */
enum { VERDICT_RANK_EXACT = 50 };

/* The probability of differences at least as lopsided as these when there is none. 1 when all are zero. */
double verdict_rank_p(const double *sorted, size_t n);

struct verdict_range {
    double low, high;
};
/* The interval that holds the true difference but for a share of `alpha` of all samples; infinite when n is
 * too small for that. */
struct verdict_range verdict_rank_interval(const double *sorted, size_t n, double alpha);

/* The median of the Walsh averages; n > 0. */
double verdict_rank_estimate(const double *sorted, size_t n);

/* How far from its mean, in standard deviations, a normal variable lies with a probability of `alpha`, both
 * sides taken together. 0 < alpha <= 1. */
double verdict_rank_z(double alpha);

#endif
