/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* Made by bpf/build.py. */
#ifndef SONDE_BPF_DIST_OFF_CPU_H
#define SONDE_BPF_DIST_OFF_CPU_H

#include "bpf/off_cpu.h"
#include "os/bpf/bpf_object.h"

enum {
    OFF_CPU_MAP_SUMS_A,
    OFF_CPU_MAP_SUMS,
    OFF_CPU_MAP_COPYING,
    OFF_CPU_MAP_COPIES,
    OFF_CPU_MAP_THREADS,
    OFF_CPU_MAP_TARGETS,
    OFF_CPU_MAP_SUMS_B,
    OFF_CPU_MAP_STACKS,
    OFF_CPU_MAP_DIRECTS,
    OFF_CPU_MAP_COUNTERS,
    OFF_CPU_MAP_SCRATCH,
    OFF_CPU_MAP_USER_SCRATCH,
    OFF_CPU_MAP_PAGES,
    OFF_CPU_MAP_CODE,
    OFF_CPU_MAP_OBJECTS,
    OFF_CPU_MAP_OBJECT_SCRATCH,
    OFF_CPU_MAP_WAKERS,
    OFF_CPU_MAP_RODATA,
    OFF_CPU_MAP_BSS,
    OFF_CPU_MAP_RODATA_CST32,
    OFF_CPU_MAP_COUNT
};
enum {
    OFF_CPU_PROGRAM_ON_SWITCH,
    OFF_CPU_PROGRAM_ON_WAKING,
    OFF_CPU_PROGRAM_ON_SYS_EXIT,
    OFF_CPU_PROGRAM_ON_FORK,
    OFF_CPU_PROGRAM_ON_EXIT,
    OFF_CPU_PROGRAM_BEGIN,
    OFF_CPU_PROGRAM_END,
    OFF_CPU_PROGRAM_COUNT
};

struct bpf_off_cpu_rodata {
    char __pad0[8];
    struct bpf_off_cpu_options options;
    struct bpf_off_cpu_call calls[512];
};

struct bpf_off_cpu_bss {
    __u32 generation;
    char __pad0[4];
    __u64 entries;
    __u64 news;
    __u32 pages_used[2];
};

extern const struct os_bpf_code bpf_off_cpu;

#endif
