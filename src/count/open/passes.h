/* SPDX-License-Identifier: Apache-2.0 */
/* Events shared out among several runs of a command (--passes), so that none of them has to share a counter.
 */
#ifndef SONDE_COUNT_OPEN_PASSES_H
#define SONDE_COUNT_OPEN_PASSES_H

#include "count/counts.h"
#include "events/event_parse.h"
#include "os/perf/perf_event.h"

struct count_passes {
    VEC(uint32_t) of; /* of each event: its pass, from 0 on; COUNT_EVERY_PASS: it takes no counter */
    uint32_t count;   /* 1 at least */
};

enum { COUNT_EVERY_PASS = UINT32_MAX };

/* Asks the kernel which groups of events fit beside each other. Groups stay together. False: out of memory.
 */
bool count_passes_plan(struct count_passes *p, const struct os_perf *perf, const struct perf_events *events);

/* After a run of a pass: whether some of its events had to share a counter after all (another program, the
 * kernel's watchdog), and some of them have been put off to a pass of their own. The run counts for nothing
 * then. */
bool count_passes_split(struct count_passes *p, uint32_t pass, const struct perf_events *events,
                        const struct counts *run);

void count_passes_fini(struct count_passes *p);

#endif
