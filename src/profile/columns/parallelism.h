/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many threads ran at a time (perf-report(1), "CPU and latency overheads"), from context switches:
 *
 *   in   +1      counted from one, the thread that the recording began with. As in perf, it does not matter
 *   out  -1      which thread came or went, so that a missing switch is never made up for
 *   exit -1
 */
#ifndef SONDE_PROFILE_COLUMNS_PARALLELISM_H
#define SONDE_PROFILE_COLUMNS_PARALLELISM_H

#include "base/vec.h"
#include "model/model.h"

struct profile_switch {
    struct model_when when;
    int64_t count; /* until sorted: +1 or -1; then how many ran from here on */
};

/* Zeroed at first. */
struct profile_parallelism {
    VEC(struct profile_switch) list;
};

/* Adds a switch; any order will do. False: memory. */
bool profile_parallelism_note(struct profile_parallelism *p, struct model_when when, bool in);
/* Sorts the switches: once, after the last one. */
void profile_parallelism_sort(struct profile_parallelism *p);
void profile_parallelism_fini(struct profile_parallelism *p);
/* Returns how many ran, 1 at least. Any number of threads. */
uint32_t profile_parallelism_at(const struct profile_parallelism *p, struct model_when when);
/* Returns the most at any time; 1 at least. */
uint32_t profile_parallelism_most(const struct profile_parallelism *p);

#endif
