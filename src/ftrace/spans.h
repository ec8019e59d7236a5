/* SPDX-License-Identifier: Apache-2.0 */
/* The time between two tracepoints in one thread: from the latest event of the first to an event of the
 * second. */
#ifndef SONDE_FTRACE_SPANS_H
#define SONDE_FTRACE_SPANS_H

#include "base/bytes.h"
#include "base/hash.h"
#include "base/vec.h"
#include "ftrace/calls.h"

struct ftrace_spans {
    struct ftrace_field type, pid; /* of all events */
    uint64_t first, second;        /* ids; equal: from each event to the thread's next one */
    VEC(uint64_t) begins;          /* UINT64_MAX: none */
    struct hash_map by_pid;
    uint64_t unmatched; /* events of the second tracepoint without one of the first */
    void (*ended)(void *ctx, uint64_t ns);
    void *ctx;
};

/* False: out of memory. Other events are ignored. */
bool ftrace_spans_take(struct ftrace_spans *s, uint64_t time_ns, struct bytes data);
void ftrace_spans_fini(struct ftrace_spans *s);

#endif
