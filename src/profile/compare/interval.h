/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How sure differences between two sets of recordings are: numbers in, intervals out.
 *
 * Each recording is cut into slices of equal length by time. What a row costs is a ratio, its weight over
 * what it is counted against (all samples, seconds, another event, requests), each a sum over slices. Slices
 * are the units that chance moves: a scheduler, a neighbour, a phase of the program change all samples of a
 * moment together, so samples themselves are not independent.
 *
 *   1. The block. Slices next to each other are alike where noise lasts longer than they do. They are joined
 *      by twos, as long as the variance of the means grows with that (Flyvbjerg and Petersen 1989); of what
 *      correlation then is left between neighbours the variance is widened by (1 + r) / (1 - r).
 *   2. The error of each row: from the influence of each block on the ratio (its deviation, linearised);
 *      never less than independent samples would have; and where a side has several recordings, never less
 *      than what these differ by.
 *   3. The bootstrap (Efron 1979; studentised): blocks are drawn with replacement within each recording, the
 *      same draw for all rows. The largest |t| of all rows in a draw is what chance alone makes of this many
 *      rows: the quantile of it is how many errors an interval reaches to either side (Westfall and Young
 *      1993). So all intervals hold together with the level, whatever the rows have to do with each other.
 *
 * The draws are those of a fixed seed; rows are computed one by one: results are the same on any number of
 * threads.
 */
#ifndef SONDE_PROFILE_COMPARE_INTERVAL_H
#define SONDE_PROFILE_COMPARE_INTERVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/threads/pool.h"

enum {
    INTERVAL_SLICES = 64,      /* of a recording */
    INTERVAL_BLOCKS_MIN = 16,  /* fewer say too little of how much they vary */
    INTERVAL_DRAWS = 600,      /* of the bootstrap */
    INTERVAL_SAMPLES_MIN = 20, /* a row with fewer, both sides added up, is not judged */
    INTERVAL_RECORDINGS_MAX = 64,
};

/* One recording; borrowed. */
struct interval_recording {
    bool is_new;             /* the side: base or new */
    const float *weights;    /* [row * INTERVAL_SLICES + slice]: what the row cost then */
    const double *against;   /* [slice]: what that is counted against */
    const uint64_t *samples; /* [row] */
    double spread; /* mean of the squares of the samples' weights over the square of their mean: 1 if all are
                      equal */
    uint64_t total_samples;
};

enum interval_says {
    INTERVAL_TOO_FEW, /* too few samples to tell */
    INTERVAL_NOTHING, /* the interval covers zero */
    INTERVAL_LESS,
    INTERVAL_MORE,
};

/* What is known of one row. Costs are ratios: of all samples' weights 0.01 is 1 %. */
struct interval {
    double base, now;             /* its cost on both sides */
    double low, high;             /* of now - base */
    double base_error, now_error; /* standard errors of the costs */
    enum interval_says says;
};

struct interval_input {
    const struct interval_recording *recordings;
    size_t count; /* at most INTERVAL_RECORDINGS_MAX; each side has one at least */
    size_t rows;
    double level;      /* 0.95 */
    struct pool *pool; /* NULL: one thread */
};

struct interval_result {
    double reach;       /* how many standard errors the intervals reach to either side */
    size_t tested;      /* rows with enough samples */
    unsigned blocks;    /* the fewest blocks that a recording was cut into */
    double correlation; /* what was left between neighbours */
    double base_total;  /* the costs of all rows on the base's side */
};

/* Fills rows[input->rows]. False and *err: out of memory. */
bool interval_find(const struct interval_input *in, struct interval *rows, struct interval_result *result,
                   struct err *err);

/* Whether a row's cost is proved to have grown by more than `share` of the base's (0.05: 5 %); without a
 * base, by more than `share` of what all costs add up to. */
bool interval_grew(const struct interval *row, double share, const struct interval_result *result);

#endif
