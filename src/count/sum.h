/* SPDX-License-Identifier: Apache-2.0 */
/* From counters to frozen counts: what belongs to one key is added up. */
#ifndef SONDE_COUNT_SUM_H
#define SONDE_COUNT_SUM_H

#include "count/open/counters.h"
#include "count/tool.h"

/* What counts are told apart by, for one target: which key each of its CPUs and threads belongs to. */
struct count_keys {
    enum count_level level;
    VEC(const char *) texts;
    VEC(uint32_t) of_cpu, of_thread; /* beside the target's lists; empty: there is one key */
    /* For events that are added up by core, where CPUs are told apart: each CPU's core, from 0 on. These have
     * keys of their own from first_core on, or (core_threads) are shown for each of their CPUs. */
    VEC(uint32_t) core_of;
    size_t first_core;
    bool core_threads;
    bool only_counted; /* threads that did not run have no row (all of a machine's) */
    struct arena arena;
};

/* False and *err when memory ran out, or the machine does not have what `o` asks for. */
bool count_keys_init(struct count_keys *k, const struct count_options *o, const struct perf_target *t,
                     const struct count_plan *p, const struct sysfs *sys, struct err *err);
void count_keys_fini(struct count_keys *k);

/* What is summed: all since the start, or (deltas) since the reading before. */
struct count_source {
    const struct count_counters *counters;
    const struct count_plan *plan;
    const struct count_keys *keys;
    const struct count_tool_times *tool; /* of the same span */
    bool deltas, no_scale;
    size_t shared_cpus; /* tasks are counted by CPU, on so many: each counter is enabled while its task runs
                           elsewhere */
};

/* False when memory ran out. Times and `cpus` of the result are the caller's to fill in. */
bool count_sum(const struct count_source *s, struct counts *out);

/* The names of events that ran for less than 90 % of their time, in the order of events; empty: none.
 * Borrowed from the plan, the list is the caller's. */
typedef VEC(const char *) count_names;
bool count_multiplexed(const struct counts *c, count_names *out);

#endif
