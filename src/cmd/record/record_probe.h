/* SPDX-License-Identifier: Apache-2.0 */
/* `record --probe`: probes of programs that last as long as the recording, and are nowhere written down. */
#ifndef SONDE_CMD_RECORD_RECORD_PROBE_H
#define SONDE_CMD_RECORD_RECORD_PROBE_H

#include "cmd/common/command.h"
#include "events/event_parse.h"

/*
 * Appends the events of each "[/FILE ]PLACE" (as of `sonde probe`; without a file it is the command's). They
 * are opened through the kernel's uprobe PMU, so that whatever ends us ends them. False: *err.
 */
bool record_probe_add(const struct command_env *env, const struct option_list *probes, const char *command,
                      struct perf_event_sources *src, struct perf_events *events, struct err *err);

#endif
