/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics that are measured: which event each of their names is, and what they come to. */
#ifndef SONDE_COUNT_METRIC_METRIC_H
#define SONDE_COUNT_METRIC_METRIC_H

#include "count/counts.h"
#include "count/metric/expr.h"
#include "os/sysfs.h"

/* What is known of a metric. */
struct metric {
    const char *name;
    const char *groups; /* names between semicolons; "" */
    const char *expr;
    const char *unit; /* "100%", "1cs/sec": the factor that the value is multiplied by, and the unit; "" */
    const char *text; /* what it tells; "" */
};

/* A metric that is measured. */
struct metric_use {
    const struct metric *metric; /* borrowed */
    struct metric_expr expr;
    VEC(uint32_t) events; /* beside expr.names: the event's index; METRIC_FACT: counted by nobody */
    uint32_t shown_at;    /* the event whose row it stands in */
    double factor;
    const char *unit; /* of metric->unit, behind the factor */
};

enum { METRIC_FACT = UINT32_MAX };

struct metric_set {
    VEC(struct metric_use) uses;
    const struct sysfs *sys; /* for facts such as #num_cpus */
};

void metric_set_fini(struct metric_set *s);

/* A new use at the end, its expression parsed; NULL and *err when it cannot be. Names have no events yet. */
struct metric_use *metric_set_add(struct metric_set *s, const struct metric *m, struct err *err);

/* The use's value for a key, times its factor; NaN when there is none. */
double metric_use_value(const struct metric_set *s, const struct metric_use *u, const struct counts *c,
                        size_t key);

#endif
