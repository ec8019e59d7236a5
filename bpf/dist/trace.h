/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* Made by bpf/build.py. */
#ifndef SONDE_BPF_DIST_TRACE_H
#define SONDE_BPF_DIST_TRACE_H

#include "bpf/trace.h"
#include "os/bpf/bpf_object.h"

enum {
    TRACE_MAP_THREADS,
    TRACE_MAP_TARGETS,
    TRACE_MAP_ROWS,
    TRACE_MAP_SUMS,
    TRACE_MAP_ERRORS,
    TRACE_MAP_HALVES,
    TRACE_MAP_COUNTERS,
    TRACE_MAP_SCRATCH,
    TRACE_MAP_RODATA,
    TRACE_MAP_COUNT
};
enum {
    TRACE_PROGRAM_ON_ENTER,
    TRACE_PROGRAM_ON_EXIT,
    TRACE_PROGRAM_ON_EXEC,
    TRACE_PROGRAM_ON_FORK,
    TRACE_PROGRAM_ON_FREE,
    TRACE_PROGRAM_COUNT
};

struct bpf_trace_rodata {
    struct bpf_trace_options options;
};

extern const struct os_bpf_code bpf_trace;

#endif
