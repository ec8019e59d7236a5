/* SPDX-License-Identifier: Apache-2.0 */
/* The start of a Python script for a recording: `script -g python` (perf-script-python(1)). */
#ifndef SONDE_VIEW_SCRIPT_SCRIPT_SKELETON_H
#define SONDE_VIEW_SCRIPT_SCRIPT_SKELETON_H

#include "base/text/out.h"
#include "format/perfdata/events/events.h"
#include "format/tracefs/tracing_data.h"

/* Writes a handler for each tracepoint, with its fields; `tracing` may be NULL. */
void script_skeleton_write(const struct perfdata_events *events, const struct tracing_data *tracing,
                           struct out *o);

#endif
