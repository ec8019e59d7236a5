/* SPDX-License-Identifier: Apache-2.0 */
/* Who is recorded or counted: CPUs and threads. */
#ifndef SONDE_EVENTS_TARGET_H
#define SONDE_EVENTS_TARGET_H

#include "base/err.h"
#include "base/vec.h"
#include "os/sysfs.h"

/* What the command line says of it (perf-record(1), perf-stat(1)); all NULL and false: the command. */
struct perf_target_options {
    bool all_cpus;           /* -a, or nothing else said */
    const char *cpus;        /* -C: "0-2,4"; NULL: all */
    const char *pids, *tids; /* -p, -t: lists of numbers */
    const char *uid;         /* -u: a number */
    bool per_thread;
    bool all_threads; /* every thread that there is, one by one */
};

struct perf_target_thread {
    int32_t tid;   /* -1: all tasks */
    int32_t pid;   /* its process, where that was named (-p, -u); else 0 */
    char comm[64]; /* of kernel threads it may be longer than 15 bytes */
};

struct perf_target {
    VEC(int32_t) cpus;                      /* where the events count; -1 alone: anywhere (--per-thread) */
    VEC(int32_t) online;                    /* all there are */
    VEC(struct perf_target_thread) threads; /* -1 alone: all tasks */
    bool system_wide;                       /* events are of CPUs, not of tasks */
    bool per_thread;
    bool exec; /* one thread, a command that has not started yet */
};

/* Finds CPUs and threads that the options name; `child` is the command's pid (0: none), counted only when
 * nothing else is named. False and *err when something named is not there. */
bool perf_target_init(struct perf_target *t, const struct perf_target_options *o, const struct sysfs *sys,
                      int32_t child, struct err *err);
void perf_target_fini(struct perf_target *t);

typedef bool perf_target_number_fn(void *ctx, uint32_t n);
/* Calls back for each number of a list like "0-2,5". False at a text that is none, or when `fn` says so. */
bool perf_target_list(const char *text, perf_target_number_fn *fn, void *ctx);

#endif
