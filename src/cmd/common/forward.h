/* SPDX-License-Identifier: Apache-2.0 */
/* A command that runs another one, with words of its own before the user's: `sched record` is `record`. */
#ifndef SONDE_CMD_COMMON_FORWARD_H
#define SONDE_CMD_COMMON_FORWARD_H

#include "cmd/common/command.h"
#include "events/tracepoint.h"

enum { FORWARD_WORDS_MAX = 128 };

/* The words that come before the user's; the first one is the command's name. Those beyond the maximum are
 * left out. Texts are borrowed. */
struct forward {
    char *list[FORWARD_WORDS_MAX];
    size_t count;
};

void forward_add(struct forward *f, const char *word);
/* -i and -f as a command has them before its verb; `input` may be NULL. */
void forward_input(struct forward *f, const char *input, bool force);

/* Adds `-e EVENT` for a tracepoint ("sched:sched_switch", or with terms after another slash). False, and
 * *err: this kernel does not have it, or it may not be seen. */
bool forward_event(struct forward *f, struct tracepoint_set *set, const char *event, struct err *err);

/* Runs `command` with these words, then argv[1 .. argc): argv[0] is the verb. Returns its exit status. */
int forward_run(struct command_env *env, const struct command *command, const struct forward *f, int argc,
                char **argv);

#endif
