/* SPDX-License-Identifier: Apache-2.0 */
/* The opened counters: one for each event, CPU and thread of a target. */
#ifndef SONDE_COUNT_OPEN_COUNTERS_H
#define SONDE_COUNT_OPEN_COUNTERS_H

#include "count/open/plan.h"
#include "os/perf/perf_event.h"

struct count_reading {
    uint64_t value, enabled_ns, running_ns;
};

struct count_counter {
    int fd; /* -1: the thread was gone, or another event's counter counts for this one, too (plan.h) */
    uint32_t event, cpu, thread;      /* indices: in the plan, in the target's lists */
    struct count_reading now, before; /* as last read, and as of the interval before */
};

struct count_counters {
    const struct os_perf *perf;
    VEC(struct count_counter)
    list;                /* by event, then CPU, then thread; none of events that are not supported */
    VEC(bool) supported; /* of each event: this machine has it */
    bool user_only_said;
};

/*
 * Opens what can be opened. An event that this machine lacks is not supported, which is no error. False and
 * *err for everything else, with what to do; everything is closed then. `cgroup_folder`: where control groups
 * lie; NULL: not known.
 */
bool count_counters_open(struct count_counters *c, const struct os_perf *perf, struct count_plan *p,
                         const struct perf_target *t, const char *cgroup_folder, struct err *err);

/* The same one by one: nothing is open at first; then one counter of an event, of the CPU and thread that
 * `cell` names, in the group of `group_fd`. An event that is not supported is left out. */
bool count_counters_init(struct count_counters *c, const struct os_perf *perf, const struct count_plan *p,
                         struct err *err);
bool count_counters_open_one(struct count_counters *c, struct count_plan *p, const struct perf_target *t,
                             const struct count_counter *cell, int group_fd, struct err *err);

/* Turns all events on or off (leaders of groups; the members follow). */
void count_counters_enable(struct count_counters *c, const struct count_plan *p, bool on);
/* The same for the events of that name; false when there is none. */
bool count_counters_enable_named(struct count_counters *c, const struct count_plan *p, const char *name,
                                 bool on);

/* Reads all counters but those that are read by_bpf.h; what was read last becomes `before`. */
void count_counters_read(struct count_counters *c, const struct count_plan *p);

void count_counters_fini(struct count_counters *c);

#endif
