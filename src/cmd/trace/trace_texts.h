/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What arguments point to, for calls that come as tracepoints: bpf/trace.bpf.c reports the same halves of
 * calls, with the memory, and these wait here until their tracepoints' turn has come.
 *
 * A half is the one of a tracepoint if thread, number and arguments (or result) are the same and no other
 * half can be: the tracepoint's time is taken first, so the half of an enter lies between it and whatever
 * comes next of the thread, and that of its exit is the next one in the thread's own count. Where one was
 * lost, there is none.
 */
#ifndef SONDE_CMD_TRACE_TRACE_TEXTS_H
#define SONDE_CMD_TRACE_TRACE_TEXTS_H

#include "base/hash.h"
#include "base/vec.h"
#include "bpf/trace.h"
#include "calls/calls.h"

enum {
    TRACE_TEXTS_MAX = 1 << 17
}; /* halves that wait; older ones go, whose tracepoints were filtered or lost */

struct trace_text_half {
    struct bpf_trace_half *half; /* owned; its memory follows */
    uint32_t room;               /* bytes of that */
    uint64_t next;               /* of the thread; TRACE_TEXTS_NONE: none */
};

struct trace_text_thread {
    uint64_t first, last; /* halves that wait */
};

struct trace_texts {
    VEC(struct trace_text_half) halves; /* in the order in which they came */
    uint64_t base;                      /* the number of halves.items[head] */
    size_t head;
    struct hash_map by_tid;
    VEC(struct trace_text_thread) threads;
};

#define TRACE_TEXTS_NONE UINT64_MAX

void trace_texts_fini(struct trace_texts *x);

/* A half came. False: out of memory. */
bool trace_texts_put(struct trace_texts *x, const struct bpf_trace_half *half, struct bytes memory);

/* What was copied when the call was entered. `until_ns`: when the thread, or the recording, was heard of
 * next. NULL: it is not known. Valid, as what follows, until the next trace_texts_put. */
const struct trace_text_half *trace_texts_enter(struct trace_texts *x, const struct calls_call *call,
                                                uint64_t until_ns);
/* What was copied when it returned; `enter` as trace_texts_enter has given it. NULL: it is not known. */
const struct trace_text_half *trace_texts_exit(struct trace_texts *x, const struct trace_text_half *enter,
                                               const struct calls_event *exit);

/* The memory of a half, by argument: borrowed from it. */
void trace_texts_memory(const struct bpf_trace_half *half, const uint8_t *memory, size_t room,
                        struct calls_memory to[CALLS_ARGS]);

#endif
