/* SPDX-License-Identifier: Apache-2.0 */
/* What the verbs of `sonde ftrace` share. */
#ifndef SONDE_CMD_FTRACE_FTRACE_H
#define SONDE_CMD_FTRACE_FTRACE_H

#include "cmd/common/command.h"
#include "ftrace/setup.h"

struct ftrace_cli {
    struct ftrace_options o;
    const char *pids, *tids, *cpus, *tracer, *list, *sort;
    char *const *command; /* NULL: none */
    bool all_cpus, lists, hide_empty, use_nsec, use_bpf, tree, folded;
    int verbose;
    uint64_t delay_ms;
    uint64_t bucket_range, min_latency, max_latency;
};

/* What looks at the trace. */
struct ftrace_face {
    void *ctx;
    /* NULL: by tracefs. Else tracefs is left alone, and this is told of whom to trace, after open: processes,
     * or threads, separated by blanks; NULL: all. Tracing begins with it. */
    bool (*begin)(void *ctx, const char *pids, struct err *err);
    /* All is set up, and off. */
    bool (*open)(void *ctx, struct ftrace_setup *s, struct err *err);
    /* Takes what is there, if it is not newer than `until` (CLOCK_MONOTONIC). *stop: enough was seen. */
    bool (*take)(void *ctx, uint64_t until, bool *stop, struct err *err);
    /* Closes what it has open, after a failure of any kind, too. */
    void (*close)(void *ctx);
};

/*
 * Traces a command, processes or all, until the command or the processes have ended, or a signal comes, and
 * puts tracefs back as it was. The exit status of the command; -1: *err.
 */
int ftrace_measure(struct ftrace_cli *c, const struct ftrace_face *face, struct err *err);

typedef int ftrace_verb_fn(struct command_env *env, struct ftrace_cli *c);
ftrace_verb_fn ftrace_trace, ftrace_profile, ftrace_latency;

/* latency -b: the histogram of two events, summed up by BPF; the status, or -1: *err. */
struct ftrace_histogram;
int ftrace_latency_by_bpf(struct ftrace_cli *c, struct ftrace_histogram *h, struct err *err);

/* -F: prints the functions that can be traced. */
int ftrace_list(struct command_env *env, const char *pattern);

#endif
