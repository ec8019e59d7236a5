/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording's records about system calls, as events of calls: the tracepoints raw_syscalls:sys_enter and
 * sys_exit by the formats that the recording carries, and COMM, FORK, EXIT, MMAP and LOST records.
 */
#ifndef SONDE_STATES_CALL_EVENTS_H
#define SONDE_STATES_CALL_EVENTS_H

#include "calls/calls.h"
#include "recording/recording.h"
#include "recording/tracepoints.h"

struct call_events {
    struct recording *recording; /* borrowed */
    struct tracepoints tracepoints;
};

void call_events_init(struct call_events *e, struct recording *r);
void call_events_fini(struct call_events *e);

/* Takes in the descriptions of events that were added since the last call. False: out of memory. */
bool call_events_update(struct call_events *e, struct err *err);

/* Whether the recording can say anything about system calls. */
bool call_events_any(const struct call_events *e);

/* Whether call_events_apply reads the record. */
bool call_events_want(const struct call_events *e, const struct stream_record *r);

/* What a record was. */
enum call_events_kind {
    CALL_EVENTS_OTHER, /* nothing about system calls */
    CALL_EVENTS_ENTER,
    CALL_EVENTS_EXIT,
    CALL_EVENTS_THREADS, /* about threads, mappings or lost records */
};

struct call_events_read {
    enum call_events_kind kind;
    struct calls_event event;      /* of an enter or an exit */
    struct perfdata_record record; /* of CALL_EVENTS_THREADS */
};

/* Reads a record; one that is damaged is counted by the stream, and is CALL_EVENTS_OTHER. */
void call_events_read(struct call_events *e, const struct stream_record *r, struct call_events_read *out);
/* Applies what was read. False: out of memory. */
bool call_events_apply(struct calls *calls, const struct call_events_read *x);

#endif
