/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many dumped stacks are unwound for one profile. The rings are not read meanwhile, so it may take a
 * share of the time only; how many fit into it is told by the last time that it was done. Looks at no clock.
 */
#ifndef SONDE_CMD_TOP_TOP_PACE_H
#define SONDE_CMD_TOP_TOP_PACE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    TOP_PACE_FIRST = 4096, /* until something is known */
    TOP_PACE_LEAST = 64,
};

/* A profile that was made. */
struct top_pace {
    uint64_t stacks, skipped;   /* that came; of these not unwound */
    uint64_t since_ns, took_ns; /* from the one before; how long it took itself */
};

/* How many to unwind next time, after `most`. */
uint64_t top_pace_next(uint64_t most, const struct top_pace *last);

#endif
