/* SPDX-License-Identifier: Apache-2.0 */
/* Who is recorded: CPUs and threads. */
#ifndef SONDE_RECORD_RINGS_TARGET_H
#define SONDE_RECORD_RINGS_TARGET_H

#include "base/err.h"
#include "base/vec.h"
#include "os/sysfs.h"
#include "record/options.h"

struct record_thread {
    int32_t tid; /* -1: all tasks */
    int32_t pid; /* its process, where that was named (-p, -u); else 0 */
    char comm[16];
};

struct record_target {
    VEC(int32_t) cpus;                 /* where the events count; -1 alone: anywhere (--per-thread) */
    VEC(int32_t) online;               /* all there are */
    VEC(struct record_thread) threads; /* -1 alone: all tasks */
    bool system_wide;                  /* events are of CPUs, not of tasks */
    bool per_thread;
    bool exec; /* one thread, a command that has not started yet */
};

/* Finds CPUs and threads that the options name; `child` is the command's pid (0: none), counted only when
 * nothing else is named. False and *err when something named is not there. */
bool record_target_init(struct record_target *t, const struct record_options *o, const struct sysfs *sys,
                        int32_t child, struct err *err);
void record_target_fini(struct record_target *t);

typedef bool record_number_fn(void *ctx, uint32_t n);
/* Calls back for each number of a list like "0-2,5". False at a text that is none, or when `fn` says so. */
bool record_target_list(const char *text, record_number_fn *fn, void *ctx);

#endif
