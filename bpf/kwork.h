/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* What kwork.bpf.c and its reader share: interrupts, soft interrupts and work items, and who used the CPUs,
 * summed. */
#ifndef SONDE_BPF_KWORK_H
#define SONDE_BPF_KWORK_H

#include <linux/types.h>

enum { BPF_KWORK_IRQ, BPF_KWORK_SOFTIRQ, BPF_KWORK_WORKQUEUE };

enum {
    BPF_KWORK_DEPTH = 16, /* a power of two: interrupts do not nest deeper than that */
    BPF_KWORK_VECTORS = 32,
    BPF_KWORK_NAME = 64,
};

struct bpf_kwork_options {
    __u32 cpus;    /* only those in the map of CPUs: work that began there, threads while they ran there */
    __u32 threads; /* times of CPUs and threads are wanted, not those of each work */
};

/* A work on the CPU where it began. */
struct bpf_kwork_key {
    __u64 id; /* number of the interrupt or vector, address of the item */
    __u32 class, cpu;
};

struct bpf_kwork_sum {
    __u64 count, total_ns, max_ns, max_since_ns, max_until_ns; /* of the longest, the first of equals */
};

struct bpf_kwork_row {
    struct bpf_kwork_sum run, delay; /* delay: runs whose raise was seen */
    __u64 function;                  /* of a work item */
    char name[BPF_KWORK_NAME];       /* of an interrupt */
};

/* By tid; the idle thread of a CPU has bit 32 set. */
struct bpf_kwork_thread {
    __u64 run_ns, inner_ns; /* inner: in interrupts, which run_ns has, too */
    __u64 kernel_ns;        /* internal: the kernel's sum of its run time when it was last seen */
    char comm[16];
};

/* An interrupt that is running. */
struct bpf_kwork_open {
    __u64 id, since_ns, inner_ns, raise_ns; /* raise_ns 0: not seen */
    __u32 class, pad;
};

struct bpf_kwork_cpu {
    __u64 run_ns, idle_ns, irq_ns, softirq_ns, idle_inner_ns; /* as struct kwork_top_cpu */
    __u64 events, raises, entries, exits;                     /* events; what had no counterpart */
    __u64 full;   /* what was not counted, as the map of rows, items or threads was full */
    __u64 untold; /* switches that came without an event */
    struct bpf_kwork_open open[BPF_KWORK_DEPTH];
    __u64 since_ns;   /* the thread has run since then */
    __u32 depth;      /* of `open` */
    __u32 tid, begun; /* what runs; whether that is known */
    __u32 pad;
};

/* A work item that was activated, or runs. */
struct bpf_kwork_item {
    __u64 raise_ns, since_ns; /* 0: not raised, not running */
    __u64 run_raise_ns;       /* the raise of what runs */
    __u64 function;
    __u32 cpu, pad; /* where it began */
};

#endif
