/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/tracepoints.h"

#include "format/tracefs/print_check.h"

static const uint64_t NEEDED = PERFDATA_SAMPLE_TIME | PERFDATA_SAMPLE_CPU | PERFDATA_SAMPLE_RAW;

void tracepoints_init(struct tracepoints *t, struct stream *stream, const struct perfdata_namer *names,
                      const struct tracepoint_row *rows, size_t row_count, uint64_t sample) {
    *t = (struct tracepoints){.stream = stream,
                              .events = stream_events(stream),
                              .names = names,
                              .rows = rows,
                              .row_count = row_count,
                              .sample = sample | PERFDATA_SAMPLE_TID | NEEDED};
}

void tracepoints_fini(struct tracepoints *t) {
    vec_fini(&t->list);
}

/* ---- formats ---- */

static bool is(struct bytes b, const char *text) {
    return text && b.size == strlen(text) && memcmp(b.data, text, b.size) == 0;
}

static void note_place(struct tracepoint_place *p, const struct tracing_field *f, const char *name) {
    static const char RELATIVE[] = "__rel_loc ";
    if (p->size || !*name || !is(f->name, name))
        return;
    *p = (struct tracepoint_place){f->offset, f->size, f->is_signed, print_check_is_dynamic(f), false};
    p->relative = p->dynamic && memcmp(f->declaration.data, RELATIVE, sizeof RELATIVE - 1) == 0;
}

static bool describe(struct tracepoint_event *e, const struct tracepoint_row *row,
                     const struct tracing_event *t) {
    struct bytes rest = t->format;
    *e = (struct tracepoint_event){.row = row, .format = t->format, .big = e->big};
    for (struct tracing_field f; tracing_field_next(&rest, &f);) {
        note_place(&e->flags, &f, "common_flags");
        for (unsigned i = 0; i < TRACEPOINT_FIELDS && row->fields[i]; i++)
            note_place(&e->places[i], &f, row->fields[i]);
    }
    for (unsigned i = 0; i < row->needed; i++)
        if (!e->places[i].size) {
            e->row = NULL;
            return false;
        }
    return true;
}

static bool row_fits(const struct tracepoint_row *row, const struct tracing_event *t) {
    return is(t->system, row->system) && (!row->event || is(t->name, row->event));
}

bool tracepoints_update(struct tracepoints *t, struct err *err) {
    while (t->list.count < t->events->list.count) {
        const struct perfdata_attr *attr = &t->events->list.items[t->list.count].attr;
        struct tracepoint_event *e = vec_push(&t->list);
        if (!e)
            return err_memory(err, "events of the recording");
        const struct tracing_event *format =
            attr->type == PERFDATA_TYPE_TRACEPOINT ? perfdata_namer_tracepoint(t->names, attr->config) : NULL;
        if (!format || (attr->sample_type & NEEDED) != NEEDED)
            continue;
        e->big = t->names->tracing.big_endian;
        for (size_t i = 0; i < t->row_count; i++)
            if (row_fits(&t->rows[i], format) && describe(e, &t->rows[i], format))
                break;
    }
    return true;
}

bool tracepoints_have(const struct tracepoints *t, int kind) {
    for (size_t i = 0; i < t->list.count; i++)
        if (t->list.items[i].row && t->list.items[i].row->kind == kind)
            return true;
    return false;
}

/* ---- records ---- */

bool tracepoints_want(void *ctx, const struct stream_record *r) {
    const struct tracepoints *t = ctx;
    return r->raw.type == PERFDATA_RECORD_SAMPLE && r->event < t->list.count && t->list.items[r->event].row;
}

static bool lies_in(struct tracepoint_place p, struct bytes raw) {
    return p.size && (uint64_t)p.offset + p.size <= raw.size;
}

bool tracepoints_read(struct tracepoints *t, const struct stream_record *r, struct tracepoint *out) {
    if (!tracepoints_want(t, r))
        return false;
    const struct tracepoint_event *e = &t->list.items[r->event];
    *out = (struct tracepoint){.kind = e->row->kind, .index = r->event, .event = e};
    if (!perfdata_sample_decode(&t->events->list.items[r->event].plan, r->raw.body, t->sample,
                                &out->sample)) {
        stream_bad_record(t->stream, r, "a sample is shorter than its fields");
        return false;
    }
    for (unsigned i = 0; i < e->row->needed; i++)
        if (!lies_in(e->places[i], out->sample.raw)) {
            stream_bad_record(t->stream, r, "a tracepoint's data are too short for its fields");
            return false;
        }
    return true;
}

static int64_t take_int(const struct tracepoint *t, struct tracepoint_place p, int64_t absent) {
    bool swap = t->event->big != BYTES_HOST_BIG;
    if (!lies_in(p, t->sample.raw))
        return absent;
    const uint8_t *at = t->sample.raw.data + p.offset;
    switch (p.size) {
    case 1:
        return p.is_signed ? (int8_t)*at : *at;
    case 2:
        return p.is_signed ? (int16_t)bytes_load16(at, swap) : bytes_load16(at, swap);
    case 4:
        return p.is_signed ? (int64_t)(int32_t)bytes_load32(at, swap) : (int64_t)bytes_load32(at, swap);
    case 8:
        return (int64_t)bytes_load64(at, swap);
    default:
        return absent;
    }
}

int64_t tracepoint_int(const struct tracepoint *t, unsigned field, int64_t absent) {
    return take_int(t, t->event->places[field], absent);
}

/* A dynamic field's number: the length above, the offset below. */
struct bytes tracepoint_bytes(const struct tracepoint *t, unsigned field) {
    struct tracepoint_place p = t->event->places[field];
    struct bytes raw = t->sample.raw;
    if (!lies_in(p, raw))
        return (struct bytes){NULL, 0};
    if (!p.dynamic)
        return (struct bytes){raw.data + p.offset, p.size};
    uint32_t where = p.size == 4 ? bytes_load32(raw.data + p.offset, t->event->big != BYTES_HOST_BIG) : 0;
    uint64_t offset = (where & 0xffff) + (p.relative ? p.offset + (uint64_t)p.size : 0);
    if (!where || offset + (where >> 16) > raw.size)
        return (struct bytes){NULL, 0};
    return (struct bytes){raw.data + offset, where >> 16};
}

struct bytes tracepoint_text(const struct tracepoint *t, unsigned field) {
    struct bytes text = tracepoint_bytes(t, field);
    text.size = text.size ? bytes_text_len(text) : 0;
    return text;
}

bool tracepoint_in_interrupt(const struct tracepoint *t) {
    /* TRACE_FLAG_HARDIRQ, _SOFTIRQ, _NMI (Documentation/trace/ftrace.rst, "irqs-off", hardirq/softirq) */
    enum { IN_INTERRUPT = 0x08 | 0x10 | 0x40 };
    return take_int(t, t->event->flags, 0) & IN_INTERRUPT;
}
