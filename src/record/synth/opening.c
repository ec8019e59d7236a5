/* SPDX-License-Identifier: Apache-2.0 */
#include "record/synth/opening.h"

#include <stdio.h>

enum { INDEX_WORDS = 4, INDEX_MAX = (UINT16_MAX - 16) / 32, LIST_MAX = 16000, COMM_ROOM = 16 };

void record_sink_encode(const struct record_sink *sink, struct perfdata_record *rec, struct writer *w) {
    rec->id = sink->id;
    perfdata_record_encode(rec, sink->plan, w);
}

void record_opening_mark(uint32_t type, struct writer *w) {
    writer_u32(w, type);
    writer_u16(w, 0);
    writer_u16(w, PERFDATA_HEADER_SIZE);
}

void record_opening_lost(const struct record_sink *sink, uint64_t lost, uint64_t time_ns, struct writer *w) {
    struct record_sink at = *sink;
    struct perfdata_record rec = {.type = PERFDATA_RECORD_LOST, .lost = {sink->event_id, lost}};
    at.id.time = time_ns;
    at.id.id = at.id.identifier = sink->event_id;
    record_sink_encode(&at, &rec, w);
}

/* Which id belongs to which CPU and thread; as many records as it takes. */
static void put_index(const struct record_opened *o, struct writer *w) {
    struct writer words = writer_make(false);
    for (size_t i = 0; i < o->fds.count;) {
        uint64_t n = 0;
        writer_clear(&words);
        for (; i < o->fds.count && n < INDEX_MAX; i++, n++) {
            const struct record_fd *f = &o->fds.items[i];
            writer_u64(&words, f->id);
            writer_u64(&words, f->ring);
            writer_u64(&words, (uint64_t)(int64_t)f->cpu);
            writer_u64(&words, (uint64_t)(int64_t)f->tid);
        }
        struct perfdata_record rec = {.type = PERFDATA_RECORD_ID_INDEX,
                                      .id_index = {n, {words.data, INDEX_WORDS * n, false}, {0}}};
        w->failed |= words.failed;
        if (!w->failed)
            perfdata_record_encode(&rec, NULL, w);
    }
    writer_fini(&words);
}

static void put_thread_map(const struct perf_target *t, struct writer *w) {
    struct writer entries = writer_make(false);
    uint64_t n = 0;
    for (; n < t->threads.count && n < LIST_MAX / 8; n++) {
        const struct perf_target_thread *th = &t->threads.items[n];
        writer_u64(&entries, (uint64_t)(int64_t)th->tid);
        char comm[16] = ""; /* as wide as the format has it */
        snprintf(comm, sizeof comm, "%.15s", th->comm);
        writer_put(&entries, comm, sizeof comm);
    }
    struct perfdata_record rec = {.type = PERFDATA_RECORD_THREAD_MAP,
                                  .thread_map = {n, writer_bytes(&entries)}};
    w->failed |= entries.failed;
    if (!w->failed)
        perfdata_record_encode(&rec, NULL, w);
    writer_fini(&entries);
}

static void put_cpu_map(const struct perf_target *t, struct writer *w) {
    enum { LIST = 0 };
    struct writer data = writer_make(false);
    size_t n = t->cpus.count < LIST_MAX ? t->cpus.count : LIST_MAX;
    writer_u16(&data, (uint16_t)n);
    for (size_t i = 0; i < n; i++)
        writer_u16(&data, (uint16_t)t->cpus.items[i]);
    while ((data.size + 2) % 8) /* after the type's two bytes */
        writer_u8(&data, 0);
    struct perfdata_record rec = {.type = PERFDATA_RECORD_CPU_MAP, .cpu_map = {LIST, writer_bytes(&data)}};
    w->failed |= data.failed;
    if (!w->failed)
        perfdata_record_encode(&rec, NULL, w);
    writer_fini(&data);
}

/* For what has the counter's times, such as jitdumps that say so. */
static void put_counter(const struct record_opened *o, struct writer *w) {
    struct os_ring_counter c;
    if (!o->rings.count || !os_ring_counter(&o->rings.items[0].map, &c))
        return;
    struct perfdata_record rec = {.type = PERFDATA_RECORD_TIME_CONV,
                                  .time_conv = {.time_shift = c.shift,
                                                .time_mult = c.mult,
                                                .time_zero = c.zero,
                                                .has_cycles = true,
                                                .time_cycles = c.cycles,
                                                .time_mask = c.mask,
                                                .cap_user_time_zero = 1,
                                                .cap_user_time_short = c.is_short}};
    size_t at = w->size;
    perfdata_record_encode(&rec, NULL, w);
    writer_zero(w, (0 - (w->size - at)) & 7);
    writer_patch16(w, at + 6, (uint16_t)(w->size - at));
}

void record_opening_target(const struct perf_target *t, struct writer *w) {
    put_thread_map(t, w);
    put_cpu_map(t, w);
}

void record_opening_encode(const struct record_opened *opened, const struct perf_target *t,
                           const struct record_sink *sink, const char *child_comm, struct writer *w) {
    put_counter(opened, w);
    put_index(opened, w);
    record_opening_target(t, w);
    if (!t->exec || !child_comm)
        return;
    uint32_t pid = (uint32_t)t->threads.items[0].tid;
    char comm[COMM_ROOM] = "";
    size_t len = strnlen(child_comm, sizeof comm - 1);
    memcpy(comm, child_comm, len);
    struct perfdata_record rec = {
        .type = PERFDATA_RECORD_COMM,
        .comm = {pid, pid, {(const uint8_t *)comm, (len + 8) & ~(size_t)7}},
    };
    record_sink_encode(sink, &rec, w);
}
