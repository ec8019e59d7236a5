/* SPDX-License-Identifier: Apache-2.0 */
/* How long threads ran and waited for a CPU, as text: `sched latency`. */
#ifndef SONDE_VIEW_SCHED_LATENCY_TEXT_H
#define SONDE_VIEW_SCHED_LATENCY_TEXT_H

#include "base/text/out.h"
#include "states/sched/latency.h"

/* Writes the rows in the layout of perf's table, their sums, and what was wrong with the events. */
void latency_text_write(const struct latency *l, const struct states *s, struct out *o);

#endif
