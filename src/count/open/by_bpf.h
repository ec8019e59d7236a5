/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control groups that share one set of counters a CPU (perf-stat(1), --bpf-counters): a BPF program reads
 * them where a CPU switches to another group (bpf/group_counts.bpf.c), so that their number, and what a
 * switch costs, do not grow with the groups.
 */
#ifndef SONDE_COUNT_OPEN_BY_BPF_H
#define SONDE_COUNT_OPEN_BY_BPF_H

#include "count/open/counters.h"
#include "os/bpf/bpf_object.h"
#include "os/proc/proc.h"

struct count_by_bpf_from {
    const struct os_bpf *bpf;
    const struct os_proc *proc;
    const char *cgroup_folder; /* NULL: not known */
};

struct count_by_bpf_event {
    uint32_t counter, group; /* their numbers in the program */
};

struct count_by_bpf {
    struct os_bpf_object object;
    bool open;
    uint32_t cpus;                         /* possible ones */
    VEC(struct count_by_bpf_event) events; /* beside the plan's */
    uint32_t counters;
    VEC(const char *) groups; /* names */
    void *values;             /* room for a sum of all CPUs */
};

/* Begins to count the plan's events that are `by_bpf`; none: does nothing. Counters are open. False and *err:
 * what prevents it, and what to do. Call count_by_bpf_fini in either case. */
bool count_by_bpf_open(struct count_by_bpf *b, const struct count_by_bpf_from *from,
                       const struct count_counters *c, const struct count_plan *p,
                       const struct perf_target *t, struct err *err);

/* Sets `now` of the counters of those events. */
bool count_by_bpf_read(struct count_by_bpf *b, struct count_counters *c, const struct count_plan *p,
                       const struct perf_target *t, struct err *err);

void count_by_bpf_fini(struct count_by_bpf *b);

#endif
