/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* What latency.bpf.c and its reader share: a histogram of the times between two events. */
#ifndef SONDE_BPF_LATENCY_H
#define SONDE_BPF_LATENCY_H

#include <linux/types.h>

enum { BPF_LATENCY_BUCKETS = 22 };

/* Buckets are those of src/ftrace/histogram.h. */
struct bpf_latency_options {
    __u32 unit_ns; /* 1 or 1000 */
    __u32 last;    /* number of the last bucket */
    __u64 range;   /* units in a bucket; 0: powers of two */
    __u64 least;   /* units */
    __u32 same;    /* both events are the same: from each to the thread's next one */
    __u32 all;     /* no thread is left out */
    __u32 cpus;    /* only those in the map of CPUs */
    __u32 pad;
};

struct bpf_latency_sum {
    __u64 buckets[BPF_LATENCY_BUCKETS];
    __u64 count, total_ns, max_ns, min_ns;
    __u64 unmatched; /* events of the second kind without one of the first */
    __u64 full;      /* events of the first kind that the map had no room for */
};

#endif
