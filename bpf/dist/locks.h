/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* Made by bpf/build.py. */
#ifndef SONDE_BPF_DIST_LOCKS_H
#define SONDE_BPF_DIST_LOCKS_H

#include "bpf/locks.h"
#include "os/bpf/bpf_object.h"

enum {
    LOCKS_MAP_WAITS,
    LOCKS_MAP_SUMS,
    LOCKS_MAP_STACKS,
    LOCKS_MAP_TARGETS,
    LOCKS_MAP_CPUS,
    LOCKS_MAP_LOCKS,
    LOCKS_MAP_GROUPS,
    LOCKS_MAP_COUNTERS,
    LOCKS_MAP_SCRATCH,
    LOCKS_MAP_RODATA,
    LOCKS_MAP_COUNT
};
enum {
    LOCKS_PROGRAM_ON_BEGIN,
    LOCKS_PROGRAM_ON_END,
    LOCKS_PROGRAM_ON_FORK,
    LOCKS_PROGRAM_COUNT
};

struct bpf_locks_rodata {
    struct bpf_locks_options options;
};

extern const struct os_bpf_code bpf_locks;

#endif
