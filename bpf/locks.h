/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* What locks.bpf.c and its reader share: waits for locks, summed by the key of the report's rows. */
#ifndef SONDE_BPF_LOCKS_H
#define SONDE_BPF_LOCKS_H

#include <linux/types.h>

enum {
    BPF_LOCKS_FRAMES = 32,
    BPF_LOCKS_LEVELS = 16, /* how deep a control group may lie below one that is asked for */
};

enum {
    BPF_LOCKS_BY_STACK,   /* who took the lock */
    BPF_LOCKS_BY_THREAD,  /* who waited */
    BPF_LOCKS_BY_ADDRESS, /* the lock */
    BPF_LOCKS_BY_OWNER,   /* the owner when the wait began; 0: not known */
    BPF_LOCKS_BY_GROUP,   /* the control group of who waited */
};

struct bpf_locks_options {
    __u32 by;
    __u32 stacks; /* stacks are taken, whatever the key is */
    __u32 all;    /* no thread is left out */
    __u32 cpus;   /* only those in the map of CPUs */
    __u32 locks;  /* only those in the map of locks */
    __u32 groups; /* only threads in the control groups of the map, or below them */
    __u64 types;  /* a bit for each value of the event's flags below 64; 0: all */
};

struct bpf_locks_key {
    __u64 what;  /* a thread, an address, a control group's id */
    __u64 stack; /* its hash, if stacks are taken */
    __u32 flags; /* of the event */
    __u32 pad;
};

struct bpf_locks_sum {
    __u64 count, total_ns, max_ns, min_ns;
    __u64 address; /* this and all below: of the row's first wait */
    __u32 tid, pid;
    char comm[16];
};

struct bpf_locks_stack {
    __u64 count;
    __u64 ips[BPF_LOCKS_FRAMES];
};

struct bpf_locks_counters {
    __u64 full_waits, full_sums, full_stacks; /* maps that had no room */
};

#endif
