/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens the planned events for every CPU and thread of a target, and maps one ring per CPU (per thread with
 * --per-thread) that takes all of its events' records. What the kernel refuses because it is older than we
 * are is left out, one thing at a time; what it refuses for want of rights is made smaller, and said.
 */
#ifndef SONDE_RECORD_RINGS_OPEN_H
#define SONDE_RECORD_RINGS_OPEN_H

#include "format/perfdata/events/events.h"
#include "os/perf/perf_event.h"
#include "record/plan/plan.h"

/* An opened descriptor. */
struct record_fd {
    int fd;
    uint32_t event; /* index in the config */
    uint32_t ring;  /* index in rings */
    int32_t cpu, tid;
    uint64_t id;
};

struct record_ring {
    struct os_ring map;
    int32_t cpu, tid; /* -1: any */
    int fd;           /* the descriptor it was mapped through */
    bool backward;    /* written from its end to its beginning, over and over: read only when it is paused */
    uint64_t lost;    /* events that LOST records of this ring told of */
};

struct record_opened {
    const struct os_perf *perf;
    VEC(struct record_fd) fds;
    VEC(struct record_ring) rings;
    uint64_t pages;  /* of each ring */
    uint32_t absent; /* the event for which record_open failed because there is none here; UINT32_MAX: none */
    bool user_only_said;
};

/*
 * Opens and maps everything; attrs in `c` become what was really opened (flags that had to go, precise_ip,
 * exclude_kernel). `pages`: of the options, or the default; smaller rings are tried only for the default.
 * Notes for the user go through log_line. On failure everything is closed again; r->absent tells which event
 * does not exist here (no such hardware), if that is why; err->code is ERR_PERMISSION when more rights would
 * do.
 */
bool record_open(struct record_opened *r, const struct os_perf *perf, struct record_plan *c,
                 const struct perf_target *t, const struct record_options *o, struct err *err);

/* Turns all events on or off (group leaders; the members follow), except those that are on already. */
void record_open_enable(struct record_opened *r, const struct record_plan *c, bool on);
/* The same, but for the event that carries the side-band, which is always on. */
void record_open_switch(struct record_opened *r, const struct record_plan *c, bool on);
/* The same for the event of that name; false when there is none. */
bool record_open_enable_named(struct record_opened *r, const struct record_plan *c, const char *name,
                              bool on);

/* The events as the file describes them: attrs, names, ids. False when memory ran out. */
bool record_open_events(const struct record_opened *r, const struct record_plan *c,
                        struct perfdata_events *events);

/* The kernel's own count of lost samples, of all events together (PERF_FORMAT_LOST); 0 where it has none. */
uint64_t record_open_lost(const struct record_opened *r, const struct record_plan *c);

void record_opened_fini(struct record_opened *r);

#endif
