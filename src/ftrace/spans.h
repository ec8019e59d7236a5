/* SPDX-License-Identifier: Apache-2.0 */
/* The time between two tracepoints of one thread: from the last first one before it to the second one. */
#ifndef SONDE_FTRACE_SPANS_H
#define SONDE_FTRACE_SPANS_H

#include "base/bytes.h"
#include "base/hash.h"
#include "base/vec.h"
#include "ftrace/calls.h"

struct ftrace_spans {
    struct ftrace_field type, pid; /* of all events */
    uint64_t first, second;        /* ids; equal: from each to the next one of its thread */
    VEC(uint64_t) begins;          /* UINT64_MAX: none */
    struct hash_map by_pid;
    uint64_t unmatched; /* second ones without a first one */
    void (*ended)(void *ctx, uint64_t ns);
    void *ctx;
};

/* False: out of memory. Other events are passed over. */
bool ftrace_spans_take(struct ftrace_spans *s, uint64_t time_ns, struct bytes data);
void ftrace_spans_fini(struct ftrace_spans *s);

#endif
