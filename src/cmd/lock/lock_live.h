/* SPDX-License-Identifier: Apache-2.0 */
/* `lock contention -b`: waits summed in the kernel, without a recording. */
#ifndef SONDE_CMD_LOCK_LOCK_LIVE_H
#define SONDE_CMD_LOCK_LOCK_LIVE_H

#include "cmd/common/kernel_names.h"
#include "cmd/lock/lock.h"
#include "os/bpf/bpf_maps.h"

/* Zeroed at first; the owner sets what is above the line. */
struct lock_live {
    const struct os_bpf *bpf;
    bool all, verbose;
    bool owners;                      /* rows are of who held the lock */
    const struct filter_ranges *cpus; /* each may be empty */
    const struct filter_ranges *pids, *tids;
    uint32_t types;
    const struct filter_names *locks;  /* addresses and variables; may be empty */
    const struct filter_names *groups; /* paths of control groups; may be empty */
    uint32_t entries;                  /* room in the kernel's maps; 0: the usual */
    char **command;                    /* NULL: until a signal */
    struct call_sites site;            /* own, skip, depth, stacks, filter */
    struct lock_table table;
    /* ---- */
    struct os_bpf_object object;
    struct kernel_names kernel;
    struct strpool names;        /* of threads and control groups */
    struct hash_map group_names; /* id -> name */
    char room[40];               /* the text of a control group without a name */
    int status;                  /* the command's */
};

/* Loads the programs, and tells them the choice; then also of a process with its children. */
bool lock_live_load(struct lock_live *l, struct err *err);
bool lock_live_measure_process(struct lock_live *l, uint64_t pid, struct err *err);

/* Measures, and fills the table, sorted by `key`. False with *err. */
bool lock_live_run(struct lock_live *l, enum lock_field key, struct err *err);
struct lock_names lock_live_names(struct lock_live *l);
void lock_live_close(struct lock_live *l);

#endif
