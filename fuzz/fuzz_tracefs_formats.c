/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tracepoint descriptions and records: u16 length (of this machine's order) and the raw data of a record,
 * then the content of the feature TRACING_DATA. What parses whole must encode to the same bytes. Where
 * libtraceevent is built in, the record is printed as each of the first events.
 */
#include "fuzz.h"

#include "base/cursor.h"
#include "format/tracefs/tracefs_formats.h"

/* The library loses memory over formats that it cannot parse. (The leak sanitizer asks for this by name.) */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
    return "leak:libtraceevent";
}

enum { EVENTS_MAX = 4, RAW_MAX = 4096 };

static const char *symbol(void *ctx, uint64_t address, uint64_t *start) {
    (void)ctx;
    *start = address & ~0xfffull;
    return address & 1 ? "name" : NULL;
}

static void print_event(struct tracefs_formats *formats, const struct tracing_data *td,
                        const struct tracing_event *event, struct bytes raw) {
    uint8_t copy[RAW_MAX];
    if (!formats || !event->has_id || raw.size < 2)
        return;
    memcpy(copy, raw.data, raw.size);
    uint16_t type = (uint16_t)event->id; /* where common_type usually is */
    type = td->big_endian == BYTES_HOST_BIG ? type : __builtin_bswap16(type);
    memcpy(copy, &type, sizeof type);
    struct out o;
    FUZZ_CHECK(out_init(&o, NULL, NULL));
    for (int i = 0; i < 2; i++)
        if (!tracefs_formats_print(formats, event->id, 0, (struct bytes){copy, raw.size}, &o))
            FUZZ_CHECK(o.len == 0);
    out_fini(&o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct cursor c = cursor_make((struct bytes){data, size}, false);
    size_t raw_size = cursor_u16(&c) % (RAW_MAX + 1);
    struct bytes raw = cursor_bytes(&c, raw_size < cursor_left(&c) ? raw_size : cursor_left(&c));
    struct bytes blob = cursor_rest(&c);
    struct tracing_data td;
    if (tracing_data_parse(blob, &td, NULL)) {
        struct err err = ERR_INIT;
        struct tracefs_formats *formats = tracefs_formats_new(&td, symbol, NULL, &err);
        for (size_t i = 0; i < td.events.count && i < EVENTS_MAX; i++)
            print_event(formats, &td, &td.events.items[i], raw);
        tracefs_formats_free(formats);
    }
    tracing_data_fini(&td);
    return 0;
}
