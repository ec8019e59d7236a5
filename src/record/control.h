/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that arrive while recording (--control of perf-record(1)): one per line, through a pipe or FIFO.
 */
#ifndef SONDE_RECORD_CONTROL_H
#define SONDE_RECORD_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

enum record_command {
    RECORD_COMMAND_NONE, /* no whole line yet */
    RECORD_COMMAND_ENABLE,
    RECORD_COMMAND_DISABLE,
    RECORD_COMMAND_STOP,
    RECORD_COMMAND_PING,
    RECORD_COMMAND_UNKNOWN,
};

struct record_control {
    char line[256]; /* what has come of a line */
    size_t len;
    char name[256]; /* behind enable and disable: the event meant; empty: all */
};

/* Takes bytes up to the end of a line; *taken: how many. An overlong line is an unknown command. */
enum record_command record_control_take(struct record_control *c, const char *p, size_t n, size_t *taken);

#endif
