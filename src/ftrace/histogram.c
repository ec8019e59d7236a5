/* SPDX-License-Identifier: Apache-2.0 */
#include "ftrace/histogram.h"

static unsigned bits(uint64_t v) {
    return v ? 64 - (unsigned)__builtin_clzll(v) : 0;
}

unsigned ftrace_histogram_size(const struct ftrace_histogram *h) {
    unsigned first = h->least != 0; /* the bucket below `least` */
    if (!h->range || h->largest <= h->least)
        return FTRACE_BUCKETS;
    uint64_t n = (h->largest - h->least + h->range - 1) / h->range + first + 1;
    return n < FTRACE_BUCKETS ? (unsigned)n : FTRACE_BUCKETS;
}

uint64_t ftrace_histogram_begin(const struct ftrace_histogram *h, unsigned bucket) {
    if (!h->range)
        return bucket ? 1ull << (bucket - 1) : 0;
    if (!h->least)
        return bucket * h->range;
    return bucket ? h->least + (bucket - 1) * h->range : 0;
}

void ftrace_histogram_add(struct ftrace_histogram *h, uint64_t ns) {
    uint64_t v = ns / h->unit_ns, last = ftrace_histogram_size(h) - 1, i = bits(v);
    if (h->range)
        i = v < h->least ? 0 : (v - h->least) / h->range + (h->least != 0);
    h->buckets[i < last ? i : last]++;
    h->min_ns = h->count && h->min_ns < ns ? h->min_ns : ns;
    h->max_ns = h->max_ns > ns ? h->max_ns : ns;
    h->total_ns += ns;
    h->count++;
}
