/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this process may record: found by opening events, as what kernel.perf_event_paranoid means above 2
 * differs between kernels, and containers and security modules have their own say.
 */
#ifndef SONDE_EVENTS_ALLOWED_H
#define SONDE_EVENTS_ALLOWED_H

#include "os/perf/perf_event.h"
#include "os/rights.h"

/* 0: it may; else the errno of perf_event_open(2). */
struct perf_allowed {
    int user;     /* our own processes' user code */
    int kernel;   /* the kernel's code as well */
    int cpus;     /* whole CPUs, whatever runs there */
    int counters; /* the CPU's cycle counter, of our own user code; ENOENT and the like: there is none */
};

void perf_allowed_find(const struct os_perf *perf, struct perf_allowed *out);

/* Opens a clock of the thread's user code: 0, or the errno. */
int perf_allowed_task(const struct os_perf *perf, int32_t tid);

/* Opens a tracepoint with its fields for our own process: 0, or the errno. */
int perf_allowed_tracepoint(const struct os_perf *perf, uint64_t id);

/* Whether the errno means that rights are missing. */
bool perf_allowed_denies(int why);

/* Why nothing may be recorded at all (allowed.user), and what to do; static text. */
const char *perf_allowed_nothing(const struct perf_allowed *a, const struct os_rights *r);

#endif
