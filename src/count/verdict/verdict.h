/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is B faster than A? Judged from pairs of runs: the logarithms of B's values over A's, by the signed-rank
 * test (verdict_rank.h). Pure: numbers in, verdict out.
 *
 * What is asked for beforehand (primary measures: CPU time, elapsed time) shares the allowed rate of false
 * alarms evenly, so that all its verdicts and intervals hold together. All other measures share as much
 * again, by Holm's procedure (1979), and each interval has the level that its measure was tested at: it
 * leaves out "equal" if and only if the verdict does.
 *
 * When to stop is for verdict_precision to say, which looks at how wide the intervals are and never at what
 * they say: whoever stops at the first significant result finds one everywhere.
 */
#ifndef SONDE_COUNT_VERDICT_H
#define SONDE_COUNT_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Values of the same measure, a[i] and b[i] of one pair. */
struct verdict_measure {
    const double *a, *b; /* n of each; borrowed; not negative */
    size_t n;
    /* The smallest step of the values. Where any of them is zero, which has no logarithm, half a step is
     * added to all. */
    double step;
    bool primary;
};

struct verdict_options {
    double level;         /* as 0.95: how sure all primary verdicts are together */
    unsigned comparisons; /* how many B's are compared with A; they share the false alarms too */
};

enum verdict_says {
    VERDICT_TOO_FEW, /* no result of so few pairs would be sure enough */
    VERDICT_NOTHING, /* no difference seen */
    VERDICT_LESS,    /* B's values are lower than A's */
    VERDICT_MORE,
};

struct verdict {
    enum verdict_says says;
    double a, b; /* medians */
    double ratio, low,
        high;     /* of B to A: estimate and interval; low 0 and high infinite with too few pairs */
    double level; /* of the interval */
    double p;     /* of the test, not corrected */
    /* The difference that would have been seen in nine tries of ten, as a share of A (0.01: 1 %). Infinite
     * with too few pairs, 0 when all pairs have the same ratio. */
    double visible;
    size_t pairs, equal; /* equal: without any difference */
};

/* Judges `count` measures into `out`. Values that are not finite or below zero count as zero. False and *err:
 * memory. */
bool verdict_judge(const struct verdict_measure *measures, size_t count, const struct verdict_options *o,
                   struct verdict *out, struct err *err);

/* Fewer pairs say too little of how much runs differ, so that a comparison could end by chance. */
enum { VERDICT_PAIRS_MIN = 12 };

/* How many pairs there should be when `pairs` were too few: looking after each of many costs more than it
 * saves. */
static inline size_t verdict_next_look(size_t pairs) {
    return pairs < VERDICT_PAIRS_MIN ? VERDICT_PAIRS_MIN : pairs + 1 + pairs / 16;
}

/* How far the widest primary interval reaches to either side of its ratio (0.01: 1 %); infinite while there
 * are too few pairs to tell. */
double verdict_precision(const struct verdict_measure *measures, const struct verdict *verdicts,
                         size_t count);

/* Draws by lot: numbers below `n` (1 or more), and the order of a round's runs. Same state, same draws. */
uint32_t verdict_draw(uint64_t *state, uint32_t n);
void verdict_shuffle(uint64_t *state, unsigned *order, size_t n);

#endif
