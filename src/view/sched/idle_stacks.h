/* SPDX-License-Identifier: Apache-2.0 */
/* Idle times added up by CPU and by the stack of the thread that left the CPU idle: `sched timehist -I -g
 * -S`. */
#ifndef SONDE_VIEW_SCHED_IDLE_STACKS_H
#define SONDE_VIEW_SCHED_IDLE_STACKS_H

#include "base/hash.h"
#include "base/strpool.h"
#include "states/sched/timehist.h"
#include "view/sched/stack_text.h"

struct idle_stack {
    uint32_t cpu, text; /* text: in texts */
    uint64_t ns, count;
};

struct idle_stacks {
    const struct stack_text *stacks; /* borrowed */
    VEC(struct idle_stack) rows;
    struct strpool texts;
    struct hash_map by_key; /* of CPU and text */
};

/* Adds an idle time, one of the lines of struct timehist. False: out of memory. */
bool idle_stacks_add(struct idle_stacks *x, const struct timehist_line *line);
/* Writes the sums by CPU, the longest first. */
void idle_stacks_write(struct idle_stacks *x, struct out *o);
void idle_stacks_fini(struct idle_stacks *x);

#endif
