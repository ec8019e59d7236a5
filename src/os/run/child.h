/* SPDX-License-Identifier: Apache-2.0 */
/* A command started but held back before its exec, so that events can be attached to it first. */
#ifndef SONDE_OS_CHILD_H
#define SONDE_OS_CHILD_H

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "os/poller.h"

struct os_child {
    pid_t pid;                   /* 0: none, or it has ended */
    uint64_t user_ns, system_ns; /* CPU time of it and its children that it waited for, once it has ended */
    int go, failure; /* pipes: one byte lets it run (-1: it was let); an errno comes back when exec failed */
};

/* Where a command's standard streams lead. */
enum os_child_streams {
    OS_CHILD_OURS,         /* to ours */
    OS_CHILD_OUTPUT_ASIDE, /* its output to our standard error */
    OS_CHILD_ERRORS_ONLY,  /* nothing comes in, and only errors come out */
    OS_CHILD_SILENT,       /* nothing comes in or out */
};

/* Forks. The child waits; it has the signal mask that `signals` (may be NULL) saved. argv ends with NULL. */
bool os_child_start(struct os_child *c, char *const *argv, const struct os_signals *signals,
                    enum os_child_streams streams, struct err *err);

/* Lets it exec; false and *err (ERR_ABSENT, ERR_PERMISSION) when that failed: it is gone then. */
bool os_child_go(struct os_child *c, const char *name, struct err *err);

/* True when it has ended: *status is its exit code, or 128 + the signal that killed it. Does not wait. */
bool os_child_ended(struct os_child *c, int *status);

/* Ends a child that has not ended: SIGTERM, and waits for it. Its exit code, as os_child_ended gives it. */
int os_child_stop(struct os_child *c);

#endif
