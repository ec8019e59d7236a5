/* SPDX-License-Identifier: Apache-2.0 */
#include "count/metric/metric.h"

#include <math.h>

#include "count/tool.h"
#include "events/event_names.h"

void metric_set_fini(struct metric_set *s) {
    for (size_t i = 0; i < s->uses.count; i++) {
        metric_expr_fini(&s->uses.items[i].expr);
        vec_fini(&s->uses.items[i].events);
    }
    vec_fini(&s->uses);
}

struct metric_use *metric_set_add(struct metric_set *s, const struct metric *m, struct err *err) {
    struct metric_use *u = vec_push(&s->uses);
    char *end;
    if (!u) {
        err_memory(err, m->name);
        return NULL;
    }
    if (!metric_expr_parse(&u->expr, m->expr, err)) {
        s->uses.count--;
        return NULL;
    }
    u->metric = m;
    u->factor = strtod(m->unit, &end);
    u->unit = end;
    if (end == m->unit)
        u->factor = 1;
    for (size_t i = 0; i < u->expr.names.count; i++) {
        uint32_t *e = vec_push(&u->events);
        if (!e) {
            err_memory(err, m->name);
            return NULL;
        }
        *e = METRIC_FACT;
    }
    return u;
}

struct lookup {
    const struct metric_set *set;
    const struct metric_use *use;
    const struct counts *counts;
    size_t key;
};

/* "#num_cpus" and other facts of the machine, which tool events tell too. */
static bool fact(const struct lookup *l, const char *name, double *value) {
    static const char *const SAME[][2] = {
        {"#smt_on", "smt_on"},       {"#SMT_on", "smt_on"},
        {"#num_cpus", "num_cpus"},   {"#num_cores", "num_cores"},
        {"#num_dies", "num_dies"},   {"#num_packages", "num_packages"},
        {"#core_wide", "core_wide"}, {"#target_cpu", "target_cpu"},
        {"#has_pmem", "has_pmem"},   {"#num_cpus_online", "num_cpus_online"}};
    const struct count_tool_times t = {
        .elapsed_ns = l->counts->elapsed_ns, .target_cpu = l->counts->cpus, .sys = l->set->sys};
    for (size_t i = 0; i < sizeof SAME / sizeof *SAME; i++)
        if (strcmp(SAME[i][0], name) == 0)
            for (const struct event_name *row = EVENT_NAMES_TOOL; row->name; row++)
                if (strcmp(row->name, SAME[i][1]) == 0)
                    return count_tool_value(&t, row->config, value);
    return false;
}

static bool look_up(void *ctx, const char *name, enum metric_ask ask, double *value) {
    const struct lookup *l = ctx;
    uint32_t event = METRIC_FACT;
    if (strcmp(name, "duration_time") == 0 && ask == METRIC_VALUE) { /* metrics have it in seconds */
        *value = l->counts->elapsed_ns / 1e9;
        return true;
    }
    for (size_t i = 0; i < l->use->expr.names.count; i++)
        if (strcmp(l->use->expr.names.items[i], name) == 0)
            event = l->use->events.items[i];
    if (event == METRIC_FACT) {
        *value = 0;
        return ask != METRIC_VALUE || fact(l, name, value);
    }
    const struct count_cell *cell = counts_cell(l->counts, l->key, event);
    const struct count_event *e = &l->counts->events[event];
    if (ask == METRIC_THERE)
        *value = cell->state == COUNT_COUNTED || cell->state == COUNT_NOT_COUNTED;
    else if (ask == METRIC_SOURCES)
        *value = cell->counters;
    else
        *value = cell->value * (e->clock ? 1 : e->scale);
    return ask != METRIC_VALUE || cell->state == COUNT_COUNTED;
}

double metric_use_value(const struct metric_set *s, const struct metric_use *u, const struct counts *c,
                        size_t key) {
    struct lookup l = {s, u, c, key};
    return metric_expr_value(&u->expr, look_up, &l) * u->factor;
}
