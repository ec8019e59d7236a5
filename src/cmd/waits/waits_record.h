/* SPDX-License-Identifier: Apache-2.0 */
/* `waits -- COMMAND`: where the time on the clock went while a command ran, on a CPU and off it, in one tree.
 */
#ifndef SONDE_CMD_WAITS_WAITS_RECORD_H
#define SONDE_CMD_WAITS_WAITS_RECORD_H

#include "cmd/waits/waits_run.h"

/* Records the command, or whom the options name while it runs, in memory, and shows the tree, or writes it to
 * o->output. Lines are cut to `width`; 0: never. Returns the exit status: the command's if all went well. */
int waits_record(struct command_env *env, const struct waits_options *o, size_t width, int argc, char **argv);

#endif
