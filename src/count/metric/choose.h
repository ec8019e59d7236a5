/* SPDX-License-Identifier: Apache-2.0 */
/* From the names of metrics and groups (-M) to the events they need. */
#ifndef SONDE_COUNT_METRIC_CHOOSE_H
#define SONDE_COUNT_METRIC_CHOOSE_H

#include "count/metric/table.h"
#include "events/event_parse.h"

struct metric_choice {
    const struct metric_table *table;
    struct perf_event_sources *sources;
    struct perf_events *events; /* what is needed and not there yet is added at the end */
    size_t from;                /* events before this one are others' (another control group) */
    bool no_group;              /* events of a metric need not count at the same time */
    bool target_cpu;            /* whole CPUs are counted */
};

/*
 * Adds the metrics of `names` ("insn_per_cycle,Default") to `set`. ERR_USAGE: there is no such metric;
 * ERR_ABSENT: it needs an event that this machine lacks. Of a group, metrics that cannot be had are left out,
 * unless that leaves none.
 */
bool metric_choose(const struct metric_choice *c, const char *names, struct metric_set *set, struct err *err);

/* Adds a metric for events that are there already; does nothing when they are not. False: out of memory. */
bool metric_choose_there(const struct metric_choice *c, const char *name, struct metric_set *set);

#endif
