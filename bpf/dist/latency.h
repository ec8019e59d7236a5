/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* Made by bpf/build.py. */
#ifndef SONDE_BPF_DIST_LATENCY_H
#define SONDE_BPF_DIST_LATENCY_H

#include "bpf/latency.h"
#include "os/bpf/bpf_object.h"

enum {
    LATENCY_MAP_BEGINS,
    LATENCY_MAP_TARGETS,
    LATENCY_MAP_CPUS,
    LATENCY_MAP_SUMS,
    LATENCY_MAP_RODATA,
    LATENCY_MAP_COUNT
};
enum {
    LATENCY_PROGRAM_ON_BEGIN,
    LATENCY_PROGRAM_ON_BOTH,
    LATENCY_PROGRAM_ON_END,
    LATENCY_PROGRAM_ON_FORK,
    LATENCY_PROGRAM_COUNT
};

struct bpf_latency_rodata {
    struct bpf_latency_options options;
};

extern const struct os_bpf_code bpf_latency;

#endif
