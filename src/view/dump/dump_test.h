/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the dump share: a recording without a file, and the text of one record of it. */
#ifndef SONDE_VIEW_DUMP_DUMP_TEST_H
#define SONDE_VIEW_DUMP_DUMP_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "view/dump/dump.h"

enum { OFFSET = 0x1c8 }; /* of every record */

#define TEXT(s) ((struct bytes){(const uint8_t *)(s), sizeof(s)})
#define KERNEL_TYPE \
    (PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_TIME | PERFDATA_SAMPLE_CPU | PERFDATA_SAMPLE_IDENTIFIER)

/* What a test needs of a recording: its events and header. */
struct recording {
    struct perfdata_events events;
    struct perfdata_header header;
    struct perfdata_namer namer;
    struct model *model;
};

static inline void recording_init(struct recording *r, const struct perfdata_attr *attr, unsigned count,
                                  bool swap) {
    *r = (struct recording){0};
    perfdata_events_init(&r->events, swap);
    r->header.swap = swap;
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(perfdata_events_add(&r->events, attr, &(struct perfdata_u64s){0}), i);
        assert_true(perfdata_events_add_id(&r->events, i, 7 + i));
        assert_true(perfdata_events_name(&r->events, i, "cycles", 6));
    }
    assert_true(perfdata_namer_init(&r->namer, &r->header));
}

static inline void recording_fini(struct recording *r) {
    perfdata_namer_fini(&r->namer);
    perfdata_events_fini(&r->events);
    perfdata_header_fini(&r->header);
    model_free(r->model);
}

/* The stream's record for bytes of one. */
static inline struct stream_record stream_record_of(const struct recording *r, struct bytes b) {
    struct stream_record s = {.loc = OFFSET, .file_offset = OFFSET};
    s.raw.type = bytes_load32(b.data, r->events.swap);
    s.raw.misc = bytes_load16(b.data + 4, r->events.swap);
    s.raw.size = (uint32_t)b.size;
    s.raw.body = (struct bytes){b.data + PERFDATA_HEADER_SIZE, b.size - PERFDATA_HEADER_SIZE};
    s.event = PERFDATA_NO_EVENT;
    if (s.raw.type < PERFDATA_RECORD_USER_START && r->events.list.count) {
        s.event = perfdata_events_find(&r->events, s.raw.type, s.raw.body);
        if (s.event != PERFDATA_NO_EVENT)
            s.has_time =
                perfdata_record_time(&r->events.list.items[s.event].plan, s.raw.type, s.raw.body, &s.time_ns);
    }
    return s;
}

/* The dump of the bytes of one record, from after its hex block on. Freed with out_fini. */
static inline const char *dump_text_of(const struct recording *r, struct bytes b, struct out *out) {
    struct dump d;
    struct stream_record s = stream_record_of(r, b);
    assert_true(out_init(out, NULL, NULL));
    dump_init(&d, &r->events, &r->header, &r->namer, r->model, "perf.data");
    assert_null(dump_record(&d, &s, out));
    dump_fini(&d);
    const char *text = strstr(out_text(out), "\n\n");
    assert_non_null(text);
    return text + 2;
}
static inline struct perfdata_attr kernel_attr(uint64_t read_format) {
    return (struct perfdata_attr){.size = 136,
                                  .known_size = 136,
                                  .sample_type = KERNEL_TYPE,
                                  .read_format = read_format,
                                  .flags = PERFDATA_ATTR_SAMPLE_ID_ALL};
}
static inline struct perfdata_u64s words(struct writer *room) {
    return (struct perfdata_u64s){room->data, room->size / 8, room->swap};
}

#endif
