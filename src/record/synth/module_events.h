/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When kernel modules came and went, to the nanosecond: the kernel's tracepoints module:module_load, which is
 * hit before any of a module's code has run, and module:module_free, after its last. They have rings of
 * their own, and nothing of them goes into the recording: readers would take them for events of the user's.
 */
#ifndef SONDE_RECORD_SYNTH_MODULE_EVENTS_H
#define SONDE_RECORD_SYNTH_MODULE_EVENTS_H

#include "base/vec.h"
#include "events/target.h"
#include "os/perf/perf_event.h"
#include "os/sysfs.h"
#include "record/options.h"

enum { RECORD_MODULE_NAME = 64 }; /* the kernel's own limit is MODULE_NAME_LEN, a few less */

struct record_module_event {
    uint64_t ns; /* the recording's clock */
    bool load;   /* else it was freed */
    bool kept;   /* from an earlier look at the modules */
    char name[RECORD_MODULE_NAME];
};

struct record_module_ring {
    int load_fd, free_fd; /* -1: none; the ring is the first one's, and takes the other's records too */
    struct os_ring map;
};

struct record_module_events {
    const struct os_perf *perf; /* borrowed */
    uint64_t ids[2];            /* of the tracepoints: free, load */
    uint32_t name_at[2];        /* where their data say where the name is */
    VEC(struct record_module_ring) rings;
    VEC(struct record_module_event) list; /* taken, by time */
};

/*
 * Opens them for every CPU that is online, on the recording's clock. False when they cannot be had (no
 * tracefs, rights are missing, a kernel without modules): nothing is left open then.
 */
bool record_module_events_open(struct record_module_events *e, const struct os_perf *perf,
                               const struct sysfs *sys, const struct perf_target *t,
                               const struct record_options *o);
void record_module_events_close(struct record_module_events *e);

/* Adds what has come since the last call to the list; whether there is anything in it. */
bool record_module_events_take(struct record_module_events *e);

/* The last event of that kind and name in the list; NULL: none. */
const struct record_module_event *record_module_events_find(const struct record_module_events *e, bool load,
                                                            const char *name);

#endif
