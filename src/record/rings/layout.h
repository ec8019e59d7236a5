/* SPDX-License-Identifier: Apache-2.0 */
/* Which thread of --threads reads which CPUs' rings, and where it runs (perf-record(1)). */
#ifndef SONDE_RECORD_RINGS_LAYOUT_H
#define SONDE_RECORD_RINGS_LAYOUT_H

#include "base/err.h"
#include "base/vec.h"
#include "os/affinity.h"
#include "os/sysfs.h"

struct record_layout_group {
    struct os_cpu_mask cpus, affinity;
};

struct record_layout {
    VEC(struct record_layout_group) groups;
};

/*
 * "cpu", "core", "package", "numa", or "CPUS/CPUS:CPUS/CPUS...", of the `count` CPUs that are recorded;
 * others are ignored. False and *err when it is neither, or masks overlap or have none of these CPUs.
 */
bool record_layout_init(struct record_layout *l, const char *text, const struct sysfs *sys,
                        const int32_t *cpus, size_t count, struct err *err);
void record_layout_fini(struct record_layout *l);

#endif
