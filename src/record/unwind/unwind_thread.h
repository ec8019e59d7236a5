/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --unwind=record: what leaves the rings passes through a thread of low priority that unwinds stacks, and is
 * written by it. What the thread could not do in time is done when it is stopped.
 *
 *     record_unwind_put -> unwind_queue -> the thread: unwind_core -> record_outlet_put -> file
 */
#ifndef SONDE_RECORD_UNWIND_UNWIND_THREAD_H
#define SONDE_RECORD_UNWIND_UNWIND_THREAD_H

#include <stdatomic.h>

#include "record/unwind/unwind_core.h"
#include "record/write/outlet.h"

enum { RECORD_UNWIND_BYTES_MAX = 64 << 20 }; /* in memory; more waits in a file */

struct record_unwind;

/* `outlet` (copied) and what it points to are the thread's alone until it is stopped; `events`, `machine` and
 * `host` are borrowed. NULL and *err: out of memory, or there can be no thread. */
struct record_unwind *record_unwind_start(const struct record_outlet *outlet,
                                          const struct perfdata_events *events, const char *machine,
                                          const char *host, struct err *err);

/* Hands whole records over: the first `packed` spans are to be compressed if anything is. `round`: one ends
 * with them; there may be no spans. Not for two threads at once. False and *err when something that was
 * handed over before could not be written. */
bool record_unwind_put(struct record_unwind *u, const struct bytes *spans, size_t count, size_t packed,
                       bool round, struct err *err);

/* The file's size, as far as it has been written. */
uint64_t record_unwind_file_size(struct record_unwind *u);

/* Ends the thread when all is written. False and *err when it could not be; what is missing is told to the
 * file then (record_file_stopped). What was counted is appended to `report` (may be NULL). Frees `u`. */
bool record_unwind_stop(struct record_unwind *u, struct writer *report, struct err *err);

#endif
