/* SPDX-License-Identifier: Apache-2.0 */
/* PERFDATA_PART_CLOCK (docs/FORMAT.md): instants on a recording's clock and on CLOCK_MONOTONIC. */
#ifndef SONDE_FORMAT_PERFDATA_ADDED_CLOCK_PAIR_H
#define SONDE_FORMAT_PERFDATA_ADDED_CLOCK_PAIR_H

#include "base/bytes.h"
#include "base/writer.h"

struct perfdata_clock_pair {
    uint64_t perf_ns, monotonic_ns;
    uint64_t error_ns; /* by which they may be apart */
};

/* Appends one. */
void perfdata_clock_pair_encode(const struct perfdata_clock_pair *pair, struct writer *w);

/* The next one of *rest; false at the end. */
bool perfdata_clock_pair_next(struct bytes *rest, bool swap, struct perfdata_clock_pair *out);

#endif
