/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/trace/trace_record.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "cmd/trace/trace_bpf.h"
#include "cmd/trace/trace_shapes.h"
#include "os/proc/host.h"

struct trace_recorder {
    struct trace_bpf bpf;
    struct trace_shapes shapes;
    struct trace_options options;
    struct trace_select select;
    struct record_made made;
    struct writer raw, body;
};

/* ---- samples ---- */

static void put_half(struct trace_recorder *x, const struct perfdata_event *event,
                     const struct bpf_trace_half *half, struct bytes memory, struct writer *w) {
    const struct trace_memory_head head = {TRACE_MEMORY_VERSION, sizeof *half};
    writer_clear(&x->raw);
    writer_put(&x->raw, &head, sizeof head);
    writer_put(&x->raw, half, sizeof *half);
    writer_bytes_put(&x->raw, memory);
    while ((x->raw.size + sizeof(uint32_t)) % sizeof(uint64_t)) /* as the kernel pads raw data */
        writer_u8(&x->raw, 0);
    const struct perfdata_sample s = {
        .have = event->plan.sample_type,
        .identifier = event->id_count ? event->ids[0] : 0,
        .id = event->id_count ? event->ids[0] : 0,
        .pid = half->pid,
        .tid = half->tid,
        .cpu = half->cpu,
        .time = half->time_ns,
        .period = 1,
        .raw = writer_bytes(&x->raw),
    };
    writer_clear(&x->body);
    perfdata_sample_encode(&event->plan, &s, &x->body);
    w->failed |= !writer_ok(&x->raw) || !writer_ok(&x->body);
    if (w->failed || x->body.size > UINT16_MAX - PERFDATA_HEADER_SIZE)
        return;
    writer_u32(w, PERFDATA_RECORD_SAMPLE);
    writer_u16(w, PERFDATA_MISC_KERNEL);
    writer_u16(w, (uint16_t)(x->body.size + PERFDATA_HEADER_SIZE));
    writer_bytes_put(w, writer_bytes(&x->body));
}

struct writing {
    struct trace_recorder *x;
    const struct perfdata_event *event;
    struct writer *w;
};

static bool write_half(void *ctx, const struct bpf_trace_half *half, struct bytes memory) {
    struct writing *to = ctx;
    put_half(to->x, to->event, half, memory, to->w);
    return writer_ok(to->w);
}

static bool take(void *ctx, const struct perfdata_event *event, struct writer *w, struct err *err) {
    struct trace_recorder *x = ctx;
    return trace_bpf_each(&x->bpf, write_half, &(struct writing){x, event, w}, err);
}

/* ---- all ---- */

static bool start(void *ctx, const struct perf_target *target, struct err *err) {
    struct trace_recorder *x = ctx;
    return trace_bpf_start(&x->bpf, target, err);
}

void trace_recorder_free(struct trace_recorder *x) {
    if (!x)
        return;
    if (x->bpf.lost)
        log_line(LOG_WARN,
                 "%" PRIu64 " times what arguments point to was lost: those are addresses in the recording",
                 x->bpf.lost);
    trace_bpf_close(&x->bpf);
    trace_shapes_fini(&x->shapes);
    writer_fini(&x->raw);
    writer_fini(&x->body);
    free(x);
}

struct trace_recorder *trace_recorder_new(struct record_options *options, struct record_job *job,
                                          struct err *err) {
    struct trace_recorder *x = calloc(1, sizeof *x);
    struct os_host host;
    if (!x) {
        err_memory(err, "system calls");
        return NULL;
    }
    os_host_read(&host);
    x->options.record = *options;
    x->select.syscalls = true;
    x->raw = x->body = writer_make(false);
    trace_shapes_read(&x->shapes, &os_files_real);
    const struct trace_bpf_plan plan = {&x->options, &x->select, calls_table(host.machine, false),
                                        x->shapes.items, true};
    if (options->use_clockid && options->clockid != CLOCK_MONOTONIC)
        err_set(err, ERR_USAGE, "--clockid", "the programs' clock is CLOCK_MONOTONIC");
    else if (trace_bpf_open(&x->bpf, job->bpf, &plan, err)) {
        x->made = (struct record_made){x, take};
        options->made_event = TRACE_MEMORY_EVENT;
        options->use_clockid = true;
        options->clockid = CLOCK_MONOTONIC;
        job->made = &x->made;
        job->ready = start;
        job->ready_ctx = x;
        return x;
    }
    trace_recorder_free(x);
    return NULL;
}
