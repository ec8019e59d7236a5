/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time between two tracepoints in one thread, as a histogram that the kernel sums up (bpf/latency.bpf.c):
 * nothing is written for each event, and tracefs is not needed.
 *
 *     ftrace_latency_load -> _add_task, _add_cpu -> _attach -> ... -> _read; _close in any state
 */
#ifndef SONDE_FTRACE_LATENCY_H
#define SONDE_FTRACE_LATENCY_H

#include "ftrace/histogram.h"
#include "os/bpf/bpf_object.h"

struct ftrace_latency {
    struct os_bpf_object object; /* of `bpf`; NULL: not open */
    const struct os_bpf *bpf;
    uint64_t unmatched; /* filled by _read: events of the second kind without one of the first */
    uint64_t full;      /* events of the first kind that there was no room for */
};

struct ftrace_latency_options {
    const char *first, *second; /* "SYSTEM/EVENT" */
    bool all;                   /* tasks */
    bool some_cpus;
    bool inherit; /* what measured processes start is measured */
    bool verbose; /* of errors */
};

/* `h`: which buckets there are. */
bool ftrace_latency_load(struct ftrace_latency *l, const struct os_bpf *bpf, const struct ftrace_histogram *h,
                         const struct ftrace_latency_options *o, struct err *err);

/* A process, or a single thread. */
bool ftrace_latency_add_task(struct ftrace_latency *l, uint32_t id, bool thread, struct err *err);
bool ftrace_latency_add_cpu(struct ftrace_latency *l, uint32_t cpu, struct err *err);

/* From now on it is measured. ERR_ABSENT: BPF programs cannot be attached to that event. */
bool ftrace_latency_attach(struct ftrace_latency *l, const struct ftrace_latency_options *o, struct err *err);

/* Ends it, and adds what was measured. */
bool ftrace_latency_read(struct ftrace_latency *l, struct ftrace_histogram *h, struct err *err);
void ftrace_latency_close(struct ftrace_latency *l);

#endif
