/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands against each other, run by turns: rounds of one run each, in an order drawn by lot, judged pair by
 * pair (verdict.h). The first round only warms up. Knows nothing of how commands are run.
 */
#ifndef SONDE_COUNT_VERSUS_H
#define SONDE_COUNT_VERSUS_H

#include "base/err.h"
#include "base/vec.h"
#include "count/verdict/verdict.h"

struct versus_measure {
    const char *name; /* NULL: not shown */
    const char *unit; /* of values times scale; "ns": a time; "": a count */
    double scale;
    double step; /* smallest one of the values (struct verdict_measure) */
    bool primary;
};

enum versus_end {
    VERSUS_PRECISE, /* all primary intervals are narrow enough */
    VERSUS_TIME,    /* the time is over */
    VERSUS_PAIRS,   /* as many as were asked for, or as can be kept */
    VERSUS_STOPPED, /* by a signal */
};

struct versus_column {
    VEC(double) values; /* of each pair */
};

struct versus {
    size_t commands, measures;
    size_t pairs;
    struct versus_column
        *columns;             /* owned; [command * measures + measure]; may be one value ahead of `pairs` */
    bool *missing;            /* owned; of each measure: it has no values, in a run at least */
    struct verdict *verdicts; /* owned; [(command - 1) * measures + measure], of commands against the first */
    double precision;         /* how far the widest primary interval reaches, 0.01: 1 %; infinite at first */
    double seconds;           /* that all took */
    enum versus_end end;
};

enum versus_ran { VERSUS_RAN, VERSUS_RAN_STOPPED, VERSUS_RAN_NOT };

struct versus_job {
    size_t commands; /* 2 at least; the first is what the others are compared with */
    const struct versus_measure *measures;
    size_t measure_count;
    double level;       /* of verdicts, as 0.95 */
    double until;       /* precision to stop at, 0.01: 1 % */
    uint64_t budget_ns; /* no round begins that would end later */
    bool budget_fixed;  /* else a few rounds are run in any case, enough for a verdict */
    size_t pairs;       /* run exactly so many, whatever they say and take; 0: no */
    uint64_t seed;      /* for the lots */
    /* Runs a command, with an environment that is `padding` bytes larger, and fills in one value for each
     * measure; NaN: it has none. VERSUS_RAN_STOPPED: a signal ended it; VERSUS_RAN_NOT: *err says why. */
    enum versus_ran (*run)(void *ctx, size_t command, unsigned padding, double *values, struct err *err);
    uint64_t (*now_ns)(void *ctx);
    /* Told how it goes after each round; or NULL. */
    void (*progress)(void *ctx, const struct versus *so_far);
    void *ctx;
};

enum {
    VERSUS_PAIRS_FEW = 10,       /* without a fixed budget there are so many at least */
    VERSUS_PAIRS_MAX = 100000,   /* that are kept */
    VERSUS_PADDING_BYTES = 4096, /* where the stack begins moves by up to this */
};

/* Runs, and judges what there is at the end. False and *err: a command could not be run, or memory. `v` is to
 * be freed in any case. */
bool versus_run(const struct versus_job *job, struct versus *v, struct err *err);
void versus_fini(struct versus *v);

static inline const struct verdict *versus_verdict(const struct versus *v, size_t command, size_t measure) {
    return &v->verdicts[(command - 1) * v->measures + measure];
}

/* Whether one of the commands is proved to be more than `share` above the first one in a primary measure. */
bool versus_regressed(const struct versus_job *job, const struct versus *v, double share);

/* Whether all primary verdicts were possible: there were pairs enough. */
bool versus_decided(const struct versus_job *job, const struct versus *v);

#endif
