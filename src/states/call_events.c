/* SPDX-License-Identifier: Apache-2.0 */
#include "states/call_events.h"

#include <string.h>

enum { ENTER, EXIT };
enum { ID, ARGS, RESULT = ARGS };
static const struct tracepoint_row ROWS[] = {
    {"raw_syscalls", "sys_enter", ENTER, 2, {"id", "args"}},
    {"raw_syscalls", "sys_exit", EXIT, 2, {"id", "ret"}},
};

void call_events_init(struct call_events *e, struct recording *r) {
    *e = (struct call_events){.recording = r};
    tracepoints_init(&e->tracepoints, r->stream, &r->namer, ROWS, sizeof ROWS / sizeof *ROWS, 0);
}

void call_events_fini(struct call_events *e) {
    tracepoints_fini(&e->tracepoints);
}

bool call_events_update(struct call_events *e, struct err *err) {
    return tracepoints_update(&e->tracepoints, err);
}

bool call_events_any(const struct call_events *e) {
    return tracepoints_have(&e->tracepoints, ENTER) || tracepoints_have(&e->tracepoints, EXIT);
}

static bool is_side_band(uint32_t type) {
    switch (type) {
    case PERFDATA_RECORD_COMM:
    case PERFDATA_RECORD_FORK:
    case PERFDATA_RECORD_EXIT:
    case PERFDATA_RECORD_MMAP:
    case PERFDATA_RECORD_MMAP2:
    case PERFDATA_RECORD_LOST:
    case PERFDATA_RECORD_LOST_SAMPLES:
        return true;
    default:
        return false;
    }
}

bool call_events_want(const struct call_events *e, const struct stream_record *r) {
    if (r->raw.type == PERFDATA_RECORD_SAMPLE)
        return tracepoints_want((void *)&e->tracepoints, r);
    return is_side_band(r->raw.type);
}

/* The kernel's unsigned long is of 4 or 8 bytes. */
static void read_args(const struct tracepoint *t, uint64_t args[CALLS_ARGS]) {
    struct bytes b = tracepoint_bytes(t, ARGS);
    bool swap = t->event->big != BYTES_HOST_BIG;
    size_t width = b.size / CALLS_ARGS;
    for (size_t i = 0; i < CALLS_ARGS; i++)
        args[i] = width == 8   ? bytes_load64(b.data + i * width, swap)
                  : width == 4 ? bytes_load32(b.data + i * width, swap)
                               : 0;
}

void call_events_read(struct call_events *e, const struct stream_record *r, struct call_events_read *out) {
    struct tracepoint t;
    *out = (struct call_events_read){.kind = CALL_EVENTS_OTHER};
    if (is_side_band(r->raw.type)) {
        out->kind = recording_decode(e->recording, r, &out->record) ? CALL_EVENTS_THREADS : CALL_EVENTS_OTHER;
        return;
    }
    if (r->raw.type != PERFDATA_RECORD_SAMPLE || !tracepoints_want(&e->tracepoints, r) ||
        !tracepoints_read(&e->tracepoints, r, &t) || !(t.sample.have & PERFDATA_SAMPLE_TID))
        return;
    out->kind = t.kind == ENTER ? CALL_EVENTS_ENTER : CALL_EVENTS_EXIT;
    out->event = (struct calls_event){
        .time_ns = t.sample.time,
        .loc = r->loc,
        .tid = t.sample.tid,
        .pid = t.sample.pid,
        .cpu = t.sample.cpu,
        .number = tracepoint_int(&t, ID, -1),
    };
    if (t.kind == ENTER)
        read_args(&t, out->event.args);
    else
        out->event.result = tracepoint_int(&t, RESULT, 0);
}

static bool apply_record(struct calls *calls, const struct perfdata_record *x) {
    bool data = x->misc & PERFDATA_MISC_MMAP_DATA;
    bool user = (x->misc & PERFDATA_MISC_CPUMODE_MASK) == PERFDATA_MISC_USER;
    switch (x->type) {
    case PERFDATA_RECORD_COMM:
        return calls_name(calls, x->comm.tid, x->comm.pid, x->comm.comm, x->misc & PERFDATA_MISC_COMM_EXEC);
    case PERFDATA_RECORD_FORK:
        return calls_fork(calls, x->task.tid, x->task.pid, x->task.ptid);
    case PERFDATA_RECORD_EXIT:
        return calls_gone(calls, x->task.tid);
    case PERFDATA_RECORD_MMAP:
        return data || !user || calls_map(calls, x->mmap.pid, x->mmap.addr);
    case PERFDATA_RECORD_MMAP2:
        return data || !user || calls_map(calls, x->mmap2.pid, x->mmap2.addr);
    default:
        calls_lost(calls);
        return true;
    }
}

bool call_events_apply(struct calls *calls, const struct call_events_read *x) {
    switch (x->kind) {
    case CALL_EVENTS_ENTER:
        return calls_enter(calls, &x->event);
    case CALL_EVENTS_EXIT:
        return calls_exit(calls, &x->event);
    case CALL_EVENTS_THREADS:
        return apply_record(calls, &x->record);
    default:
        return true;
    }
}
