/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The input and output of threads over time, in the columns of a timechart: each call adds the time that it
 * took to what it does.
 *
 *   io_chart_init -> calls (io_chart_call is their sink) -> io_chart_draw, io_chart_choose ...
 *   -> calls again, from the beginning -> io_chart_fini
 *
 * The first pass adds up threads, the second fills the columns of those that were chosen. A thread is a tid:
 * if another thread gets it, that is the same row.
 *
 * A call whose beginning was not seen has been going on since the recording began if it is the thread's first
 * one; one that does not return goes on until its end. Where events were lost, neither is known, and the call
 * is in no sum.
 */
#ifndef SONDE_STATES_TIMECHART_IO_CHART_H
#define SONDE_STATES_TIMECHART_IO_CHART_H

#include "states/timechart/io_events.h"
#include "states/timechart/timechart.h"

struct io_thread {
    uint32_t tid, pid;
    uint64_t in_bytes, out_bytes; /* of the calls that tell */
    uint64_t ns[IO_KINDS];        /* by the bits of enum io_does */
    uint64_t calls, failed;
};

struct io_cell {
    uint64_t ns[IO_KINDS];
    uint32_t failed; /* calls that failed, by where they ended */
};

struct io_row {
    uint32_t tid;
    uint64_t drawn_ns[IO_KINDS]; /* up to here */
    struct io_cell *cells;       /* as many as the chart has columns */
};

struct io_chart {
    /* The owner sets these after io_chart_init. */
    bool skip_again;             /* calls that failed with EAGAIN do not count */
    uint64_t least_ns, merge_ns; /* drawn at least so long; with the one before if they are so near */
    uint64_t begin_ns, end_ns;   /* of the recording, as far as it has been read */
    bool ending;                 /* all events were read: what is open now goes on until end_ns */
    /* ---- */
    bool drawing;                              /* the second pass */
    struct timechart span;                     /* its columns; no rows */
    VEC(struct io_thread) threads;             /* in the order of their first calls */
    VEC(struct io_row) rows;                   /* those that were chosen */
    struct hash_map by_tid, rows_by_tid, seen; /* seen: threads that had a call in this pass */
    uint64_t unknown;                          /* calls of the first pass that are in no sum */
};

void io_chart_init(struct io_chart *c);
void io_chart_fini(struct io_chart *c);

/* A sink of calls that were made by io_events; ctx is the struct io_chart. */
bool io_chart_call(void *ctx, struct calls *calls, const struct calls_call *call, enum calls_end end);

/* Begins the second pass, with so many columns (as for timechart_init). */
void io_chart_draw(struct io_chart *c, uint32_t columns);
/* Chooses a thread, which gets the next row. False: out of memory. */
bool io_chart_choose(struct io_chart *c, uint32_t tid);

/* The time of all that a thread did but waiting in polls. */
uint64_t io_thread_moved_ns(const struct io_thread *t);

#endif
