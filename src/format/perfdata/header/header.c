/* SPDX-License-Identifier: Apache-2.0 */
#include "format/perfdata/header/header.h"

#include "base/checked.h"
#include "base/cursor.h"
#include "base/log.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    PIPE_HEADER_BYTES = 16,  /* magic, size */
    FILE_HEADER_BYTES = 104, /* struct perf_header of perf.data-file-format.txt */
    V1_HEADER_MIN = 72,      /* magic, size, attr_size and three sections: what the first perfs wrote */
    SECTION_BYTES = 16,
};

/*
 * Version 2 begins with the 64-bit number 0x32454c4946524550 ("PERFILE2" of a little-endian producer), whose
 * order is the file's. Version 1 begins with the characters PERFFILE; its order shows in the header's size, a
 * small number.
 */
static bool parse_magic(struct bytes file, struct perfdata_header *h) {
    const uint64_t v2 = 0x32454c4946524550u;
    if (file.size < PIPE_HEADER_BYTES)
        return false;
    uint64_t magic = bytes_load64(file.data, false);
    if (magic == v2 || magic == __builtin_bswap64(v2)) {
        h->version = 2;
        h->swap = magic != v2;
        return true;
    }
    if (memcmp(file.data, "PERFFILE", 8) == 0) {
        h->version = 1;
        h->swap = bytes_load64(file.data + 8, false) > UINT32_MAX;
        return true;
    }
    return false;
}

bool perfdata_header_begins(struct bytes head) {
    struct perfdata_header h = {0};
    return parse_magic(head, &h);
}

bool perfdata_header_is_file(struct bytes head) {
    struct perfdata_header h = {0};
    return parse_magic(head, &h) && bytes_load64(head.data + 8, h.swap) != PIPE_HEADER_BYTES;
}

static struct perfdata_section take_section(struct cursor *c) {
    struct perfdata_section s;
    s.offset = cursor_u64(c);
    s.size = cursor_u64(c);
    return s;
}

static bool section_bytes(struct bytes file, struct perfdata_section s, struct bytes *out) {
    if (!checked_range(s.offset, s.size, file.size))
        return false;
    *out = (struct bytes){file.data + s.offset, (size_t)s.size};
    return true;
}

static void problem(uint32_t *problems, const char *what, const struct perfdata_section *s) {
    ++*problems;
    log_line(LOG_WARN, "%s: offset 0x%" PRIx64 ", size 0x%" PRIx64 " lies outside the file", what, s->offset,
             s->size);
}

/* The attrs section: entries of attr_size bytes, each an attr and the section of its ids. */
static bool parse_attrs(struct bytes file, struct perfdata_header *h, struct perfdata_events *events,
                        uint32_t *problems, struct err *err) {
    struct bytes table;
    if (h->attr_size < PERFDATA_ATTR_SIZE_MIN + SECTION_BYTES) {
        ++*problems;
        log_line(LOG_WARN, "attrs: an entry has %" PRIu64 " bytes, too few for an attr", h->attr_size);
        return true;
    }
    if (!section_bytes(file, h->attrs, &table)) {
        problem(problems, "attrs", &h->attrs);
        return true;
    }
    if (table.size && table.size < h->attr_size) {
        ++*problems;
        log_line(LOG_WARN, "attrs: an entry has %" PRIu64 " bytes, more than the section", h->attr_size);
    }
    h->events_end = h->attrs.offset + h->attrs.size;
    struct cursor c = cursor_make(table, h->swap);
    uint64_t ids_left = file.size; /* sections that overlap must not multiply what a file can make us keep */
    while (cursor_left(&c) >= h->attr_size) {
        struct perfdata_attr attr;
        struct bytes raw = cursor_bytes(&c, h->attr_size - SECTION_BYTES), ids = {0};
        struct perfdata_section section = take_section(&c);
        if (!perfdata_attr_decode(raw, h->swap, &attr))
            continue;                                            /* cannot be: attr_size was checked */
        if (section.size && !section_bytes(file, section, &ids)) /* an empty one may claim to be anywhere */
            problem(problems, "ids of an event", &section);
        else if (ids.size && section.offset + section.size > h->events_end)
            h->events_end = section.offset + section.size;
        if (ids.size > ids_left)
            ids.size = 0;
        ids_left -= ids.size;
        struct perfdata_u64s list = {ids.data, ids.size / 8, h->swap};
        if (perfdata_events_add(events, &attr, &list) == PERFDATA_NO_EVENT)
            return err_memory(err, "events");
    }
    return true;
}

/*
 * The bitmap is an array of the producer's unsigned longs. A 32-bit big-endian producer leaves the halves of
 * each 64-bit word exchanged; every perf sets HOSTNAME, so its bit tells.
 */
static void fix_bitmap(struct perfdata_header *h) {
    const uint64_t hostname = 1ull << PERFDATA_FEATURE_HOSTNAME;
    bool producer_big = h->swap != BYTES_HOST_BIG;
    if (!producer_big || h->feature_bits[0] & hostname || !(h->feature_bits[0] >> 32 & hostname))
        return;
    for (int i = 0; i < 4; i++)
        h->feature_bits[i] = h->feature_bits[i] << 32 | h->feature_bits[i] >> 32;
}

static bool parse_features(struct bytes file, struct perfdata_header *h, uint32_t *problems,
                           struct err *err) {
    struct perfdata_section table = {h->data.offset + h->data.size, 0};
    for (int i = 0; i < 4; i++)
        table.size += (uint64_t)__builtin_popcountll(h->feature_bits[i]) * SECTION_BYTES;
    struct bytes raw;
    if (!section_bytes(file, table, &raw)) {
        problem(problems, "feature table", &table);
        raw = table.offset < file.size ? (struct bytes){file.data + table.offset, file.size - table.offset}
                                       : (struct bytes){0};
    }
    h->end = table.offset + raw.size;
    struct cursor c = cursor_make(raw, h->swap);
    for (uint32_t id = 0; id < PERFDATA_FEATURE_BITS; id++) {
        if (!(h->feature_bits[id / 64] >> (id % 64) & 1))
            continue;
        if (cursor_left(&c) < SECTION_BYTES)
            break;
        struct perfdata_feature *f = vec_push(&h->features);
        if (!f)
            return err_memory(err, "features");
        f->id = id;
        f->section = take_section(&c);
        if (!section_bytes(file, f->section, &f->content)) {
            char what[32];
            snprintf(what, sizeof what, "header feature %u", id);
            problem(problems, what, &f->section);
            f->broken = true;
        } else if (f->section.offset + f->section.size > h->end) {
            h->end = f->section.offset + f->section.size;
        }
    }
    return true;
}

/* The data section against the file: unfinished, longer than the file, or whole. */
static void check_data(struct bytes file, struct perfdata_header *h, uint32_t *problems) {
    if (h->data.offset > file.size) {
        ++*problems;
        h->data.offset = file.size;
        h->data_cut = true;
    } else if (h->data.size == 0 && file.size > h->data.offset) {
        h->data_size_zero = true; /* perf writes the size when it closes the recording */
    } else if (h->data.size > file.size - h->data.offset) {
        h->data_cut = true;
    }
}

bool perfdata_header_parse(struct bytes file, struct perfdata_header *h, struct perfdata_events *events,
                           uint32_t *problems, struct err *err) {
    *h = (struct perfdata_header){0};
    if (!parse_magic(file, h)) {
        perfdata_events_init(events, false);
        return err_set(err, ERR_BROKEN, NULL, "not a perf.data file (it does not begin with PERFILE2)");
    }
    perfdata_events_init(events, h->swap);
    struct cursor c = cursor_make(file, h->swap);
    cursor_take(&c, 8);
    h->size = cursor_u64(&c);
    if (h->size == PIPE_HEADER_BYTES) {
        h->container = PERFDATA_CONTAINER_PIPE;
        h->data.offset = PIPE_HEADER_BYTES;
        return true;
    }
    if (h->size < V1_HEADER_MIN || file.size < V1_HEADER_MIN)
        return err_set(err, ERR_BROKEN, NULL,
                       "not a readable perf.data file: its header has %" PRIu64 " bytes%s", h->size,
                       file.size < V1_HEADER_MIN ? " and is cut" : "");
    h->attr_size = cursor_u64(&c);
    h->attrs = take_section(&c);
    h->data = take_section(&c);
    h->event_types = take_section(&c);
    /* "A field exists if it lies inside the size written": the bitmap is missing in the first version. */
    if (h->size >= FILE_HEADER_BYTES)
        for (int i = 0; i < 4; i++)
            h->feature_bits[i] = cursor_u64(&c);
    fix_bitmap(h);
    if (!parse_attrs(file, h, events, problems, err))
        return false;
    check_data(file, h, problems);
    h->end = file.size;
    /* An unfinished recording has its bits set already, but no table yet. */
    if (!h->data_size_zero && !h->data_cut)
        return parse_features(file, h, problems, err);
    return true;
}

void perfdata_header_fini(struct perfdata_header *h) {
    vec_fini(&h->features);
}

const struct perfdata_feature *perfdata_header_feature(const struct perfdata_header *h, uint32_t id) {
    for (size_t i = 0; i < h->features.count; i++)
        if (h->features.items[i].id == id)
            return &h->features.items[i];
    return NULL;
}
