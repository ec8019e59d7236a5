/* SPDX-License-Identifier: Apache-2.0 */
/* A histogram of durations: by powers of two, or by ranges of equal size. */
#ifndef SONDE_FTRACE_HISTOGRAM_H
#define SONDE_FTRACE_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

enum { FTRACE_BUCKETS = 22 };

struct ftrace_histogram {
    /* Filled by the caller: */
    uint32_t unit_ns; /* 1 or 1000 */
    uint64_t range;   /* units in a bucket; 0: powers of two */
    uint64_t least,
        largest; /* units: where the first bucket of `range` begins, and the last one; 0: at 0, none */
    /* Filled by ftrace_histogram_add: */
    uint64_t buckets[FTRACE_BUCKETS];
    uint64_t count, total_ns, max_ns, min_ns;
};

void ftrace_histogram_add(struct ftrace_histogram *h, uint64_t ns);

/* The number of buckets; the last one has no upper bound. */
unsigned ftrace_histogram_size(const struct ftrace_histogram *h);
/* The lower bound of a bucket, in units. With `range` and `least` the first bucket is for values below
 * `least`. */
uint64_t ftrace_histogram_begin(const struct ftrace_histogram *h, unsigned bucket);

#endif
