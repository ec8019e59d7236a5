/* SPDX-License-Identifier: Apache-2.0 */
/* The tracepoints of this machine: tracefs' events/SYSTEM/EVENT/id (the kernel's Documentation/trace/events).
 * kprobes, uprobes and SDT markers that were defined there are tracepoints too. */
#ifndef SONDE_EVENTS_TRACEPOINT_H
#define SONDE_EVENTS_TRACEPOINT_H

#include "base/vec.h"
#include "os/sysfs.h"

struct tracepoint_system {
    const char *name;
    struct sysfs_names events; /* only directories with an id are events; `read` says so */
    bool read;
};

struct tracepoint_set {
    const struct sysfs *sys; /* borrowed */
    bool mounts; /* somebody asks for tracepoints: tracefs is mounted where it is not, as perf does */
    struct arena arena;
    const char *root;                      /* where tracefs is mounted, NULL until found */
    VEC(struct tracepoint_system) systems; /* sorted as "name:" */
};

void tracepoint_set_init(struct tracepoint_set *s, const struct sysfs *sys);
void tracepoint_set_fini(struct tracepoint_set *s);

/* Lists the systems. False and *err: tracefs is not mounted (ERR_ABSENT) or may not be read
 * (ERR_PERMISSION), with what to do about it. */
bool tracepoint_systems(struct tracepoint_set *s, struct err *err);

/* The names of a system's events (and possibly of a few files that are none). */
bool tracepoint_events(struct tracepoint_set *s, struct tracepoint_system *system, struct err *err);

/* The id of one tracepoint: what attr.config wants. False: there is none of that name (ERR_ABSENT), or it
 * may not be read. Needs no tracepoint_systems before it. */
bool tracepoint_id(struct tracepoint_set *s, const char *system, const char *event, uint64_t *id,
                   struct err *err);

#endif
