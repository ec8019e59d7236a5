/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of ours that do the steps of recorded ones (states/sched/replay.h). */
#ifndef SONDE_CMD_SCHED_REPLAY_RUN_H
#define SONDE_CMD_SCHED_REPLAY_RUN_H

#include "base/err.h"
#include "states/sched/replay.h"

/* Uses the CPU for so long, as the kernel counts it for this thread. */
void replay_burn(uint64_t ns);
uint64_t replay_now_ns(void);

struct replay_round {
    uint64_t wall_ns, cpu_ns; /* cpu: of all threads together, while they did their steps */
};

/* Does all steps once, in one thread for each that has any, which begin together. False with *err: a thread
 * could not be made. */
bool replay_round_run(const struct replay *r, struct replay_round *out, struct err *err);

#endif
