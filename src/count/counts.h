/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frozen counts, as views print them: a table with a cell for each event and each of what the counts are
 * told apart by (a key: one for all, a CPU, a core, a thread ...).
 */
#ifndef SONDE_COUNT_COUNTS_H
#define SONDE_COUNT_COUNTS_H

#include "base/arena.h"
#include "base/vec.h"

/* What counts are told apart by (perf-stat(1): -A, --per-core ...). */
enum count_level {
    COUNT_ALL,
    COUNT_CPU,
    COUNT_CORE,
    COUNT_CLUSTER,
    COUNT_CACHE,
    COUNT_DIE,
    COUNT_SOCKET,
    COUNT_NODE,
    COUNT_THREAD,
    COUNT_COMM,
    COUNT_CGROUP,
    COUNT_LEVELS
};

/* Events are listed once; what is counted in several places (PMUs of one kind) is added up in one of them. */
struct count_event {
    const char *name;
    const char *unit;   /* "" where there is none */
    const char *cgroup; /* NULL: all tasks */
    double scale;       /* a count times scale is in `unit` */
    uint32_t type;      /* of the attr */
    uint64_t config;
    bool tool;       /* counted by ourselves */
    bool clock;      /* of CPU time, in nanoseconds before scaling */
    uint32_t row_of; /* the event whose row shows it: its own index, or an earlier one */
};

enum count_state {
    COUNT_NONE,          /* nothing of this event belongs to that key: no row */
    COUNT_COUNTED,       /* there is a value */
    COUNT_NOT_COUNTED,   /* its counter never ran */
    COUNT_NOT_SUPPORTED, /* this machine has no such counter */
};

struct count_cell {
    enum count_state state;
    uint32_t counters; /* how many were added up */
    double value;      /* not scaled by the event's scale; multiplexing is accounted for */
    double enabled_ns, running_ns;
    double spread; /* of several runs: the standard deviation of the mean, in % of the mean */
};

struct count_key {
    const char *text; /* "S0-D0-C1", "CPU3", "bash-123"; "" with COUNT_ALL */
    bool core;        /* beside CPUs (COUNT_CPU): a core, for events that are added up by core */
};

struct counts {
    enum count_level level;
    const struct count_event *events; /* borrowed from the plan */
    size_t event_count;
    VEC(struct count_key) keys;
    struct count_cell *cells; /* owned; [key * event_count + event] */
    double time_ns;           /* of an interval: its end, from the start; else elapsed_ns */
    double elapsed_ns;        /* what was measured, from when events were on */
    double user_ns, system_ns;
    bool cpus;          /* whole CPUs were counted, not tasks */
    struct arena arena; /* texts of keys */
};

void counts_fini(struct counts *c);

static inline struct count_cell *counts_cell(const struct counts *c, size_t key, size_t event) {
    return &c->cells[key * c->event_count + event];
}

/* Several runs, added up one by one. */
struct count_average {
    struct counts mean; /* after count_average_finish: means, with their spread */
    double *squares;    /* of the differences from the mean, of each cell; owned */
    uint32_t *runs;     /* of each cell */
    size_t cells;
    VEC(double) elapsed_ns; /* of each run */
};

/* Adds a run. Keys are found again by their texts. What the first run borrows has to stay. False when memory
 * ran out. */
bool count_average_add(struct count_average *a, const struct counts *run);
/* Makes means and spreads of what was added. */
void count_average_finish(struct count_average *a);
void count_average_fini(struct count_average *a);

/* The mean of some numbers, and the standard deviation of that mean in the same unit. */
double count_mean(const double *x, size_t n, double *deviation);

#endif
