/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording's events about scheduling, as events of states: the tracepoints sched:sched_switch,
 * sched_waking, sched_wakeup, sched_wakeup_new, sched_process_fork, _exec, _exit and sched_migrate_task by
 * the formats that the recording carries; SWITCH and SWITCH_CPU_WIDE records where it has no sched_switch;
 * and LOST records.
 *
 * Threads have the tids of the recorded kernel, as in the tracepoints; with SWITCH records alone, those of
 * the recorder's pid namespace.
 */
#ifndef SONDE_STATES_SCHED_EVENTS_H
#define SONDE_STATES_SCHED_EVENTS_H

#include "base/err.h"
#include "recording/tracepoints.h"
#include "states/states.h"

struct sched_letters; /* the letters of an event's states */

struct sched_events {
    struct tracepoints tracepoints;
    VEC(struct sched_letters) letters; /* by the recording's index of events */
    bool switches;                     /* it has sched_switch */
    uint64_t read;                     /* records about scheduling that were applied */
};

void sched_events_init(struct sched_events *s, struct stream *stream, const struct perfdata_namer *names);
void sched_events_fini(struct sched_events *s);

/* Takes in the descriptions of events that were added since the last call. To be called before the first
 * record, and whenever there may be more. False: out of memory. */
bool sched_events_update(struct sched_events *s, struct err *err);

/* Whether the recording has any events about scheduling: tracepoints of the above with time and CPU, or
 * SWITCH records. */
bool sched_events_any(const struct sched_events *s);

/* Whether the record is one that sched_events_apply reads: for order_init, ctx is the struct sched_events. */
bool sched_events_want(void *ctx, const struct stream_record *r);

/* Applies a record. One that cannot be read is counted by the stream, and ignored. False: out of memory. */
bool sched_events_apply(struct sched_events *s, struct states *states, const struct stream_record *r,
                        struct err *err);

#endif
