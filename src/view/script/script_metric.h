/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The metric field of script (perf-script(1)): figures of what the counters of a group (-e
 * '{cycles,instructions}:S') counted from one reading to the next, which no processor's tables are needed
 * for.
 *
 *   comm tid time: <tab>metric:    0.50  insn per cycle
 */
#ifndef SONDE_VIEW_SCRIPT_SCRIPT_METRIC_H
#define SONDE_VIEW_SCRIPT_SCRIPT_METRIC_H

#include "view/script/script_print.h"

enum { SCRIPT_METRIC_COUNTERS = 20 };

/* What one reading says; zeroed before its first event. */
struct script_metric {
    uint64_t moved[SCRIPT_METRIC_COUNTERS];  /* by number of counter (script_metric.c); 0: did not move, or
                                                absent */
    uint8_t members[SCRIPT_METRIC_COUNTERS]; /* numbers of those that moved, in the group's order */
    uint8_t count;
};

/* One event of the group has moved. What makes no figure is left out, and an event's second counter. */
void script_metric_add(struct script_metric *m, const struct perfdata_attr *attr, uint64_t moved);

/* A line for each figure, after those of the group; nothing unless the sample's event has the field. The
 * event's plan must exist, and nothing wait (script_print_flush). */
void script_metric_print(const struct script_metric *m, struct script_print *p,
                         const struct script_sample *x);

#endif
