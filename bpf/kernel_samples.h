/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* The kernel's structs of samples, in the way of kernel.h. */
#ifndef SONDE_BPF_KERNEL_SAMPLES_H
#define SONDE_BPF_KERNEL_SAMPLES_H

#include "kernel.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

union perf_sample_weight {
    __u64 full;
};

union perf_mem_data_src {
    __u64 val;
};

struct perf_sample_data {
    __u64 sample_flags; /* PERF_SAMPLE_*: which members are set (Linux 6.1) */
    __u64 period;
    struct {
        __u32 pid, tid;
    } tid_entry;
    __u64 time, id, ip, addr, txn;
    union perf_sample_weight weight;
    union perf_mem_data_src data_src;
    __u64 phys_addr, code_page_size, data_page_size;
};

/* What the context of a perf_event program is. */
struct bpf_perf_event_data_kern {
    struct perf_sample_data *data;
};

#pragma clang attribute pop

#endif
