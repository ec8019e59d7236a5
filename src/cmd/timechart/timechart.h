/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of `sonde timechart` share. */
#ifndef SONDE_CMD_TIMECHART_TIMECHART_H
#define SONDE_CMD_TIMECHART_TIMECHART_H

#include "cmd/common/command.h"
#include "cmd/common/event_view.h"
#include "states/sched_events.h"
#include "states/timechart/timechart.h"
#include "view/timechart/timechart_svg.h"

struct timechart_options {
    const char *input, *output, *highlight;
    bool force, power_only, tasks_only, topology, callchain;
    int verbose, width, least;
    struct option_list processes;
    struct symbol_options symbols;
};

int timechart_record(struct command_env *env, const struct timechart_options *o, int argc, char **argv);
int timechart_draw(struct command_env *env, const struct timechart_options *o);

/* Which threads are drawn, and their sections. */
struct timechart_choice {
    VEC(uint32_t) threads;              /* indexes in states, by section */
    VEC(struct timechart_group) groups; /* titles are owned */
    size_t of;                          /* how many ran at all */
};
/* Those that ran longest, a section for each process. False: out of memory. */
bool timechart_choose_threads(const struct timechart_options *o, const struct states *s,
                              const struct timechart_totals *totals, struct timechart_choice *out);
void timechart_choice_fini(struct timechart_choice *c);

#endif
