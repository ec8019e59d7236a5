/* SPDX-License-Identifier: Apache-2.0 */
/* The fake machine that the tests of events and the fuzz target share: a core PMU, two of an uncore PMU, one
 * whose event needs a parameter, a tracing PMU, and a few tracepoints. */
#ifndef SONDE_EVENTS_EVENT_TEST_H
#define SONDE_EVENTS_EVENT_TEST_H

#include "os/sysfs.h"

#define DEV   "/sys/bus/event_source/devices/"
#define TRACE "/sys/kernel/tracing/events/"

static const struct sysfs_fake_file EVENT_TEST_FILES[] = {
    {DEV "software/type", "1"},
    {DEV "tracepoint/type", "2"},
    {DEV "breakpoint/type", "5"},
    {DEV "cpu/type", "4"},
    {DEV "cpu/caps/max_precise", "2"},
    {DEV "cpu/format/event", "config:0-7,32-35"},
    {DEV "cpu/format/umask", "config:8-15"},
    {DEV "cpu/format/edge", "config:18"},
    {DEV "cpu/format/inv", "config:23"},
    {DEV "cpu/format/cmask", "config:24-31"},
    {DEV "cpu/format/ldlat", "config1:0-15"},
    {DEV "cpu/format/odd", "config9:0"},
    {DEV "cpu/events/cpu-cycles", "event=0x76"},
    {DEV "cpu/events/instructions", "event=0xc0"},
    {DEV "cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3"},
    {DEV "cpu/events/odd-one", "nothing=1"},
    {DEV "uncore_imc_0/type", "20"},
    {DEV "uncore_imc_0/cpumask", "0,18"},
    {DEV "uncore_imc_0/format/event", "config:0-7"},
    {DEV "uncore_imc_0/format/umask", "config:8-15"},
    {DEV "uncore_imc_0/events/cas_count_read", "event=0x4,umask=0x3"},
    {DEV "uncore_imc_0/events/cas_count_read.scale", "6.103515625e-5"},
    {DEV "uncore_imc_0/events/cas_count_read.unit", "MiB"},
    {DEV "uncore_imc_0/events/cas_count_read.per-pkg", "1"},
    {DEV "uncore_imc_1/type", "21"},
    {DEV "uncore_imc_1/format/event", "config:0-7"},
    {DEV "uncore_imc_1/events/cas_count_read", "event=0x4"},
    {DEV "par/type", "50"},
    {DEV "par/format/event", "config:0-7"},
    {DEV "par/format/idx", "config1:0-31"},
    {DEV "par/events/param", "event=0x10,idx=?"},
    {DEV "intel_pt/type", "40"},
    {DEV "intel_pt/nr_addr_filters", "2"},
    {DEV "intel_pt/format/tsc", "config:10"},
    {DEV "intel_pt/format/pt", "config:0"},
    {DEV "intel_pt/format/branch", "config:13"},
    {DEV "uprobe/type", "8"},
    {DEV "uprobe/format/retprobe", "config:0"},
    {DEV "broken/type", "none"},
    {TRACE "enable", "0"},
    {TRACE "sched/enable", "0"},
    {TRACE "sched/sched_switch/id", "372"},
    {TRACE "sched/sched_wakeup/id", "374"},
    {TRACE "sched/sched_waking/id", "375"},
    {TRACE "syscalls/sys_enter_openat/id", "782"},
    {TRACE "probe_libc/malloc__return/id", "1900"},
    {TRACE "ftrace/function/id", "1"},
    {TRACE "secret/door/id", SYSFS_FAKE_DENIED},
};
static const struct sysfs_fake EVENT_TEST_TREE = {EVENT_TEST_FILES,
                                                  sizeof EVENT_TEST_FILES / sizeof *EVENT_TEST_FILES};

#undef DEV
#undef TRACE

#endif
