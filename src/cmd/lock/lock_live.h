/* SPDX-License-Identifier: Apache-2.0 */
/* `lock contention -b`: waits summed in the kernel, without a recording. */
#ifndef SONDE_CMD_LOCK_LOCK_LIVE_H
#define SONDE_CMD_LOCK_LOCK_LIVE_H

#include "base/writer.h"
#include "cmd/lock/lock.h"
#include "format/kallsyms/kallsyms_names.h"
#include "os/bpf/bpf_maps.h"

/* Zeroed at first; the owner sets what is above the line. */
struct lock_live {
    const struct os_bpf *bpf;
    bool all, verbose;
    bool owners;                      /* rows are of who held the lock */
    const struct filter_ranges *cpus; /* each may be empty */
    const struct filter_ranges *pids, *tids;
    uint32_t types;
    uint64_t address;       /* 0: all locks */
    uint32_t entries;       /* room in the kernel's maps; 0: the usual */
    char **command;         /* NULL: until a signal */
    struct call_sites site; /* own, skip, depth, stacks, filter */
    struct lock_table table;
    /* ---- */
    struct os_bpf_object object;
    struct kallsyms_names functions;
    struct writer kallsyms;
    struct strpool names; /* of threads */
    int status;           /* the command's */
};

/* Measures, and fills the table, sorted by `key`. False with *err. */
bool lock_live_run(struct lock_live *l, enum lock_field key, struct err *err);
struct lock_names lock_live_names(struct lock_live *l);
void lock_live_close(struct lock_live *l);

#endif
