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
    struct tracepoint_set tracepoints; /* from forward_record_begin on */
};

void forward_add(struct forward *f, const char *word);

/* Runs `script` with -i (`input` may be NULL), -f and -D as they stood before the verb, then argv[1 .. argc):
 * argv[0] is the verb. Returns its exit status. */
int forward_script(struct command_env *env, const char *input, bool force, bool dump, int argc, char **argv);

/* Begins `record` of tracepoints, with these words, the last one NULL; forward_record_run ends it. */
void forward_record_begin(struct forward *f, const char *const *words);

/* Whether this kernel has the tracepoint ("sched:sched_switch"; terms after another slash are allowed).
 * False, and *err: it does not, or it may not be seen. */
bool forward_has(struct forward *f, const char *event, struct err *err);

/* Adds `-e EVENT` for a tracepoint ("sched:sched_switch", or with terms after another slash). False, and
 * *err: this kernel does not have it, or it may not be seen. */
bool forward_event(struct forward *f, const char *event, struct err *err);

/* Runs `record` with these words, then argv[1 .. argc): argv[0] is the verb. Unless `ok`, it says
 * instead what went wrong: *err. Returns the exit status. */
int forward_record_run(struct command_env *env, struct forward *f, bool ok, const struct err *err, int argc,
                       char **argv);

#endif
