/* SPDX-License-Identifier: Apache-2.0 */
/* The records of all CPUs' trace rings, in the order of time. */
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
    struct writer bytes; /* of the records that are held back */
    uint64_t order;      /* of the next record */
    uint64_t lost;       /* records that the kernel says it dropped; a lower bound */
    bool lost_more;      /* it dropped others without a count */
    uint64_t broken;     /* pages that contradict themselves */
};

/* Opens the rings of all CPUs that tracefs has. False: *err; ftrace_rings_close is allowed. */
bool ftrace_rings_open(struct ftrace_rings *r, struct ftrace_setup *s, struct err *err);
void ftrace_rings_close(struct ftrace_rings *r); /* r may be all zero */

/* Reads the rings, and hands on the records that are not newer than `until`; newer ones are held back, as
 * other CPUs may still have older ones. UINT64_MAX: no more records will come. False: *err, or `fn` returned
 * false. */
bool ftrace_rings_take(struct ftrace_rings *r, uint64_t until, ftrace_record_fn *fn, void *ctx,
                       struct err *err);
/* Adds the records of one page that was read from a CPU's ring. */
bool ftrace_rings_add_page(struct ftrace_rings *r, uint32_t cpu, struct bytes page, uint64_t *last,
                           struct err *err);

#endif
