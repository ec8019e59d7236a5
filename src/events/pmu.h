/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PMUs of this machine, as /sys/bus/event_source/devices describes them (the kernel's
 * Documentation/ABI/testing/sysfs-bus-event_source-devices-*). Each is read when it is first asked for.
 */
#ifndef SONDE_EVENTS_PMU_H
#define SONDE_EVENTS_PMU_H

#include "base/vec.h"
#include "os/sysfs.h"

/* format/NAME: the bits of one config word that a term sets, the lowest first. */
struct pmu_format {
    const char *name;
    unsigned word; /* 0: config, 1: config1, ... 4: config4 */
    uint64_t bits;
};

/* events/NAME and its .scale, .unit, .per-pkg, .snapshot */
struct pmu_alias {
    const char *name;
    const char *terms; /* "event=0x3c,umask=0x1" */
    const char *unit;  /* or NULL */
    double scale;      /* 1 without a file */
    bool per_pkg, snapshot;
};

struct pmu {
    const char *name;
    uint32_t type;
    bool core;                      /* counts what a core's threads do: `cpu`, or one that lists its `cpus` */
    uint8_t max_precise;            /* caps/max_precise; 3 where nothing is said */
    bool aux;                       /* writes to the AUX area */
    const char *cpus;               /* cpumask or, of a core PMU, cpus: a list ("0,18"); NULL: any */
    VEC(struct pmu_format) formats; /* sorted by name */
    VEC(struct pmu_alias) aliases;  /* sorted by name */
    enum { PMU_UNREAD, PMU_READ, PMU_BROKEN } head, detail;
};

struct pmu_set {
    const struct sysfs *sys; /* borrowed */
    struct arena arena;
    VEC(struct pmu) items; /* sorted by name; none on a machine without event_source */
    bool listed;
};

/* Both leave nothing to free when they fail or are never called. */
void pmu_set_init(struct pmu_set *s, const struct sysfs *sys);
void pmu_set_fini(struct pmu_set *s);

/* Number of PMUs; the i-th's type, core, cpus and caps are read, or NULL when they cannot be (it is passed
 * over). A pointer to a PMU lives as long as the set. */
size_t pmu_count(struct pmu_set *s);
const struct pmu *pmu_at(struct pmu_set *s, size_t i);

/* Reads formats and aliases too. False (with *err) when memory ran out or a format is not understood. */
bool pmu_detail(struct pmu_set *s, const struct pmu *p, struct err *err);

/* The PMU of exactly that name, or NULL. */
const struct pmu *pmu_find(struct pmu_set *s, const char *name, size_t n);

/*
 * True when `pattern` (n bytes) means the PMU: its name; a glob; or its name without a leading "uncore_" or a
 * trailing "_" and number (perf-list(1), PER SOCKET PMUS).
 */
bool pmu_match(const struct pmu *p, const char *pattern, size_t n);

/* Of a PMU whose detail was read; NULL: none. */
const struct pmu_format *pmu_find_format(const struct pmu *p, const char *name, size_t n);
/* The same, in any letter case. */
const struct pmu_alias *pmu_find_alias(const struct pmu *p, const char *name, size_t n);

/* Puts the low bits of `value` where the format says, the others of words[5] staying. False when it does not
 * fit; *max is then the largest that does. */
bool pmu_format_put(const struct pmu_format *f, uint64_t value, uint64_t words[5], uint64_t *max);

#endif
