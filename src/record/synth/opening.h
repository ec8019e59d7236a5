/* SPDX-License-Identifier: Apache-2.0 */
/* The records that a recording opens with, ahead of what existed before. */
#ifndef SONDE_RECORD_SYNTH_OPENING_H
#define SONDE_RECORD_SYNTH_OPENING_H

#include "record/rings/open.h"
#include "record/write/sink.h"

/* TIME_CONV where the kernel tells of it, ID_INDEX, THREAD_MAP, CPU_MAP and, for a command that has not
 * started yet, its COMM with the name that it has until then (NULL: it has started). */
void record_opening_encode(const struct record_opened *opened, const struct perf_target *t,
                           const struct record_sink *sink, const char *child_comm, struct writer *w);

/* THREAD_MAP and CPU_MAP alone. */
void record_opening_target(const struct perf_target *t, struct writer *w);

/* A record that is only a header. */
void record_opening_mark(uint32_t type, struct writer *w);

/* A LOST record about `lost` events, as of `time_ns`. */
void record_opening_lost(const struct record_sink *sink, uint64_t lost, uint64_t time_ns, struct writer *w);

#endif
