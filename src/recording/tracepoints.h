/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording's tracepoint events with chosen fields, by the formats that the recording carries.
 *
 *   enum { SWITCH, WAKE };
 *   static const struct tracepoint_row ROWS[] = {
 *       {"sched", "sched_switch", SWITCH, 2, {"prev_pid", "next_pid", "prev_comm"}},
 *       {"sched", "sched_waking", WAKE, 1, {"pid", "target_cpu"}}};
 *
 *   tracepoints_init -> tracepoints_update -> order_init(..., tracepoints_want, ...)
 *       order_next -> tracepoints_read -> tracepoint_int, tracepoint_text ...
 *   tracepoints_fini
 */
#ifndef SONDE_RECORDING_TRACEPOINTS_H
#define SONDE_RECORDING_TRACEPOINTS_H

#include "base/err.h"
#include "format/perfdata/events/event_name.h"
#include "stream/stream.h"

enum { TRACEPOINT_FIELDS = 12 };

struct tracepoint_row {
    const char *system, *event; /* event NULL: any of the system that no earlier row matches */
    int kind;                   /* what the caller calls it */
    unsigned needed;            /* this many of the first fields must exist; else the row is ignored */
    const char *fields[TRACEPOINT_FIELDS]; /* "": none here; NULL: no more */
};

/* Where a field lies in the raw data; size 0: there is none. */
struct tracepoint_place {
    uint32_t offset, size;
    bool is_signed;
    bool dynamic, relative; /* it holds the value's length and offset; relative: to the field's end */
};

/* How one event of the recording is read. */
struct tracepoint_event {
    const struct tracepoint_row *row; /* NULL: not wanted */
    struct bytes format;              /* its whole description; borrowed from the recording */
    struct tracepoint_place flags;    /* common_flags */
    struct tracepoint_place places[TRACEPOINT_FIELDS];
    bool big; /* the raw data are big-endian */
};

struct tracepoints {
    struct stream *stream; /* borrowed, as all up to `rows` */
    const struct perfdata_events *events;
    const struct perfdata_namer *names;
    const struct tracepoint_row *rows;
    size_t row_count;
    uint64_t sample;                   /* PERFDATA_SAMPLE_*: what is decoded of samples */
    VEC(struct tracepoint_event) list; /* by the recording's index of events */
};

/* A sample of one of these events. */
struct tracepoint {
    int kind;
    uint32_t index;                       /* of the event */
    const struct tracepoint_event *event; /* dies with the next tracepoints_update */
    struct perfdata_sample sample;        /* time, cpu, pid, tid where `have` says so; raw */
};

/* `sample`: what of samples is decoded besides TID, TIME, CPU and RAW, as PERFDATA_SAMPLE_CALLCHAIN. Events
 * without TIME, CPU and RAW are not read. */
void tracepoints_init(struct tracepoints *t, struct stream *stream, const struct perfdata_namer *names,
                      const struct tracepoint_row *rows, size_t row_count, uint64_t sample);
void tracepoints_fini(struct tracepoints *t);

/* Describes the events that came since the last call; before the first record, and when there may be more.
 * False: out of memory. */
bool tracepoints_update(struct tracepoints *t, struct err *err);

/* Whether one of the events has this kind. */
bool tracepoints_have(const struct tracepoints *t, int kind);

/* Whether the record is a sample that tracepoints_read takes: for order_init, ctx is the struct tracepoints.
 */
bool tracepoints_want(void *ctx, const struct stream_record *r);

/* Takes a record. False: it is none of the wanted events, or cannot be read, which the stream counts: shorter
 * than its fields. What it points to lives as long as the record's bytes. */
bool tracepoints_read(struct tracepoints *t, const struct stream_record *r, struct tracepoint *out);

/* A field by its index in the row; `absent` if the event does not have it, or it is no number. */
int64_t tracepoint_int(const struct tracepoint *t, unsigned field, int64_t absent);
/* A text up to its NUL, or the bytes of an array; empty if there is none, or it lies outside the record. */
struct bytes tracepoint_text(const struct tracepoint *t, unsigned field);
struct bytes tracepoint_bytes(const struct tracepoint *t, unsigned field);
/* Whether it was recorded in an interrupt, a soft one or an NMI. */
bool tracepoint_in_interrupt(const struct tracepoint *t);

#endif
