/* SPDX-License-Identifier: Apache-2.0 */
/* Taking snapshots of what threads wait for: once, or again and again. */
#ifndef SONDE_CMD_WAITS_WAITS_RUN_H
#define SONDE_CMD_WAITS_WAITS_RUN_H

#include "cmd/common/command.h"
#include "waits/over_time.h"
#include "waits/read/clocks.h"
#include "waits/read/read_bpf.h"

struct waits_options {
    const char *pids, *tids, *user, *comm, *duration;
    const char *output; /* of what was recorded; NULL: a tree on standard output */
    bool all, threads, stacks, wakers, json, no_bpf;
    int verbose;
};

struct waits_run {
    const struct waits_options *o;
    os_numbers pids, tids;
    struct waits_choice choice;
    uint64_t duration_ns; /* 0: one snapshot */
    struct waits_bpf bpf;
    bool by_bpf;
    int signal;     /* that ended it; 0: none */
    struct waits w; /* the snapshot that was taken last */
};

/* Loads the programs, where they are allowed. */
void waits_run_open(struct waits_run *r);
void waits_run_close(struct waits_run *r);

/* Takes a snapshot, in place of the one before. False: one that was named is not there, or memory. */
bool waits_run_look(struct waits_run *r, const struct command_env *env, struct err *err);

/* Takes snapshots for the duration, or until a signal, and adds them up. */
bool waits_run_over_time(struct waits_run *r, const struct command_env *env, struct waits_over_time *t,
                         struct err *err);

/* Says in one line for each sort of thing what could not be seen, and what would show it. */
void waits_run_say_hidden(const struct waits_run *r);

#endif
