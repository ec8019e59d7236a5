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
    bool force, power_only, tasks_only, io_only, topology, callchain;
    bool io_skip_again;
    uint64_t io_least_ns, io_merge_ns;
    int verbose, width, least;
    struct option_list processes;
    struct symbol_options symbols;
};

#define IO_ALONE "-I does not go together with -P and -T"

int timechart_record(struct command_env *env, const struct timechart_options *o, int argc, char **argv);
int timechart_draw(struct command_env *env, const struct timechart_options *o);
/* Whether an opened recording has events of input and output. */
bool timechart_io_any(struct event_view *v);
/* Draws these; *begin_ns and *end_ns are those of its events. False with *err. */
bool timechart_draw_io(struct event_view *v, const struct timechart_options *o, uint64_t *begin_ns,
                       uint64_t *end_ns, struct err *err);

enum { TIMECHART_COLUMNS_PER_PIXEL = 2 };

/* A thread that could be drawn. */
struct timechart_candidate {
    uint32_t thread; /* as its owner calls it */
    uint32_t tid, pid;
    const char *name;                /* borrowed; NULL: not known */
    uint64_t weight, process_weight; /* process_weight: of the chosen threads of its process */
};

/* Which threads are drawn, and their sections. */
struct timechart_choice {
    VEC(struct timechart_candidate) candidates; /* from timechart_choice_offer */
    VEC(uint32_t) threads;                      /* those that are drawn, by section */
    VEC(struct timechart_group) groups;         /* titles are owned */
    size_t of;                                  /* how many candidates there were */
};
/* Adds a candidate, if the options want it; `pid` 0: not known. False: out of memory. */
bool timechart_choice_offer(struct timechart_choice *c, const struct timechart_options *o,
                            const struct timechart_candidate *t);
/* Chooses those of the largest weight, a section for each process: `least` weight and more are worth a row.
 * False: out of memory. */
bool timechart_choice_make(struct timechart_choice *c, const struct timechart_options *o, uint64_t least);
void timechart_choice_fini(struct timechart_choice *c);

#endif
