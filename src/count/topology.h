/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where CPUs lie, as sysfs tells it (the kernel's Documentation/ABI/stable/sysfs-devices-system-cpu and
 * .../testing/sysfs-devices-system-cpu). What a machine does not say is 0, as in perf.
 */
#ifndef SONDE_COUNT_TOPOLOGY_H
#define SONDE_COUNT_TOPOLOGY_H

#include "count/counts.h"
#include "os/sysfs.h"

struct count_place {
    int32_t socket, die, cluster, core, node;
    unsigned cache_level; /* of the cache that `cache` names; 0: there is none */
    int32_t cache;        /* the first CPU that shares it */
};

/* Reads what `level` needs of a CPU. `cache_level`: of COUNT_CACHE; 0 is the last there is. */
void count_place_read(const struct sysfs *sys, int32_t cpu, enum count_level level, unsigned cache_level,
                      struct count_place *out);

enum { COUNT_PLACE_TEXT = 64 };
/* "S0-D0-C1": what counts of that CPU are put together under; CPUs of one place have one text. */
void count_place_text(const struct count_place *p, int32_t cpu, enum count_level level,
                      char out[COUNT_PLACE_TEXT]);

/* Negative, 0 or positive: the order in which places are shown. */
int count_place_compare(const struct count_place *a, const struct count_place *b, enum count_level level);

#endif
