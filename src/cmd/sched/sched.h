/* SPDX-License-Identifier: Apache-2.0 */
/* What the verbs of `sonde sched` share. */
#ifndef SONDE_CMD_SCHED_SCHED_H
#define SONDE_CMD_SCHED_SCHED_H

#include "cmd/common/command.h"
#include "cmd/common/input.h"
#include "states/sched_events.h"

/* The options that all verbs have, before or after the verb. */
struct sched_common {
    const char *input;
    bool force;
    int verbose;
};

#define SCHED_COMMON_OPTIONS(type, common)                                    \
    INPUT_OPTION(type, common.input), INPUT_FORCE_OPTION(type, common.force), \
        OPTION_COUNT('v', "verbose", type, common.verbose, "be more verbose")

/* A verb: argv[0] is its name. Returns the exit status. */
typedef int sched_verb_fn(struct command_env *env, const struct sched_common *common, int argc, char **argv);
sched_verb_fn sched_latency;
sched_verb_fn sched_map;
sched_verb_fn sched_record;
sched_verb_fn sched_script;
sched_verb_fn sched_timehist;

/* Opens the recording, and gives all that it says of scheduling to `states`, whose sink is set, by time;
 * states_finish included. `m` is filled with the processes. False with *err; recording_close is allowed then.
 */
bool sched_read(struct recording *r, const struct sched_common *common, struct model *m,
                struct states *states, struct err *err);

#endif
