/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many threads ran at a time (perf-report(1), "CPU and latency overheads"), from context switches:
 *
 *   in   +1      counted from one, the thread that the recording began with. As in perf, it does not matter
 *   out  -1      which thread came or went, so that a missing switch is never made up for
 *   exit -1
 */
#ifndef SONDE_RECORDING_PARALLELISM_H
#define SONDE_RECORDING_PARALLELISM_H

#include "base/vec.h"
#include "model/model.h"

struct recording_switch {
    struct model_when when;
    int64_t count; /* until sorted: +1 or -1; then how many ran from here on */
};

/* Zeroed at first. */
struct recording_parallelism {
    VEC(struct recording_switch) list;
};

/* Adds a switch; any order will do. False: out of memory. */
bool recording_parallelism_note(struct recording_parallelism *p, struct model_when when, bool in);
/* Sorts the switches: once, after the last one. */
void recording_parallelism_sort(struct recording_parallelism *p);
void recording_parallelism_fini(struct recording_parallelism *p);
/* Returns how many ran, 1 at least. Any number of threads. */
uint32_t recording_parallelism_at(const struct recording_parallelism *p, struct model_when when);
/* Returns the most at any time; 1 at least. */
uint32_t recording_parallelism_most(const struct recording_parallelism *p);

#endif
