/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole recording: header, containers, compression, resynchronisation, order. The input's last byte chooses
 * how it is read. Checks what stream.h and order.h promise for any bytes.
 */
#include "fuzz.h"

#include "stream/stream.h"
#include "stream/stream_order.h"

enum { MAX_RECORDS = 200000 };

/* Decodes a record in every way that a command would. */
static void look_at(struct stream *s, const struct stream_record *r) {
    const struct perfdata_events *events = stream_events(s);
    const struct perfdata_plan *plan = NULL;
    if (r->event != PERFDATA_NO_EVENT) {
        FUZZ_CHECK(r->event < events->list.count);
        plan = &events->list.items[r->event].plan;
    }
    if (r->raw.type == PERFDATA_RECORD_SAMPLE) {
        struct perfdata_sample sample;
        if (plan && !perfdata_sample_decode(plan, r->raw.body, ~0ull, &sample))
            stream_bad_record(s, r, "fuzz");
        return;
    }
    struct perfdata_record record;
    const char *reason;
    if (!perfdata_record_decode(&r->raw, plan, events->swap, &record, &reason))
        FUZZ_CHECK(reason != NULL);
}

/*
 * In file order; gives how many records there were. `mixed`: COMPRESSED records lie elsewhere than their
 * contents. *late_event: an event came after records that it might have belonged to, so that a second pass
 * reads them anew.
 */
static size_t read_file_order(struct stream *s, bool mixed, bool *late_event) {
    struct stream_record r;
    struct err err = ERR_INIT;
    uint64_t last = 0;
    size_t n = 0;
    bool kernel = false;
    for (; n < MAX_RECORDS; n++) {
        enum stream_status status = stream_next(s, &r, &err);
        if (status != STREAM_RECORD) {
            FUZZ_CHECK(status == STREAM_END || err.code != ERR_NONE);
            break;
        }
        FUZZ_CHECK(n == 0 || mixed || r.loc > last);
        last = r.loc;
        kernel |= r.raw.type < PERFDATA_RECORD_USER_START;
        *late_event |= kernel && r.raw.type == PERFDATA_RECORD_HEADER_ATTR;
        look_at(s, &r);
    }
    return n;
}

static void read_in_order(struct stream *s, bool disabled) {
    struct order o;
    struct stream_record r;
    struct err err = ERR_INIT;
    order_init(&o, s, NULL, NULL, disabled);
    for (size_t n = 0; n < MAX_RECORDS && order_next(&o, &r, &err) == STREAM_RECORD; n++)
        look_at(s, &r);
    order_fini(&o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t how = size ? data[size - 1] : 0;
    struct stream_options opts = {.keep_compressed = how & 1, .give_compressed = how & 2};
    struct err err = ERR_INIT;
    struct stream *s = stream_open_memory((struct bytes){data, size}, &opts, &err);
    if (!s) {
        FUZZ_CHECK(err.code != ERR_NONE && err.message[0]);
        return 0;
    }
    bool late_event = false;
    size_t first = read_file_order(s, opts.give_compressed, &late_event);
    struct stream_losses losses = *stream_losses(s);
    stream_rewind(s);
    size_t second = read_file_order(s, opts.give_compressed, &late_event);
    if (!opts.give_compressed && !late_event)
        FUZZ_CHECK(first == second);
    FUZZ_CHECK(stream_losses(s)->lost_events == losses.lost_events);
    FUZZ_CHECK(stream_losses(s)->skipped_bytes == losses.skipped_bytes);
    stream_rewind(s);
    read_in_order(s, how & 4);
    stream_close(s);
    return 0;
}
