/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long threads ran, and how long they waited for a CPU: from being woken or preempted until they ran.
 * The run time is the scheduler's own account if there are events with it and no CPUs are left out;
 * otherwise it comes from the switches. Waits whose end is not known (it was lost, or comes after the
 * recording) are counted separately, as `open`.
 */
#ifndef SONDE_STATES_SCHED_LATENCY_H
#define SONDE_STATES_SCHED_LATENCY_H

#include "select/filter.h"
#include "states/states.h"

struct latency_row {
    uint32_t thread;  /* index in states; the first one if threads are merged */
    uint32_t threads; /* how many threads the row stands for */
    uint64_t run_ns, delays, delay_ns, open;
    uint64_t max_ns, max_since_ns,
        max_until_ns; /* the longest wait, the first of equals; max_until_ns 0: none */
};

struct latency {
    VEC(struct latency_row) rows;     /* by thread until latency_finish */
    const struct filter_ranges *cpus; /* borrowed; NULL or empty: all. Where it ran or waited. */
};

/* The sink of states; ctx is the struct latency, zeroed but for `cpus`. */
bool latency_add(void *ctx, const struct states_interval *i);

/* What rows are sorted by, downwards. */
enum latency_key {
    LATENCY_RUNTIME,
    LATENCY_SWITCH, /* the number of waits */
    LATENCY_AVG,
    LATENCY_MAX,
    LATENCY_KEYS,
};

struct latency_order {
    enum latency_key keys[LATENCY_KEYS];
    size_t count;
};

/* Reads "avg,max". False: *bad is the word that is no key; it may be empty. */
bool latency_order_parse(const char *text, struct latency_order *order, struct bytes *bad);

/* Keeps the rows of threads that ran or waited, without idle ones; with `merge` one row for all threads of a
 * name. Sorts them by the keys, then by name and tid. False: out of memory. */
bool latency_finish(struct latency *l, const struct states *s, bool merge, const struct latency_order *order);
void latency_fini(struct latency *l);

#endif
