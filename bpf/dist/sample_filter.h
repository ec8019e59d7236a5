/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* Made by bpf/build.py. */
#ifndef SONDE_BPF_DIST_SAMPLE_FILTER_H
#define SONDE_BPF_DIST_SAMPLE_FILTER_H

#include "bpf/sample_filter.h"
#include "os/bpf/bpf_object.h"

enum {
    SAMPLE_FILTER_MAP_COUNTERS,
    SAMPLE_FILTER_MAP_RODATA,
    SAMPLE_FILTER_MAP_COUNT
};
enum {
    SAMPLE_FILTER_PROGRAM_ON_SAMPLE,
    SAMPLE_FILTER_PROGRAM_COUNT
};

struct bpf_sample_filter_rodata {
    struct bpf_filter filter;
};

extern const struct os_bpf_code bpf_sample_filter;

#endif
