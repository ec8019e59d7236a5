/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long threads ran (as the scheduler accounts it, where the events tell and all CPUs count; else by what
 * is known of their switches), and how long they waited for a CPU: woken, or taken off one, and not running
 * yet. Waits whose end is not known (it was lost, or comes after the recording) are counted apart, as `open`.
 */
#ifndef SONDE_STATES_LATENCY_H
#define SONDE_STATES_LATENCY_H

#include "select/filter.h"
#include "states/states.h"

struct latency_row {
    uint32_t thread;  /* index in states; of merged ones the first */
    uint32_t threads; /* how many it stands for */
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

/* Leaves the rows of threads that ran or waited, idle ones not; with `merge` one for all threads of a name.
 * Sorts them: after the keys by name and tid. False: out of memory. */
bool latency_finish(struct latency *l, const struct states *s, bool merge, const struct latency_order *order);
void latency_fini(struct latency *l);

#endif
