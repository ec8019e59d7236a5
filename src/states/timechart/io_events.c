/* SPDX-License-Identifier: Apache-2.0 */
#include "states/timechart/io_events.h"

#include <string.h>

/* Those that return how many bytes were moved, and those that do not. */
#define IO_CALLS(BYTES, OTHER)                     \
    BYTES("read", IO_READS)                        \
    BYTES("pread64", IO_READS)                     \
    BYTES("readv", IO_READS)                       \
    BYTES("preadv", IO_READS)                      \
    BYTES("preadv2", IO_READS)                     \
    BYTES("write", IO_WRITES)                      \
    BYTES("pwrite64", IO_WRITES)                   \
    BYTES("writev", IO_WRITES)                     \
    BYTES("pwritev", IO_WRITES)                    \
    BYTES("pwritev2", IO_WRITES)                   \
    BYTES("copy_file_range", IO_READS | IO_WRITES) \
    BYTES("sendfile64", IO_READS | IO_WRITES)      \
    BYTES("splice", IO_READS | IO_WRITES)          \
    BYTES("recvfrom", IO_RECEIVES)                 \
    BYTES("recvmsg", IO_RECEIVES)                  \
    OTHER("recvmmsg", IO_RECEIVES)                 \
    BYTES("sendto", IO_SENDS)                      \
    BYTES("sendmsg", IO_SENDS)                     \
    OTHER("sendmmsg", IO_SENDS)                    \
    OTHER("sync", IO_SYNCS)                        \
    OTHER("syncfs", IO_SYNCS)                      \
    OTHER("sync_file_range", IO_SYNCS)             \
    OTHER("fsync", IO_SYNCS)                       \
    OTHER("fdatasync", IO_SYNCS)                   \
    OTHER("msync", IO_SYNCS)                       \
    OTHER("epoll_wait", IO_POLLS)                  \
    OTHER("epoll_pwait", IO_POLLS)                 \
    OTHER("epoll_pwait2", IO_POLLS)                \
    OTHER("poll", IO_POLLS)                        \
    OTHER("ppoll", IO_POLLS)                       \
    OTHER("select", IO_POLLS)                      \
    OTHER("pselect6", IO_POLLS)

#define BYTES(name, does) {name, does, true},
#define OTHER(name, does) {name, does, false},
static const struct io_call CALLS[] = {IO_CALLS(BYTES, OTHER)};
#undef BYTES
#undef OTHER
enum { CALL_COUNT = sizeof CALLS / sizeof *CALLS };

/* A row's kind is the call's index; of an exit, that many more. */
#define ENTER(name, does) {"syscalls", "sys_enter_" name, 0, 0, {""}},
#define EXIT(name, does)  {"syscalls", "sys_exit_" name, CALL_COUNT, 1, {"ret"}},
static const struct tracepoint_row ROWS[] = {IO_CALLS(ENTER, ENTER) IO_CALLS(EXIT, EXIT)};
#undef ENTER
#undef EXIT
enum { RESULT };

size_t io_calls_count(void) {
    return CALL_COUNT;
}

const struct io_call *io_call(size_t number) {
    return number < CALL_COUNT ? &CALLS[number] : NULL;
}

void io_events_init(struct io_events *e, struct recording *r, const char *machine) {
    *e = (struct io_events){.table = calls_table(machine, false)};
    call_events_init(&e->raw, r);
    tracepoints_init(&e->named, r->stream, &r->namer, ROWS, sizeof ROWS / sizeof *ROWS, 0);
}

void io_events_fini(struct io_events *e) {
    call_events_fini(&e->raw);
    tracepoints_fini(&e->named);
}

bool io_events_update(struct io_events *e, struct err *err) {
    if (!call_events_update(&e->raw, err) || !tracepoints_update(&e->named, err))
        return false;
    e->has_named = tracepoints_have(&e->named, 0) || tracepoints_have(&e->named, CALL_COUNT);
    return true;
}

bool io_events_any(const struct io_events *e) {
    return e->has_named || (e->table && call_events_any(&e->raw));
}

bool io_events_want(const struct io_events *e, const struct stream_record *r) {
    return tracepoints_want((void *)&e->named, r) || call_events_want(&e->raw, r);
}

/* The index of the tracepoint's call: rows are in the order of CALLS, twice. */
static int64_t call_of(const struct tracepoint *t) {
    return (t->event->row - ROWS) % CALL_COUNT;
}

static bool apply_named(struct io_events *e, struct calls *calls, const struct stream_record *r) {
    struct tracepoint t;
    if (!tracepoints_read(&e->named, r, &t) || !(t.sample.have & PERFDATA_SAMPLE_TID))
        return true; /* the stream has counted it */
    const struct calls_event event = {
        .time_ns = t.sample.time,
        .loc = r->loc,
        .tid = t.sample.tid,
        .pid = t.sample.pid,
        .cpu = t.sample.cpu,
        .number = call_of(&t),
        .result = t.kind ? tracepoint_int(&t, RESULT, 0) : 0,
    };
    return t.kind ? calls_exit(calls, &event) : calls_enter(calls, &event);
}

/* The index of a call by its number on this machine; -1: it is none of ours. */
static int64_t index_of(const struct io_events *e, int64_t number) {
    const struct calls_row *row = calls_table_row(e->table, number);
    for (size_t i = 0; row && i < CALL_COUNT; i++)
        if (strcmp(row->name, CALLS[i].name) == 0)
            return (int64_t)i;
    return -1;
}

bool io_events_apply(struct io_events *e, struct calls *calls, const struct stream_record *r) {
    struct call_events_read read;
    if (tracepoints_want(&e->named, r))
        return apply_named(e, calls, r);
    call_events_read(&e->raw, r, &read);
    if (read.kind == CALL_EVENTS_ENTER || read.kind == CALL_EVENTS_EXIT) {
        read.event.number = e->has_named ? -1 : index_of(e, read.event.number);
        if (read.event.number < 0)
            return true;
    }
    return call_events_apply(calls, &read);
}
