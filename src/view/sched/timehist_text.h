/* SPDX-License-Identifier: Apache-2.0 */
/* Switches of threads one by one, and their sums by thread, as text: `sched timehist`. */
#ifndef SONDE_VIEW_SCHED_TIMEHIST_TEXT_H
#define SONDE_VIEW_SCHED_TIMEHIST_TEXT_H

#include "base/text/out.h"
#include "model/model.h"
#include "states/sched/timehist.h"
#include "view/sched/idle_stacks.h"

struct timehist_text {
    bool wakes, migrations;                 /* their lines are shown */
    bool next, state, prio, pre_migrations; /* columns */
    uint32_t cpus;                          /* a picture of so many CPUs; 0: none */
    bool headed;                            /* the heading is written */
    struct stack_text *stacks;              /* NULL: none are shown */
    struct out *out;
};

/* Writes the heading, once; timehist_text_line does before the first line. */
void timehist_text_head(struct timehist_text *t);
/* The line function of struct timehist; ctx is a struct timehist_text. */
bool timehist_text_line(void *ctx, const struct states *s, const struct timehist_line *line);
/* The sums, or the sums of idle times if these were chosen, then also by `stacks` unless NULL; `m` knows the
 * parents of processes. */
void timehist_text_summary(const struct timehist *h, const struct states *s, const struct model *m,
                           struct idle_stacks *stacks, struct out *o);
/* Prints what was wrong with the events; nothing if nothing was. */
void timehist_text_faults(const struct states *s, struct out *o);

#endif
