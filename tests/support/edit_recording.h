/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of what makes a recording of a recording: finished files in memory, and where a copy of one goes.
 */
#ifndef SONDE_TESTS_SUPPORT_EDIT_RECORDING_H
#define SONDE_TESTS_SUPPORT_EDIT_RECORDING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "edit/copy.h"
#include "format/perfdata/header/header_encode.h"

/* One more event, whose ids are its number from 1 on; `flags` beside PERFDATA_ATTR_SAMPLE_ID_ALL. */
static inline void edit_recording_event(struct perfdata_events *events, uint64_t flags, int32_t clockid) {
    uint32_t number = (uint32_t)events->list.count;
    struct perfdata_attr attr = {.size = 112,
                                 .known_size = 112,
                                 .flags = PERFDATA_ATTR_SAMPLE_ID_ALL | flags,
                                 .clockid = clockid,
                                 .sample_type = PERFDATA_SAMPLE_IDENTIFIER | PERFDATA_SAMPLE_TIME};
    assert_int_equal(perfdata_events_add(events, &attr, &(struct perfdata_u64s){0}), number);
    assert_true(perfdata_events_add_id(events, number, number + 1));
}

/* The file of the records in `data`, which is given back, as are the events. */
static inline struct writer edit_recording_file(struct perfdata_events *events, struct writer *data,
                                                const struct perfdata_feature *features, size_t count) {
    struct writer file = writer_make(data->swap), tail = writer_make(data->swap);
    uint64_t bits[4];
    perfdata_file_head_encode(events, &file);
    perfdata_file_tail_encode(features, count, file.size + data->size, &tail, bits);
    perfdata_file_head_finish(&file, data->size, bits);
    writer_bytes_put(&file, writer_bytes(data));
    writer_bytes_put(&file, writer_bytes(&tail));
    assert_true(writer_ok(&file) && writer_ok(data) && writer_ok(&tail));
    writer_fini(data);
    writer_fini(&tail);
    perfdata_events_fini(events);
    return file;
}

static inline bool edit_recording_append(void *ctx, struct bytes b, struct err *err) {
    struct writer *w = ctx;
    writer_bytes_put(w, b);
    return writer_ok(w) || err_memory(err, "test");
}

static inline bool edit_recording_patch(void *ctx, uint64_t at, struct bytes b, struct err *err) {
    struct writer *w = ctx;
    (void)err;
    assert_true(at + b.size <= w->size);
    memcpy(w->data + at, b.data, b.size);
    return true;
}

/* Copies go to the end of `to`. */
static inline struct copy_sink edit_recording_sink(struct writer *to, bool pipe) {
    return (struct copy_sink){edit_recording_append, pipe ? NULL : edit_recording_patch, to};
}

#endif
