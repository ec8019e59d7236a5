/* SPDX-License-Identifier: Apache-2.0 */
/* `kwork report|latency|top -b`: the rows of a recording, summed in the kernel. */
#ifndef SONDE_CMD_KWORK_KWORK_LIVE_H
#define SONDE_CMD_KWORK_KWORK_LIVE_H

#include "cmd/common/kernel_names.h"
#include "cmd/kwork/kwork.h"
#include "os/bpf/bpf_maps.h"
#include "states/print_names.h"

/* Zeroed at first; the owner sets what is above the line. */
struct kwork_live {
    const struct os_bpf *bpf;
    const struct kwork_choice *choice; /* without times */
    bool threads;                      /* times of threads and CPUs are wanted, not those of each work */
    bool verbose;
    char **command; /* NULL: until a signal */
    /* ---- */
    struct os_bpf_object object;
    struct kernel_names kernel;
    struct strpool names; /* of threads */
    int status;           /* the command's */
};

/* What is wrong with the options and whether there is a command; NULL: nothing. */
const char *kwork_live_wrong(const struct kwork_common *c, bool command);

/* Loads the programs; with them, measures (which loads them first). False with *err. */
bool kwork_live_load(struct kwork_live *l, struct err *err);
bool kwork_live_measure(struct kwork_live *l, struct err *err);

/* What was summed, into what a recording's events go into, before it is sorted; says what could not be
 * counted. Programs are no longer called. */
bool kwork_live_sums(struct kwork_live *l, struct kwork *k, struct kwork_sums *s, struct err *err);
bool kwork_live_top(struct kwork_live *l, struct kwork_top *top, struct err *err);

/* Names work items' functions; ctx is the struct kwork_live. */
const char *kwork_live_function(void *ctx, uint64_t address);
void kwork_live_close(struct kwork_live *l);

#endif
