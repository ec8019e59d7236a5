/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of kernel functions, from function_graph's records: sums by function, and a call tree. Times are in
 * ns. A call whose end was seen and whose beginning was not (lost, or before tracing began) counts for its
 * function, and is placed at the root of the tree.
 */
#ifndef SONDE_FTRACE_CALLS_H
#define SONDE_FTRACE_CALLS_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/vec.h"

/* Where a field lies in an event's data; size 0: there is none. */
struct ftrace_field {
    uint32_t offset, size;
};
/* Finds a field in the text of an event's format file. */
struct ftrace_field ftrace_field_find(struct bytes format, const char *name);
uint64_t ftrace_format_id(struct bytes format); /* UINT64_MAX: it does not say */
/* The field as a number in this machine's byte order; 0 if it does not lie in the data. */
uint64_t ftrace_field_read(struct ftrace_field f, struct bytes data);

struct ftrace_graph_format {
    struct ftrace_field type, pid;                        /* of all events */
    uint64_t entry, exit;                                 /* ids */
    struct ftrace_field in_func, in_depth;                /* of entries */
    struct ftrace_field func, depth, begin, end, overrun; /* of exits; begin and end are not on all kernels */
};
/* False: these are not the formats of function_graph. */
bool ftrace_graph_format_read(struct ftrace_graph_format *f, struct bytes entry, struct bytes exit);

struct ftrace_sum {
    uint64_t count, total_ns, self_ns, max_ns;
};
struct ftrace_function {
    uint64_t address;
    struct ftrace_sum sum;
};
/* A function as called by the function of the parent node. */
struct ftrace_node {
    uint32_t parent, function; /* parent UINT32_MAX: none */
    struct ftrace_sum sum;
};
struct ftrace_frame {
    uint32_t node;
    uint64_t begin_ns, inner_ns; /* inner: the time of the calls that it made */
};
struct ftrace_task {
    VEC(struct ftrace_frame) frames; /* by depth */
};

struct ftrace_calls {
    struct ftrace_graph_format format;
    VEC(struct ftrace_function) functions;
    VEC(struct ftrace_node) nodes;
    VEC(struct ftrace_task) tasks;
    struct hash_map by_address, by_pid, by_call;
    uint64_t unmatched; /* ends without a beginning */
    uint64_t open;      /* beginnings without an end, so far */
    /* Called for each call that ended; may be NULL. */
    void (*ended)(void *ctx, uint32_t function, uint64_t ns);
    void *ctx;
};

/* `c` is zeroed except for format, ended and ctx. False: out of memory. Other events are ignored. */
bool ftrace_calls_take(struct ftrace_calls *c, uint64_t time_ns, struct bytes data);
void ftrace_calls_fini(struct ftrace_calls *c);

#endif
