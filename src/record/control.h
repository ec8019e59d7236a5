/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that arrive while recording (--control of perf-record(1)): one per line, through a pipe or FIFO.
 */
#ifndef SONDE_RECORD_CONTROL_H
#define SONDE_RECORD_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/writer.h"
#include "record/plan/plan.h"

enum record_command {
    RECORD_COMMAND_NONE, /* no whole line yet */
    RECORD_COMMAND_ENABLE,
    RECORD_COMMAND_DISABLE,
    RECORD_COMMAND_STOP,
    RECORD_COMMAND_PING,
    RECORD_COMMAND_SNAPSHOT,
    RECORD_COMMAND_LIST,
    RECORD_COMMAND_UNKNOWN,
};

struct record_control {
    char line[256]; /* what has come of a line */
    size_t len;
    char name[256]; /* after enable and disable: the event meant; empty: all. Behind evlist: its options */
};

/* Takes bytes up to the end of a line; *taken: how many. An overlong line is an unknown command. */
enum record_command record_control_take(struct record_control *c, const char *p, size_t n, size_t *taken);

/* evlist: the events, a line for each. `how`: "-F" adds the rate, "-v" what there is in the attr, "-g" puts a
 * group into braces, one line for all of it; empty: names. False for other options. */
bool record_control_list(const struct record_plan *plan, const char *how, struct writer *out);

#endif
