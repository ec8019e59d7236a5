/* SPDX-License-Identifier: Apache-2.0 */
/* Tracepoint formats: the blob, and every field of every event. */
#include "fuzz.h"

#include "format/tracefs/tracing_data.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes blob = {data, size};
    struct tracing_data td;
    struct err err = ERR_INIT;
    if (tracing_data_parse(blob, &td, &err)) {
        for (size_t i = 0; i < td.events.count; i++) {
            struct bytes rest = td.events.items[i].format;
            struct tracing_field field;
            size_t before = rest.size + 1;
            while (tracing_field_next(&rest, &field)) {
                FUZZ_CHECK(rest.size < before);
                before = rest.size;
            }
            if (td.events.items[i].has_id)
                FUZZ_CHECK(tracing_data_find(&td, td.events.items[i].id));
        }
        FUZZ_CHECK(td.size <= size);
        struct writer w = writer_make(false);
        tracing_data_encode(&td, &w);
        if (!td.cut)
            FUZZ_CHECK(w.size == td.size && memcmp(w.data, data, w.size) == 0);
        writer_fini(&w);
    } else {
        FUZZ_CHECK(err.code != ERR_NONE);
    }
    tracing_data_fini(&td);
    return 0;
}
