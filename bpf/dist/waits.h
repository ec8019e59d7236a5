/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* Made by bpf/build.py. */
#ifndef SONDE_BPF_DIST_WAITS_H
#define SONDE_BPF_DIST_WAITS_H

#include "bpf/waits.h"
#include "os/bpf/bpf_object.h"

enum {
    WAITS_MAP_NAMES,
    WAITS_MAP_RODATA,
    WAITS_MAP_BSS,
    WAITS_MAP_COUNT
};
enum {
    WAITS_PROGRAM_THREADS,
    WAITS_PROGRAM_FILES,
    WAITS_PROGRAM_COUNT
};

struct bpf_waits_rodata {
    _Bool all_frames;
};

struct bpf_waits_bss {
    struct bpf_waits_thread row;
    char name[64];
};

extern const struct os_bpf_code bpf_waits;

#endif
