/* SPDX-License-Identifier: Apache-2.0 */
/* Times and names in the texts of `sched`. */
#ifndef SONDE_VIEW_SCHED_SCHED_TEXT_H
#define SONDE_VIEW_SCHED_SCHED_TEXT_H

#include "base/text/out.h"
#include "states/states.h"

/* Milliseconds with three decimals, rounded, right-aligned to `width`. */
void sched_put_ms(struct out *o, uint64_t ns, unsigned width);
/* The same, cut off. */
void sched_put_ms_cut(struct out *o, uint64_t ns, unsigned width);
/* Seconds with six decimals, cut off as script prints times. */
void sched_put_seconds(struct out *o, uint64_t ns, unsigned width);
/* Writes a thread's name, or ":TID" if it has none (NULL); of what a name may hold, control characters become
 * '?'.
 */
void sched_put_name(const char *name, uint32_t tid, char *to, size_t room);
void sched_name(const struct states *s, uint32_t thread, char *to, size_t room);

#endif
