/* SPDX-License-Identifier: Apache-2.0 */
/* Time on a CPU and time off it in one tree: what a program's time on the clock went to. */
#ifndef SONDE_STACKS_WALL_CLOCK_H
#define SONDE_STACKS_WALL_CLOCK_H

#include "stacks/stacks.h"

/* The name of the event that is made, and of the one for the time off the CPU (record --off-cpu). */
#define STACKS_WALL_CLOCK "wall-clock"
#define STACKS_OFF_CPU    "offcpu-time"

/*
 * If there are, among the events from number `first` on, that for the time off the CPU and exactly one other
 * whose periods are nanoseconds, then an event "wall-clock" becomes number `first`, with the samples of both;
 * the others follow in their order. Before stacks_finish. False: out of memory.
 */
bool stacks_wall_clock(struct stacks *s, uint32_t first, struct err *err);

#endif
