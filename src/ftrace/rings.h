/* SPDX-License-Identifier: Apache-2.0 */
/* What all CPUs' trace rings hold, in the order of time. */
#ifndef SONDE_FTRACE_RINGS_H
#define SONDE_FTRACE_RINGS_H

#include "format/tracefs/ring_page.h"
#include "ftrace/setup.h"

struct ftrace_record {
    uint64_t time; /* of the trace clock */
    uint32_t cpu;
    struct bytes data; /* an event's fields; valid for the call */
};
typedef bool ftrace_record_fn(void *ctx, const struct ftrace_record *r, struct err *err);

struct ftrace_ring {
    int fd;
    uint32_t cpu;
};
struct ftrace_waiting {
    uint64_t time, order;
    uint32_t cpu, size;
    size_t at; /* in `bytes` */
};
struct ftrace_rings {
    struct ring_page_layout layout;
    size_t page_bytes;
    VEC(struct ftrace_ring) rings;
    VEC(struct ftrace_waiting) waiting;
    struct writer bytes; /* of those that wait */
    uint64_t order;      /* of the next record */
    uint64_t lost;       /* records that the kernel says it dropped; at least */
    bool lost_more;      /* and others that it has not counted */
    uint64_t broken;     /* pages that contradict themselves */
};

/* Opens the rings of all CPUs that tracefs has. False: *err; ftrace_rings_close is allowed. */
bool ftrace_rings_open(struct ftrace_rings *r, struct ftrace_setup *s, struct err *err);
void ftrace_rings_close(struct ftrace_rings *r); /* r may be all zero */

/* Reads what is there, and hands on what is not newer than `until`: other CPUs may have older records, as
 * long as these can be read only later. UINT64_MAX: nothing more comes. False: *err, or `fn` said so. */
bool ftrace_rings_take(struct ftrace_rings *r, uint64_t until, ftrace_record_fn *fn, void *ctx,
                       struct err *err);
/* The same from one page of a CPU that was read already. */
bool ftrace_rings_add_page(struct ftrace_rings *r, uint32_t cpu, struct bytes page, uint64_t *last,
                           struct err *err);

#endif
