/* SPDX-License-Identifier: Apache-2.0 */
/* User stacks of threads that wait: their memory is copied from outside and unwound as a recorded dump is. */
#ifndef SONDE_CMD_WAITS_WAITS_STACKS_H
#define SONDE_CMD_WAITS_WAITS_STACKS_H

#include "cmd/common/command.h"
#include "os/proc/proc.h"
#include "waits/groups.h"

/* Appends the user's frames to the stacks of all threads that are chosen. A stack that cannot be read or
 * unwound stays as it is. False: out of memory. */
bool waits_stacks_add(struct waits *w, const struct os_proc *proc, const struct waits_choice *choice,
                      const struct command_env *env, struct err *err);

#endif
