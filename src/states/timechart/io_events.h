/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording's records about input and output, as events of calls: the tracepoints of the system calls that
 * move data or wait for it (syscalls:sys_enter_read, sys_exit_read ...), where there are none of these the
 * same calls of raw_syscalls, and COMM, FORK, EXIT and LOST records.
 *
 *   io_events_init -> io_events_update -> io_events_want, io_events_apply ... -> io_events_fini
 *
 * The number of a call is its index in this list, whatever the machine calls it: `calls` needs no table.
 */
#ifndef SONDE_STATES_TIMECHART_IO_EVENTS_H
#define SONDE_STATES_TIMECHART_IO_EVENTS_H

#include "states/call_events.h"

/* What a call does, as bits: one that copies from file to file reads and writes. */
enum io_does {
    IO_READS = 1,    /* of files, pipes, sockets */
    IO_WRITES = 2,   /* likewise */
    IO_RECEIVES = 4, /* with the calls that only sockets have */
    IO_SENDS = 8,
    IO_SYNCS = 16,
    IO_POLLS = 32, /* waits until others can be called */
};
enum { IO_KINDS = 6 /* bits */ };

struct io_call {
    const char *name; /* as the kernel's tracepoints call it: "pread64" */
    unsigned does;    /* IO_* */
    bool counts;      /* its result is a number of bytes */
};

size_t io_calls_count(void);
const struct io_call *io_call(size_t number);

struct io_events {
    struct call_events raw;          /* of raw_syscalls, and side-band */
    struct tracepoints named;        /* of syscalls */
    const struct calls_table *table; /* of raw_syscalls' numbers; NULL: not known */
    bool has_named;                  /* some of `named` are recorded: `raw` are not looked at */
};

/* `machine`: as for calls_init. */
void io_events_init(struct io_events *e, struct recording *r, const char *machine);
void io_events_fini(struct io_events *e);
/* Takes in the descriptions of events that were added since the last call. False: out of memory. */
bool io_events_update(struct io_events *e, struct err *err);
/* Whether the recording can say anything about input and output. */
bool io_events_any(const struct io_events *e);
/* Whether io_events_apply reads the record. */
bool io_events_want(const struct io_events *e, const struct stream_record *r);
/* Applies a record to `calls`, which has no machine. False: out of memory. */
bool io_events_apply(struct io_events *e, struct calls *calls, const struct stream_record *r);

#endif
