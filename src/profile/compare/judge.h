/* SPDX-License-Identifier: Apache-2.0 */
/* Compared tables judged: the interval of every row (interval.h), from the single samples of its recordings.
 */
#ifndef SONDE_PROFILE_COMPARE_JUDGE_H
#define SONDE_PROFILE_COMPARE_JUDGE_H

#include "profile/compare/compare.h"
#include "profile/compare/interval.h"

/* What costs are counted against. */
enum judge_by {
    JUDGE_BY_SAMPLES,  /* all that the event counted: costs are shares of 1 */
    JUDGE_BY_TIME,     /* nanoseconds that the recording lasted */
    JUDGE_BY_EVENT,    /* another event */
    JUDGE_BY_REQUESTS, /* what the program did, as the user says */
};

struct judge_options {
    enum judge_by by;
    const char *event;      /* JUDGE_BY_EVENT: its name */
    const double *requests; /* JUDGE_BY_REQUESTS: by side of the comparison */
    const bool *is_new;     /* by side of the comparison */
    double level;           /* 0.95 */
    struct pool *pool;      /* NULL: one thread */
};

struct judgement {
    VEC(struct interval) rows; /* by row of the comparison */
    struct interval_result result;
    VEC(uint32_t)
    order; /* of the rows: proved ones first, by how much they changed at least; then the
              likeliest */
};

/* Judges the rows of `c`, which compare_make made of `sides`, whose profiles have options.slices and do not
 * show groups. `out` zeroed; judgement_fini in any case. False and *err: out of memory; ERR_ABSENT: a
 * recording lacks what costs are to be counted against, or has no samples. */
bool compare_judge(const struct compare *c, const struct compare_side *sides, const struct judge_options *o,
                   struct judgement *out, struct err *err);
void judgement_fini(struct judgement *j);

#endif
