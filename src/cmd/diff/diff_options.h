/* SPDX-License-Identifier: Apache-2.0 */
/* What the user requested of `diff`, on the command line and in the configuration. */
#ifndef SONDE_CMD_DIFF_DIFF_OPTIONS_H
#define SONDE_CMD_DIFF_DIFF_OPTIONS_H

#include "cmd/report/report_options.h"
#include "profile/compare/compare.h"

struct diff_options {
    struct report_options report; /* how each recording is read */
    struct compare_computation how;
    bool cycles, histogram; /* -c cycles, --cycles-hist */
    bool streams;
    bool functions; /* not an option: compare_options' */
    int order;      /* -o */
    bool baseline_only, periods, formulas, dump, exact, callers, inlined;

    /* The verdict. */
    bool verdict, json, gate, by_time;
    const char *base, *now;           /* --base, --new: files, separated by commas */
    const char *base_stat, *new_stat; /* files of `stat record` */
    const char *by_event, *per;
    double gate_share;
    const char *gate_function; /* NULL: all */
    double level;
};

/* Whether rows are to be judged. */
static inline bool diff_judges(const struct diff_options *o) {
    return o->verdict || o->json || o->gate || o->by_time || o->by_event || o->per || o->base || o->now ||
           o->base_stat;
}

/* Callers with less of all samples, in per cent, on all sides, are left out; as in report -g. */
#define DIFF_LEAST_CALLER 0.5

enum { DIFF_REGRESSION = 1, DIFF_NOT_JUDGED = 2 }; /* status with --gate */

/* Sets the defaults, and what the configuration has (perf-config(1): diff.*). */
void diff_options_init(struct diff_options *o, const struct perfconfig *config);
void diff_options_fini(struct diff_options *o);

/* Checks what single options could not, and sets how recordings are read. False and *err: usage. */
bool diff_options_settle(struct diff_options *o, struct err *err);

extern const struct option diff_option_rows[];

#endif
