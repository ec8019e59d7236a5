/* SPDX-License-Identifier: Apache-2.0 */
/* Tool events (perf-list(1), TOOL EVENTS): what we count ourselves. */
#ifndef SONDE_COUNT_TOOL_H
#define SONDE_COUNT_TOOL_H

#include "events/target.h"

/* Numbers of EVENT_NAMES_TOOL. */
enum count_tool {
    COUNT_TOOL_DURATION_TIME = 1,
    COUNT_TOOL_USER_TIME,
    COUNT_TOOL_SYSTEM_TIME,
    COUNT_TOOL_HAS_PMEM,
    COUNT_TOOL_NUM_CORES,
    COUNT_TOOL_NUM_CPUS,
    COUNT_TOOL_NUM_CPUS_ONLINE,
    COUNT_TOOL_NUM_DIES,
    COUNT_TOOL_NUM_PACKAGES,
    COUNT_TOOL_SMT_ON = 11,
    COUNT_TOOL_TSC_FREQ,
    COUNT_TOOL_CORE_WIDE,
    COUNT_TOOL_TARGET_CPU,
};

/* Times of a span, and what does not change. */
struct count_tool_times {
    double elapsed_ns, user_ns, system_ns;
    bool target_cpu;
    const struct sysfs *sys;
};

/* The value of a tool event; false: this machine does not tell. */
bool count_tool_value(const struct count_tool_times *t, uint32_t tool, double *value);

/* CPU time so far, of the whole machine (`t` is system-wide), else of the target's threads, in nanoseconds to
 * the clock tick. False: it cannot be read. */
bool count_tool_cpu_time(const struct sysfs *sys, const struct perf_target *t, double *user_ns,
                         double *system_ns);

#endif
