/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* Made by bpf/build.py. */
#ifndef SONDE_BPF_DIST_TASKS_H
#define SONDE_BPF_DIST_TASKS_H

#include "bpf/tasks.h"
#include "os/bpf/bpf_object.h"

enum {
    TASKS_MAP_COUNT
};
enum {
    TASKS_PROGRAM_TASKS,
    TASKS_PROGRAM_COUNT
};

extern const struct os_bpf_code bpf_tasks;

#endif
