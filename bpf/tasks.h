/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* What the iterator of tasks.bpf.c writes for each thread. */
#ifndef SONDE_BPF_TASKS_H
#define SONDE_BPF_TASKS_H

#include <linux/types.h>

struct bpf_task_row {
    __u32 tid, pid;
    __u32 state, flags;                             /* task_struct's __state and flags */
    __u64 voluntary_switches, involuntary_switches; /* since it began */
    char comm[16];
};

#endif
