/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* What group_counts.bpf.c keeps: for each control group and event what a CPU's counter advanced by while the
 * group's tasks ran there. */
#ifndef SONDE_BPF_GROUP_COUNTS_H
#define SONDE_BPF_GROUP_COUNTS_H

#include <linux/types.h>

enum {
    BPF_GROUP_COUNTS_EVENTS = 32, /* counters of one CPU */
    BPF_GROUP_COUNTS_LEVELS = 16, /* how deep a control group may lie below the root */
};

struct bpf_group_counts_options {
    __u32 events; /* how many there are; */
    __u32 cpus;   /* the counter of event E on CPU C is number E * cpus + C */
};

/* As struct bpf_perf_event_value: the times tell whether the counter was multiplexed. */
struct bpf_group_counts_reading {
    __u64 value, enabled_ns, running_ns;
};

#endif
