/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* Made by bpf/build.py. */
#ifndef SONDE_BPF_DIST_GROUP_COUNTS_H
#define SONDE_BPF_DIST_GROUP_COUNTS_H

#include "bpf/group_counts.h"
#include "os/bpf/bpf_object.h"

enum {
    GROUP_COUNTS_MAP_CPUS,
    GROUP_COUNTS_MAP_COUNTERS,
    GROUP_COUNTS_MAP_SUMS,
    GROUP_COUNTS_MAP_GROUPS,
    GROUP_COUNTS_MAP_RODATA,
    GROUP_COUNTS_MAP_BSS,
    GROUP_COUNTS_MAP_COUNT
};
enum {
    GROUP_COUNTS_PROGRAM_ON_SWITCH,
    GROUP_COUNTS_PROGRAM_ON_MOVE,
    GROUP_COUNTS_PROGRAM_NOW,
    GROUP_COUNTS_PROGRAM_COUNT
};

struct bpf_group_counts_rodata {
    struct bpf_group_counts_options options;
};

struct bpf_group_counts_bss {
    __u64 untold;
};

extern const struct os_bpf_code bpf_group_counts;

#endif
