/* SPDX-License-Identifier: Apache-2.0 */
/* Measuring by BPF programs while a command runs, or until a signal comes. */
#ifndef SONDE_CMD_COMMON_MEASURE_H
#define SONDE_CMD_COMMON_MEASURE_H

#include "os/bpf/bpf_object.h"

/* The owner sets all but `status`. Functions: false with *err. */
struct measure {
    char **command; /* NULL: until SIGINT, SIGTERM or SIGHUP */
    void *ctx;
    /* The command exists (pid; 0: there is none), and waits. */
    bool (*load)(void *ctx, uint64_t pid, struct err *err);
    bool (*attach)(void *ctx, struct err *err); /* from here on events count */
    void (*end)(void *ctx);                     /* from here on they do not */
    int status;                                 /* the command's, once it has ended */
};

bool measure_run(struct measure *m, struct err *err);

#endif
