/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From what events say by themselves (event_parse.h) and what a recording is asked to be (options.h) to the
 * attrs that are opened. The rules are perf-record(1)'s.
 */
#ifndef SONDE_RECORD_PLAN_PLAN_H
#define SONDE_RECORD_PLAN_PLAN_H

#include "base/err.h"
#include "base/vec.h"
#include "events/event_parse.h"
#include "events/target.h"
#include "probe/program.h"
#include "record/options.h"

/* An event to open. Texts are borrowed from the perf_events, or static. */
struct record_event_plan {
    struct perfdata_attr attr;
    const char *name;
    const char *filter;        /* the kernel parses it; or NULL */
    const char *sample_filter; /* filter/filter.h does; or NULL */
    const char *probe_path; /* of an uprobe: the file, which config1 points at while it is opened; or NULL */
    const struct perf_event *probe; /* whose samples are made by a program (probes/probes.h); or NULL */
    const char *cgroup;             /* only tasks of that control group; empty or NULL: all */
    const char *cpus;               /* only on these; NULL: on the target's */
    const char *group;              /* of a leader: the group's name, or NULL */
    uint32_t leader;                /* its own index when alone */
    uint32_t members;               /* of a leader: how many, itself included; else 0 */
    bool weak;                      /* its group is taken apart where it cannot be opened as one */
    bool tracepoint;
    bool made;        /* its samples are made by the owner of the session (record_job.made) */
    bool off_cpu;     /* its samples are made here (off_cpu/off_cpu.h), not by the kernel */
    bool side_band;   /* opened on all CPUs, also with -C: what processes do elsewhere concerns us too */
    bool max_precise; /* try the highest precise_ip first */
    bool user_only;   /* the kernel had to be left out for want of rights */
    bool mode_fixed;  /* the user said which modes: exclude_{user,kernel,hv} stay */
};

struct record_plan {
    VEC(struct record_event_plan) events;
    const char *cgroup_folder; /* where the groups of -G lie; NULL: not known. Set by who opens the plan */
    bool split_id;             /* several events: samples carry an id */
};

/* False and *err when options contradict each other or memory ran out. */
bool record_plan_init(struct record_plan *c, const struct perf_events *events, const struct record_options *o,
                      const struct perf_target *t, struct err *err);
void record_plan_fini(struct record_plan *c);

/* perf_regs masks of all general registers that can be sampled on this machine (asm/perf_regs.h). */
uint64_t record_plan_all_regs(void);

/* How many bytes of the user stacks of threads that wait are copied; 0: they are walked by frame pointers. */
uint32_t record_plan_off_cpu_copies(const struct record_options *o);
/* The registers that are copied with them; 0: this machine's cannot be. */
uint64_t record_plan_off_cpu_regs(void);

#endif
