/* SPDX-License-Identifier: Apache-2.0 */
#include "format/perfdata/header/header_encode.h"

#include "base/cursor.h"

enum {
    FILE_HEADER_BYTES = 104,
    SECTION_BYTES = 16,
    DATA_SIZE_AT = 48, /* offset of data.size in struct perf_header */
    BITS_AT = 72,
    PIPE_FEATURE_END = 32, /* perf 6.1 stops at a HEADER_FEATURE of an id it does not know */
    RECORD_MAX = UINT16_MAX & ~7,
};

static const uint64_t MAGIC2 = 0x32454c4946524550u;

/* The room of an attr with its unknown tail: all events of a file share the largest. */
static uint64_t attr_bytes(const struct perfdata_event *e) {
    return e->attr.known_size + e->attr.tail.size;
}

void perfdata_file_head_encode(const struct perfdata_events *events, struct writer *w) {
    uint64_t attr_size = PERFDATA_ATTR_SIZE_MIN, ids = 0;
    for (size_t i = 0; i < events->list.count; i++) {
        const struct perfdata_event *e = &events->list.items[i];
        if (attr_bytes(e) > attr_size)
            attr_size = attr_bytes(e);
        ids += e->id_count;
    }
    attr_size = (attr_size + 7) & ~7ull;
    uint64_t attrs_at = FILE_HEADER_BYTES + 8 * ids, entry = attr_size + SECTION_BYTES;
    uint64_t attrs_bytes = entry * events->list.count, id_at = FILE_HEADER_BYTES;
    const uint64_t head[] = {MAGIC2,
                             FILE_HEADER_BYTES,
                             entry,
                             attrs_at,
                             attrs_bytes,
                             attrs_at + attrs_bytes,
                             0 /* data */,
                             0,
                             0 /* event types */,
                             0,
                             0 /* bitmap */,
                             0,
                             0};
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        writer_u64(w, head[i]);
    for (size_t i = 0; i < events->list.count; i++)
        for (size_t k = 0; k < events->list.items[i].id_count; k++)
            writer_u64(w, events->list.items[i].ids[k]);
    for (size_t i = 0; i < events->list.count; i++) {
        const struct perfdata_event *e = &events->list.items[i];
        perfdata_attr_encode(&e->attr, w);
        writer_zero(w, (size_t)(attr_size - attr_bytes(e)));
        writer_u64(w, id_at);
        writer_u64(w, 8 * e->id_count);
        id_at += 8 * e->id_count;
    }
}

void perfdata_file_tail_encode(const struct perfdata_feature *features, size_t count, uint64_t data_end,
                               struct writer *w, uint64_t bits[4]) {
    uint64_t at = data_end;
    memset(bits, 0, 4 * sizeof *bits);
    for (size_t i = 0; i < count; i++) {
        if (features[i].broken || features[i].id >= PERFDATA_FEATURE_BITS)
            continue;
        bits[features[i].id / 64] |= 1ull << (features[i].id % 64);
        at += SECTION_BYTES;
    }
    /* The table lists the sections by ascending bit; a pipe's features come in any order. */
    for (uint32_t id = 0; id < PERFDATA_FEATURE_BITS; id++)
        for (size_t i = 0; bits[id / 64] >> (id % 64) & 1 && i < count; i++) {
            if (features[i].id != id || features[i].broken)
                continue;
            writer_u64(w, at);
            writer_u64(w, features[i].content.size);
            at += (features[i].content.size + 7) & ~7ull;
            break;
        }
    for (uint32_t id = 0; id < PERFDATA_FEATURE_BITS; id++)
        for (size_t i = 0; bits[id / 64] >> (id % 64) & 1 && i < count; i++) {
            if (features[i].id != id || features[i].broken)
                continue;
            writer_bytes_put(w, features[i].content);
            writer_align(w, 8);
            break;
        }
}

void perfdata_file_head_finish(struct writer *head, uint64_t data_size, const uint64_t bits[4]) {
    writer_patch64(head, DATA_SIZE_AT, data_size);
    for (size_t i = 0; i < 4; i++)
        writer_patch64(head, BITS_AT + 8 * i, bits[i]);
}

static void record_head(struct writer *w, uint32_t type, uint16_t misc, uint16_t size) {
    writer_u32(w, type);
    writer_u16(w, misc);
    writer_u16(w, size);
}

/*
 * In a pipe the ids begin where the attr's own size says, so it must be true. A file's room may be larger
 * (the rest is nobody's) or smaller (a producer's error: the size is put right). No kernel takes more than a
 * page of attr (perf_event_open(2), size).
 */
static struct perfdata_attr attr_for_pipe(const struct perfdata_event *e) {
    enum { ATTR_MAX = 4096 };
    struct perfdata_attr a = e->attr;
    uint64_t room = attr_bytes(e), size = a.size < PERFDATA_ATTR_SIZE_MIN ? PERFDATA_ATTR_SIZE_MIN : a.size;
    if (room > ATTR_MAX) {
        room = ATTR_MAX;
        a.tail.size = ATTR_MAX - a.known_size;
    }
    if (size < room && size % 8 == 0)
        a.tail.size = (size_t)(size - a.known_size);
    else if (size != room)
        a.size = (uint32_t)((room + 7) & ~7ull);
    return a;
}

/* HEADER_ATTR: the attr, then as many ids as fit; further ids go into ID_INDEX records of the data anyway. */
static void encode_attr(const struct perfdata_event *e, struct writer *w) {
    struct perfdata_attr a = attr_for_pipe(e);
    uint64_t bytes = a.known_size + a.tail.size, attr = (bytes + 7) & ~7ull,
             room = (RECORD_MAX - PERFDATA_HEADER_SIZE - attr) / 8;
    uint64_t n = e->id_count < room ? e->id_count : room;
    record_head(w, PERFDATA_RECORD_HEADER_ATTR, 0, (uint16_t)(PERFDATA_HEADER_SIZE + attr + 8 * n));
    perfdata_attr_encode(&a, w);
    writer_zero(w, (size_t)(attr - bytes));
    for (uint64_t i = 0; i < n; i++)
        writer_u64(w, e->ids[i]);
}

/* perf takes names in a pipe from EVENT_UPDATE records, not from EVENT_DESC. */
static void encode_name(const struct perfdata_event *e, struct writer *w) {
    enum { UPDATE_NAME = 2 };
    size_t len = e->name && e->id_count ? strlen(e->name) + 1 : 0, padded = (len + 7) & ~(size_t)7;
    if (!len || padded > RECORD_MAX - 24)
        return;
    record_head(w, PERFDATA_RECORD_EVENT_UPDATE, 0, (uint16_t)(24 + padded));
    writer_u64(w, UPDATE_NAME);
    writer_u64(w, e->ids[0]);
    writer_put(w, e->name, len);
    writer_zero(w, padded - len);
}

static void encode_tracing_data(struct bytes content, struct writer *w) {
    size_t padded = (content.size + 7) & ~(size_t)7;
    record_head(w, PERFDATA_RECORD_HEADER_TRACING_DATA, 0, PERFDATA_HEADER_SIZE + 8);
    writer_u32(w, (uint32_t)padded);
    writer_u32(w, 0);
    writer_bytes_put(w, content);
    writer_zero(w, padded - content.size);
}

/* The BUILD_ID feature is a sequence of records (struct build_id_event): each one padded to 8 bytes of its
 * own. */
static void encode_build_ids(struct bytes content, struct writer *w) {
    struct cursor c = cursor_make(content, w->swap);
    while (cursor_left(&c) >= PERFDATA_HEADER_SIZE) {
        cursor_u32(&c); /* old perfs left the type empty */
        uint16_t misc = cursor_u16(&c), size = cursor_u16(&c);
        struct bytes body =
            size < PERFDATA_HEADER_SIZE ? (struct bytes){0} : cursor_bytes(&c, size - PERFDATA_HEADER_SIZE);
        size_t padded = (body.size + 7) & ~(size_t)7;
        if (!body.size || !cursor_ok(&c) || padded + PERFDATA_HEADER_SIZE > RECORD_MAX)
            break;
        record_head(w, PERFDATA_RECORD_HEADER_BUILD_ID, misc, (uint16_t)(PERFDATA_HEADER_SIZE + padded));
        writer_bytes_put(w, body);
        writer_zero(w, padded - body.size);
    }
}

void perfdata_pipe_head_encode(const struct perfdata_header *h, const struct perfdata_events *events,
                               struct writer *w, uint32_t *left_out) {
    writer_u64(w, MAGIC2);
    writer_u64(w, 16);
    for (size_t i = 0; i < events->list.count; i++) {
        encode_attr(&events->list.items[i], w);
        encode_name(&events->list.items[i], w);
    }
    *left_out = 0;
    for (size_t i = 0; i < h->features.count; i++) {
        const struct perfdata_feature *f = &h->features.items[i];
        if (f->broken || f->id >= PIPE_FEATURE_END ||
            (f->content.size > RECORD_MAX - 16 && f->id != PERFDATA_FEATURE_TRACING_DATA &&
             f->id != PERFDATA_FEATURE_BUILD_ID)) {
            ++*left_out;
        } else if (f->id == PERFDATA_FEATURE_TRACING_DATA && f->content.size <= UINT32_MAX - 7) {
            encode_tracing_data(f->content, w);
        } else if (f->id == PERFDATA_FEATURE_BUILD_ID) {
            encode_build_ids(f->content, w);
        } else {
            /* Not padded: perf takes what a newer revision added to a feature from its size. */
            record_head(w, PERFDATA_RECORD_HEADER_FEATURE, 0, (uint16_t)(16 + f->content.size));
            writer_u64(w, f->id);
            writer_bytes_put(w, f->content);
        }
    }
}
