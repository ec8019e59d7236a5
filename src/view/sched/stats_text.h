/* SPDX-License-Identifier: Apache-2.0 */
/* What the scheduler counted, as text: `sched stats report`, `diff`. */
#ifndef SONDE_VIEW_SCHED_STATS_TEXT_H
#define SONDE_VIEW_SCHED_STATS_TEXT_H

#include "base/text/out.h"
#include "format/schedstat/schedstat.h"

struct stats_text {
    /* Counts (schedstat_span) of the same version; the second one to compare with, or NULL. */
    const struct schedstat *sets[2];
    bool explain; /* what fields mean instead of their names */
    struct out *out;
};

/* The averages of all CPUs; for a single set also each CPU. */
void stats_text_write(const struct stats_text *t);

#endif
