/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `record --syscall-memory`: what arguments of system calls point to, as samples of the event
 * "syscall-memory" beside those of raw_syscalls (docs/FORMAT.md), so that `trace -i` shows it.
 */
#ifndef SONDE_CMD_TRACE_TRACE_RECORD_H
#define SONDE_CMD_TRACE_TRACE_RECORD_H

#include "record/session.h"

#define TRACE_MEMORY_EVENT "syscall-memory"

enum { TRACE_MEMORY_VERSION = 1 };

/* In front of a sample's raw data; struct bpf_trace_half and its memory follow. In the recorded machine's
 * byte order. */
struct trace_memory_head {
    uint32_t version;
    uint32_t half_bytes; /* sizeof(struct bpf_trace_half) */
};

struct trace_recorder;

/* Loads the programs, and sets what concerns them in `options` and `job`, which are borrowed. NULL: *err says
 * why they cannot be had. */
struct trace_recorder *trace_recorder_new(struct record_options *options, struct record_job *job,
                                          struct err *err);
/* Says what was lost. NULL is allowed. */
void trace_recorder_free(struct trace_recorder *x);

#endif
