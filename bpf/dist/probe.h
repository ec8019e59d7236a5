/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* Made by bpf/build.py. */
#ifndef SONDE_BPF_DIST_PROBE_H
#define SONDE_BPF_DIST_PROBE_H

#include "bpf/probe.h"
#include "os/bpf/bpf_object.h"

enum {
    PROBE_MAP_PROBES,
    PROBE_MAP_THREADS,
    PROBE_MAP_OUTPUTS,
    PROBE_MAP_TARGETS,
    PROBE_MAP_COUNTERS,
    PROBE_MAP_RODATA,
    PROBE_MAP_COUNT
};
enum {
    PROBE_PROGRAM_GATHER,
    PROBE_PROGRAM_TELL,
    PROBE_PROGRAM_ON_EXEC,
    PROBE_PROGRAM_ON_FORK,
    PROBE_PROGRAM_ON_FREE,
    PROBE_PROGRAM_COUNT
};

struct bpf_probe_rodata {
    struct bpf_probe_options options;
};

extern const struct os_bpf_code bpf_probe;

#endif
