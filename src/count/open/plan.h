/* SPDX-License-Identifier: Apache-2.0 */
/* From what events say by themselves (events/event_parse.h) to the counters that are opened, and to what
 * views know of events. */
#ifndef SONDE_COUNT_OPEN_PLAN_H
#define SONDE_COUNT_OPEN_PLAN_H

#include "count/options.h"
#include "events/event_parse.h"

struct count_plan_event {
    struct perfdata_attr attr;
    const char *name;
    const char *filter, *probe_path, *cpus; /* NULL: none, none, all of the target */
    uint32_t leader, members;               /* as in perf_event */
    bool weak;                              /* its group is taken apart where it cannot be counted as one */
    bool mode_fixed;                        /* exclude_{user,kernel,hv} stay as they are */
    bool max_precise;
    bool percore;  /* with COUNT_CPU: the threads of a core are added up */
    uint32_t tool; /* EVENT_NAMES_TOOL's number; 0: the kernel counts it */
    bool skipped;  /* not counted this time */
    bool together; /* one of the software events of a CPU, which are opened as one group to be read at once */
    bool optional; /* no row where it is not supported */
    bool software; /* it and its group need no counter of the CPU: they run whenever they are enabled */
    uint32_t key;  /* with COUNT_CGROUP: its control group's number */
    bool by_bpf;   /* it counts for its control group by what a BPF program adds up (by_bpf.h) */
    uint32_t counted_by; /* the event whose counters are opened for it: its own index, or an earlier one */
};

enum { COUNT_TOGETHER_MAX = 64 /* events of such a group */ };

struct count_plan {
    VEC(struct count_plan_event) events;
    VEC(struct count_event) shown; /* beside events, one for each */
    VEC(const char *) cgroups;     /* with COUNT_CGROUP: the names of the groups */
    bool on_exec;                  /* events begin with the command */
    bool quiet;                    /* no messages about what names show anyway, or an earlier run has said */
    bool by_task; /* of a command, by thread or name: counters tell what each thread counted (tasks.h) */
    struct arena arena;
};

/* False and *err when options contradict each other or memory ran out. Texts of `events` are borrowed. */
bool count_plan_init(struct count_plan *p, const struct perf_events *events, const struct count_options *o,
                     const struct perf_target *t, struct err *err);
/* The control group that an event counts; NULL: all tasks. */
const char *count_plan_cgroup(const struct count_plan *p, uint32_t event);

void count_plan_fini(struct count_plan *p);

#endif
