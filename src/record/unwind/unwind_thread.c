/* SPDX-License-Identifier: Apache-2.0 */
#include "record/unwind/unwind_thread.h"

#include "os/limits.h"

struct record_unwind {
    struct record_outlet outlet;
    struct record_unwind_queue queue;
    struct record_unwind_core core;
    pthread_t thread;
    atomic_uint_fast64_t written; /* the file's size */
};

static bool put(void *ctx, const struct bytes *spans, size_t count, size_t packed, struct err *err) {
    struct record_unwind *u = ctx;
    bool ok = record_outlet_put(&u->outlet, spans, count, packed, err);
    atomic_store(&u->written, u->outlet.thread ? record_write_thread_size(u->outlet.thread)
                                               : record_file_size(u->outlet.file));
    return ok;
}

static void give_back(void *ctx, struct record_chunk *chunk) {
    struct record_unwind *u = ctx;
    record_unwind_queue_give_back(&u->queue, chunk);
}

static void *work(void *ctx) {
    struct record_unwind *u = ctx;
    struct record_chunk chunk;
    struct err err = ERR_INIT;
    bool hurry, ok = true;
    os_limits_be_patient();
    while (ok) {
        enum record_unwind_next next = record_unwind_queue_take(&u->queue, &chunk, &hurry);
        if (next == RECORD_UNWIND_STOP)
            return NULL;
        ok = next == RECORD_UNWIND_HURRY || record_unwind_core_take(&u->core, &chunk, &err);
        if (ok && hurry)
            ok = record_unwind_core_flush(&u->core, &err);
    }
    record_unwind_queue_stop(&u->queue, &err);
    return NULL;
}

struct record_unwind *record_unwind_start(const struct record_outlet *outlet,
                                          const struct perfdata_events *events, const char *machine,
                                          const char *host, struct err *err) {
    struct record_unwind *u = calloc(1, sizeof *u);
    const struct record_unwind_options options = {
        .events = events, .machine = machine, .host = host, .put = put, .give_back = give_back, .ctx = u};
    if (!u) {
        err_memory(err, "unwinding");
        return NULL;
    }
    u->outlet = *outlet;
    atomic_store(&u->written, record_file_size(outlet->file));
    record_unwind_queue_init(&u->queue, RECORD_UNWIND_BYTES_MAX);
    if (record_unwind_core_init(&u->core, &options, err) &&
        (pthread_create(&u->thread, NULL, work, u) == 0 ||
         err_set(err, ERR_IO, "--unwind=record", "cannot start a thread")))
        return u;
    record_unwind_core_fini(&u->core);
    record_unwind_queue_fini(&u->queue);
    free(u);
    return NULL;
}

/* Does here what waits. */
static bool catch_up(struct record_unwind *u, struct err *err) {
    struct record_chunk chunk;
    while (record_unwind_queue_try(&u->queue, &chunk))
        if (!record_unwind_core_take(&u->core, &chunk, err)) {
            record_unwind_queue_stop(&u->queue, err);
            return false;
        }
    return true;
}

bool record_unwind_put(struct record_unwind *u, const struct bytes *spans, size_t count, size_t packed,
                       bool round, struct err *err) {
    return record_unwind_queue_put(&u->queue, spans, count, packed, round, err);
}

uint64_t record_unwind_file_size(struct record_unwind *u) {
    return atomic_load(&u->written);
}

/* Bytes that were handed over and not written. */
static uint64_t missing_bytes(struct record_unwind *u) {
    struct record_chunk chunk;
    uint64_t bytes = 0;
    for (size_t i = 0; i < u->core.held.count; i++)
        bytes += u->core.held.items[i].bytes.size;
    while (record_unwind_queue_try(&u->queue, &chunk)) {
        bytes += chunk.bytes.size;
        record_unwind_queue_give_back(&u->queue, &chunk);
    }
    return bytes;
}

bool record_unwind_stop(struct record_unwind *u, struct writer *report, struct err *err) {
    struct err why = ERR_INIT;
    record_unwind_queue_stop(&u->queue, NULL);
    pthread_join(u->thread, NULL);
    bool ok = !u->queue.failed;
    if (!ok)
        why = u->queue.err;
    ok = ok && catch_up(u, &why) && record_unwind_core_finish(&u->core, &why);
    if (!ok)
        record_file_stopped(u->outlet.file, (struct perfdata_ending){.missing_bytes = missing_bytes(u)});
    if (!ok && err)
        *err = why;
    if (report)
        record_unwind_core_report(&u->core, report);
    record_unwind_core_fini(&u->core);
    record_unwind_queue_fini(&u->queue);
    free(u);
    return ok;
}
