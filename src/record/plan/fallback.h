/* SPDX-License-Identifier: Apache-2.0 */
/* What is recorded where an event does not exist, as in virtual machines without hardware counters. */
#ifndef SONDE_RECORD_PLAN_FALLBACK_H
#define SONDE_RECORD_PLAN_FALLBACK_H

#include "base/err.h"
#include "base/writer.h"
#include "events/event_parse.h"

/*
 * Event `index` does not exist here. Cycles become a clock with the same modifiers: task-clock of tasks
 * (`tasks`), cpu-clock of CPUs. Any other event goes if there are more, out of its group if it is in one. A
 * line for the user is appended to `notes`, with a NUL. False and *err when nothing can take its place (*err
 * stays as it is: it says why), or memory ran out.
 */
bool record_fallback(struct perf_events *events, size_t index, bool tasks, struct writer *notes,
                     struct err *err);

/* Says the notes. */
void record_fallback_tell(const struct writer *notes);

#endif
