/* SPDX-License-Identifier: Apache-2.0 */
/* What a count comes to beside others of the same key: per second of CPU time, per cycle, of all branches ...
 * The rules are what perf 6.x prints behind the counts of -e. */
#ifndef SONDE_COUNT_RATE_H
#define SONDE_COUNT_RATE_H

#include "count/counts.h"

struct count_rate {
    double value;
    const char *unit; /* "CPUs utilized", "K/sec", "insn per cycle" */
    enum count_rate_form {
        COUNT_RATE_THREE,
        COUNT_RATE_TWO,
        COUNT_RATE_PERCENT
    } form; /* digits after the point */
};

enum { COUNT_RATES_MAX = 1 };

/* The rates of an event's count, at most COUNT_RATES_MAX: how many. `key`: of the cell. */
unsigned count_rates(const struct counts *c, size_t key, size_t event, struct count_rate *out);

#endif
