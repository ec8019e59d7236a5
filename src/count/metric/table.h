/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics that there are: those that any PMU gives are built in, others come from files. */
#ifndef SONDE_COUNT_METRIC_TABLE_H
#define SONDE_COUNT_METRIC_TABLE_H

#include "base/bytes.h"
#include "count/metric/metric.h"

struct metric_table {
    VEC(struct metric) items; /* what is read last outdoes what is there */
    struct arena arena;
};

/* The metrics that are built in. False when memory ran out. */
bool metric_table_init(struct metric_table *t);
void metric_table_fini(struct metric_table *t);

/*
 * Adds the metrics of a file in the form that Intel publishes ({"Metrics": [{"MetricName", "Formula",
 * "Events", "UnitOfMeasure", ...}]}, github.com/intel/perfmon), Arm does ({"metrics": {NAME: {"formula",
 * "units", "title"}}}, its telemetry solution), or a list of {"MetricName", "MetricExpr", "ScaleUnit",
 * "MetricGroup", "BriefDescription"}. What else is in there is passed over. False and *err: not JSON, or out
 * of memory.
 */
bool metric_table_read(struct metric_table *t, struct bytes json, const char *path, struct err *err);

/* The metric of that name, or NULL; letter case does not matter. */
const struct metric *metric_table_find(const struct metric_table *t, const char *name, size_t n);
/* Whether a metric belongs to a group, or has that name. */
bool metric_matches(const struct metric *m, const char *name, size_t n);

#endif
