/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The metric field of script (perf-script(1)): ratios and rates of what the counters of a group (-e
 * '{cycles,instructions}:S') counted between two readings; only those that need no tables of a CPU's own.
 *
 *   comm tid time: <tab>metric:    0.50  insn per cycle
 */
#ifndef SONDE_VIEW_SCRIPT_SCRIPT_METRIC_H
#define SONDE_VIEW_SCRIPT_SCRIPT_METRIC_H

#include "view/script/script_print.h"

enum { SCRIPT_METRIC_COUNTERS = 20 };

/* The counts of one reading; zeroed before its first event. */
struct script_metric {
    uint64_t moved[SCRIPT_METRIC_COUNTERS];  /* by counter number (script_metric.c); 0: unchanged or absent */
    uint8_t members[SCRIPT_METRIC_COUNTERS]; /* numbers of the changed counters, in the group's order */
    uint8_t count;
};

/* Adds the change of one event of the group; ignores counters without a metric, and a second event of one
 * counter. */
void script_metric_add(struct script_metric *m, const struct perfdata_attr *attr, uint64_t moved);

/* Prints a line for each metric, after the lines of the group, if the sample's event has the field. The
 * event's plan must exist, and no sample may be waiting (script_print_flush). */
void script_metric_print(const struct script_metric *m, struct script_print *p,
                         const struct script_sample *x);

#endif
