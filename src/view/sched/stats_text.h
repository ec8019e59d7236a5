/* SPDX-License-Identifier: Apache-2.0 */
/* What the scheduler counted, as text: `sched stats report`, `diff`. */
#ifndef SONDE_VIEW_SCHED_STATS_TEXT_H
#define SONDE_VIEW_SCHED_STATS_TEXT_H

#include "base/out.h"
#include "format/schedstat/schedstat.h"

struct stats_text {
    /* What was counted (schedstat_span), of one version; the second: to compare with, or NULL. */
    const struct schedstat *sets[2];
    bool explain; /* what fields mean instead of their names */
    struct out *out;
};

/* The averages of all CPUs; of one set then each CPU, too. */
void stats_text_write(const struct stats_text *t);

#endif
