/* SPDX-License-Identifier: Apache-2.0 */
/* What a count is asked to be: filled once by the command, const from then on (perf-stat(1)). */
#ifndef SONDE_COUNT_OPTIONS_H
#define SONDE_COUNT_OPTIONS_H

#include "count/counts.h"
#include "events/target.h"
#include "os/run/child.h"

struct count_options {
    char *const *command; /* ended by NULL; NULL: none */
    struct perf_target_options target;
    bool no_inherit, all_user, all_kernel;
    bool no_scale;     /* counts of events that took turns stay as they are */
    bool bpf_counters; /* events of control groups share one set of counters a CPU (open/by_bpf.h) */
    bool no_merge;     /* PMUs of one kind have rows of their own */
    enum count_level level;
    bool percore_threads; /* with COUNT_CPU: what is counted by core is shown for each of its CPUs */
    unsigned cache_level; /* of COUNT_CACHE; 0: the last one */
    int64_t delay_ms;     /* 0: none; -1: start with events disabled */
    uint64_t interval_ms; /* 0: no intervals */
    uint64_t interval_count, timeout_ms;
    bool for_machines;   /* what is shown is read by programs: notes that names show anyway are left out */
    const char *control; /* --control's text; NULL: none */
    enum os_child_streams streams; /* the command's */
};

#endif
