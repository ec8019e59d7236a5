/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that arrive while events are recorded or counted (--control of perf-record(1), perf-stat(1)): one
 * per line, through a pipe or FIFO. */
#ifndef SONDE_EVENTS_CONTROL_H
#define SONDE_EVENTS_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/writer.h"
#include "format/perfdata/events/attr.h"

enum perf_command {
    PERF_COMMAND_NONE, /* no whole line yet */
    PERF_COMMAND_ENABLE,
    PERF_COMMAND_DISABLE,
    PERF_COMMAND_STOP,
    PERF_COMMAND_PING,
    PERF_COMMAND_SNAPSHOT,
    PERF_COMMAND_LIST,
    PERF_COMMAND_UNKNOWN,
};

struct perf_control {
    char line[256]; /* what has come of a line */
    size_t len;
    char name[256]; /* after enable and disable: the event meant; empty: all. Behind evlist: its options */
};

/* Takes bytes up to the end of a line; *taken: how many. An overlong line is an unknown command. */
enum perf_command perf_control_take(struct perf_control *c, const char *p, size_t n, size_t *taken);

/* What evlist tells of an event; borrowed. */
struct perf_control_event {
    const char *name;
    const struct perfdata_attr *attr;
    uint32_t members; /* of a group's leader: how many events, itself included; else 0 or 1 */
};

/* evlist: the events, a line for each. `how`: "-F" adds the rate, "-v" what there is in the attr, "-g" puts a
 * group into braces, one line for all of it; empty: names. False for other options. */
bool perf_control_list(const struct perf_control_event *events, size_t count, const char *how,
                       struct writer *out);

#endif
