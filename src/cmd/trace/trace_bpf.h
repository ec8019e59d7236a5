/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls by bpf/trace.bpf.c: summed in the kernel, or one by one with what their arguments point to,
 * which may be all that is wanted of them.
 *
 *   trace_bpf_open -> (threads are known) trace_bpf_start -> trace_bpf_take ... -> trace_bpf_stop, _sums ->
 * _close
 */
#ifndef SONDE_CMD_TRACE_TRACE_BPF_H
#define SONDE_CMD_TRACE_TRACE_BPF_H

#include "cmd/trace/trace.h"
#include "events/target.h"
#include "os/bpf/bpf_object.h"
#include "os/bpf/bpf_ring.h"

struct trace_bpf {
    struct os_bpf_object object;
    struct os_bpf_ring ring;
    bool opened, lines;
    uint64_t lost; /* halves, as far as they were told of */
    VEC(uint64_t) lost_by_cpu;
};

struct trace_bpf_plan {
    const struct trace_options *options;
    const struct trace_select *select;
    const struct calls_table *table;
    const struct calls_shape *shapes;
    bool lines; /* one by one; else sums */
};

/* Loads the programs; nothing is called yet. False: *err says why not; trace_bpf_close is allowed. */
bool trace_bpf_open(struct trace_bpf *b, const struct os_bpf *bpf, const struct trace_bpf_plan *plan,
                    struct err *err);
/* From now on calls of these threads count. */
bool trace_bpf_start(struct trace_bpf *b, const struct perf_target *target, struct err *err);
/* Calls `fn` for each half that came. False: *err, or fn ran out of memory. */
bool trace_bpf_each(struct trace_bpf *b,
                    bool (*fn)(void *ctx, const struct bpf_trace_half *half, struct bytes memory), void *ctx,
                    struct err *err);
/* Hands what came to the calls of `t`, in order. False: *err, or t->done. */
bool trace_bpf_take(struct trace_bpf *b, struct trace *t, struct err *err);
/* No call counts any more. */
void trace_bpf_stop(struct trace_bpf *b);
/* Adds the kernel's sums to `s`, grouped as `mode` says. *lost: calls, or errors of them, that found a map
 * full. */
bool trace_bpf_sums(struct trace_bpf *b, enum trace_summary_mode mode, struct calls_summary *s,
                    uint64_t *lost, struct err *err);
void trace_bpf_close(struct trace_bpf *b);

#endif
