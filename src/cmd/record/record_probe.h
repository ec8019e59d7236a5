/* SPDX-License-Identifier: Apache-2.0 */
/* `record --probe`: probes of programs that last as long as the recording, and are nowhere written down. */
#ifndef SONDE_CMD_RECORD_RECORD_PROBE_H
#define SONDE_CMD_RECORD_RECORD_PROBE_H

#include "cmd/common/command.h"
#include "events/event_parse.h"

/* Whose program a place without a file is in. */
struct record_probe_whose {
    const char *tasks;   /* numbers of -p or -t, joined by commas; NULL: not given. They come first: the
                            command beside them says only how long */
    const char *command; /* NULL: none */
};

/*
 * Appends the events of each "[/FILE ]PLACE" (as of `sonde probe`). They are opened through the kernel's
 * uprobe PMU, so that whatever ends us ends them. False: *err.
 */
bool record_probe_add(const struct command_env *env, const struct option_list *probes,
                      const struct record_probe_whose *whose, struct perf_event_sources *src,
                      struct perf_events *events, struct err *err);

#endif
