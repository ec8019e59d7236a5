/* SPDX-License-Identifier: Apache-2.0 */
/* What the verbs of `sonde sched` share. */
#ifndef SONDE_CMD_SCHED_SCHED_H
#define SONDE_CMD_SCHED_SCHED_H

#include "cmd/common/command.h"
#include "cmd/common/event_view.h"
#include "states/sched_events.h"

/* The options that all verbs have, before or after the verb. */
struct sched_common {
    const char *input;
    bool force, dump;
    int verbose;
};

#define SCHED_COMMON_OPTIONS(type, common)                                    \
    INPUT_OPTION(type, common.input), INPUT_FORCE_OPTION(type, common.force), \
        EVENT_VIEW_DUMP_OPTION(type, common.dump),                            \
        OPTION_COUNT('v', "verbose", type, common.verbose, "be more verbose")

/* A verb: argv[0] is its name. Returns the exit status. */
typedef int sched_verb_fn(struct command_env *env, const struct sched_common *common, int argc, char **argv);
sched_verb_fn sched_latency;
sched_verb_fn sched_map;
sched_verb_fn sched_record;
sched_verb_fn sched_replay;
sched_verb_fn sched_script;
sched_verb_fn sched_stats;
sched_verb_fn sched_timehist;

/* A view of the recording that the options name, to be opened. */
struct event_view sched_view(struct command_env *env, const struct sched_common *common);

/* Gives all that an opened recording says of scheduling to `states`, whose sink is set, in order;
 * states_finish included. False with *err. */
bool sched_read(struct event_view *v, struct states *states, struct err *err);

#endif
