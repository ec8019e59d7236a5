/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls as lines, one for each call, printed when it returns; two lines if an event of another thread
 * comes in between (perf-trace(1)):
 *
 *      0.950 (         ): sh/30070 vfork()                                                         ...
 *      0.985 ( 0.001 ms): cat/30334 brk()                                                          = 0x5599
 *      0.950 (52.328 ms): sh/30070  ... [continued]: vfork())                                      = 30334
 *
 * The second has what the kernel has written by then.
 */
#ifndef SONDE_VIEW_TRACE_TRACE_TEXT_H
#define SONDE_VIEW_TRACE_TRACE_TEXT_H

#include "calls/values.h"

struct trace_text {
    /* Set by the owner. */
    struct out *out;
    struct calls *calls;
    struct calls_values values;
    bool full_time, cpu, comm, failure, no_timestamp, no_duration;
    uint64_t least_ns; /* shorter calls are not shown */
    unsigned align;    /* where results begin; 0: right after the arguments */
    /* Whether a call is to be shown at all; NULL: all are. */
    bool (*wanted)(void *ctx, const struct calls_call *call);
    void *ctx;
    /* Its own. */
    uint64_t base_ns;
    bool begun;       /* base_ns is set */
    uint32_t current; /* the thread of the call that was entered last and is not shown yet; 0: none */
    uint64_t lines;
    struct out line;
};

enum { TRACE_TEXT_ALIGN = 70, TRACE_TEXT_ALIGN_MAX = 1000 };

bool trace_text_init(struct trace_text *t);
void trace_text_fini(struct trace_text *t);

/* Notes an event of a thread: the first one defines time 0, and an unfinished call of another thread is
 * printed. */
void trace_text_heard(struct trace_text *t, uint64_t time_ns, uint32_t tid);
/* The thread has entered a call, which is printed as unfinished if another thread's event comes first. */
void trace_text_entered(struct trace_text *t, uint32_t tid);
/* A call came to its end. Returns whether a line was printed. */
bool trace_text_call(struct trace_text *t, const struct calls_call *call, enum calls_end end);

/* Prints the beginning of a line: its time and thread (`sh/30070 `), without a duration. */
void trace_text_head(struct trace_text *t, uint64_t time_ns, uint32_t cpu, uint32_t tid);

/* Likewise of a page fault, whose duration is not known: perf shows 0. */
void trace_text_fault(struct trace_text *t, uint64_t time_ns, uint32_t cpu, uint32_t tid);

#endif
