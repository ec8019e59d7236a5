/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* What off_cpu.bpf.c is told, and what it tells: how long threads did not run, and where. */
#ifndef SONDE_BPF_OFF_CPU_H
#define SONDE_BPF_OFF_CPU_H

#include <linux/types.h>

enum {
    BPF_OFF_CPU_FRAMES = 64, /* of a kernel stack, and of a user stack */
};

/* Why a thread does not run. */
enum bpf_off_cpu_kind {
    BPF_OFF_CPU_RUNS,     /* it does */
    BPF_OFF_CPU_SLEEPS,   /* interruptible */
    BPF_OFF_CPU_BLOCKED,  /* uninterruptible: disk, page, kernel lock */
    BPF_OFF_CPU_STOPPED,  /* by a signal or a debugger */
    BPF_OFF_CPU_RUNNABLE, /* it was woken, or preempted, and waits for a CPU */
    BPF_OFF_CPU_KINDS
};

struct bpf_off_cpu_options {
    __u64 min_ns;    /* shorter waits are summed by thread alone: no stack is taken */
    __u64 direct_ns; /* those from here on are told one by one; 0: none */
    __u32 all;       /* all threads; else those in the map `targets` and what they create */
    __u32 inherit;   /* what they create too */
    __u32 kernel_stacks, user_stacks;
};

/* Addresses, innermost first; kept under a hash of them. */
struct bpf_off_cpu_stack {
    __u32 count, unused;
    __u64 ips[BPF_OFF_CPU_FRAMES];
};

struct bpf_off_cpu_key {
    __u32 pid, tid;
    __u64 kernel_stack, user_stack; /* hashes; 0: none */
    __u32 kind;                     /* enum bpf_off_cpu_kind */
    __s32 syscall;                  /* that it waits in; or one of the next */
};

enum {
    BPF_OFF_CPU_NO_CALL = -1,
    BPF_OFF_CPU_UNKNOWN_CALL = -2, /* it is in one */
    BPF_OFF_CPU_UNTOLD = -4,       /* whether it is in one is not known on this architecture */
    BPF_OFF_CPU_SHORT = -3,        /* all waits that were too short for a stack */
};

struct bpf_off_cpu_sum {
    __u64 ns, count;
    __u64 last_ns; /* when the last of them was added: CLOCK_MONOTONIC */
};

/* One long wait. */
struct bpf_off_cpu_direct {
    struct bpf_off_cpu_key key;
    __u64 at_ns, ns; /* when it was told: CLOCK_MONOTONIC */
};

/* At the end: a thread that still waits in a system call; its user stack is not read here, as it is not the
 * current one. */
struct bpf_off_cpu_still {
    struct bpf_off_cpu_key key;
    __u64 at_ns, ns;
    __u64 ip, frame; /* user space's: where it called, and its frame pointer; 0: not told */
    __u64 switches;  /* voluntary ones: while it has no more, the user stack is as it was */
};

/* By CPU. */
struct bpf_off_cpu_counters {
    __u64 switches_voluntary, switches_involuntary; /* of the threads that are watched */
    __u64 waits;
    __u64 lost_sums, lost_sums_ns; /* waits that found the map of sums full */
    __u64 lost_stacks;             /* waits whose stack found its map full */
    __u64 lost_threads;            /* threads whose state could not be kept */
    __u64 unseen;                  /* threads that ran without a switch to them having been seen */
    __u64 due;                     /* not counted: the thread that runs here has a wait to be added up */
};

#endif
