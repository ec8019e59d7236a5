/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* Made by bpf/build.py. */
#ifndef SONDE_BPF_DIST_KWORK_H
#define SONDE_BPF_DIST_KWORK_H

#include "bpf/kwork.h"
#include "os/bpf/bpf_object.h"

enum {
    KWORK_MAP_ROWS,
    KWORK_MAP_ITEMS,
    KWORK_MAP_THREADS,
    KWORK_MAP_CPUS,
    KWORK_MAP_STATES,
    KWORK_MAP_RAISED,
    KWORK_MAP_BSS,
    KWORK_MAP_RODATA,
    KWORK_MAP_COUNT
};
enum {
    KWORK_PROGRAM_ON_SWITCH,
    KWORK_PROGRAM_NOW,
    KWORK_PROGRAM_ON_IRQ_ENTRY,
    KWORK_PROGRAM_ON_IRQ_EXIT,
    KWORK_PROGRAM_ON_SOFTIRQ_RAISE,
    KWORK_PROGRAM_ON_SOFTIRQ_ENTRY,
    KWORK_PROGRAM_ON_SOFTIRQ_EXIT,
    KWORK_PROGRAM_ON_WORK_RAISE,
    KWORK_PROGRAM_ON_WORK_ENTRY,
    KWORK_PROGRAM_ON_WORK_EXIT,
    KWORK_PROGRAM_COUNT
};

struct bpf_kwork_bss {
    __u64 begin_ns;
    __u32 ending;
    char __pad0[4];
    __u64 end_ns;
};

struct bpf_kwork_rodata {
    struct bpf_kwork_options options;
};

extern const struct os_bpf_code bpf_kwork;

#endif
