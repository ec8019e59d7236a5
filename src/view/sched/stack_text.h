/* SPDX-License-Identifier: Apache-2.0 */
/* The stack of an event in one line, innermost function first, inlined ones included: "do_nanosleep <-
 * hrtimer_nanosleep <- ...". */
#ifndef SONDE_VIEW_SCHED_STACK_TEXT_H
#define SONDE_VIEW_SCHED_STACK_TEXT_H

#include "base/text/out.h"
#include "recording/stacks_at.h"

struct stack_text {
    struct recording_stacks *stacks; /* borrowed */
    unsigned max;                    /* at most this many addresses, those that are left out included */
    const char *const *skip;         /* functions that are left out; ends with NULL; may be NULL */
    bool no_inlines;                 /* inlined functions are left out */
};

/* Writes the stack of the sample at `loc`; nothing if it has none. False: out of memory. */
bool stack_text_put(const struct stack_text *t, uint64_t loc, struct out *o);

#endif
