/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many threads ran at a time (perf-report(1), "CPU and latency overheads"), from context switches:
 *
 *   in   +1      counted from one, the thread that the recording began with; as perf does, without a look at
 *   out  -1      who came or went, so that what is missing in a recording stays missing
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

/* False: memory. Any order. */
bool profile_parallelism_note(struct profile_parallelism *p, struct model_when when, bool in);
/* Once, after the last note. */
void profile_parallelism_sort(struct profile_parallelism *p);
void profile_parallelism_fini(struct profile_parallelism *p);
/* 1 at least. Any number of threads. */
uint32_t profile_parallelism_at(const struct profile_parallelism *p, struct model_when when);
/* The most at any time; 1 at least. */
uint32_t profile_parallelism_most(const struct profile_parallelism *p);

#endif
