/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is made of header features: byte 0 byte order and container, then u8 id, u16 length (of this machine's
 * order), content, again and again. The header block and the list of events are written.
 */
#include "fuzz.h"

#include "base/cursor.h"
#include "view/lists/evlist_text.h"
#include "view/lists/header_text.h"

enum { FEATURES_MAX = 40 };

/* The events that EVENT_DESC describes. */
static void add_events(const struct perfdata_header *h, struct perfdata_events *events) {
    struct arena arena = ARENA_INIT;
    struct perfdata_feature_value v;
    if (perfdata_feature_get(h, PERFDATA_FEATURE_EVENT_DESC, &arena, &v))
        for (uint32_t i = 0; i < v.event_desc.count; i++)
            perfdata_events_add(events, &v.event_desc.items[i].attr, &v.event_desc.items[i].ids);
    arena_fini(&arena);
}

static void write_texts(const struct perfdata_header *h) {
    struct perfdata_namer names;
    struct perfdata_events events;
    struct out o;
    FUZZ_CHECK(perfdata_namer_init(&names, h));
    perfdata_events_init(&events, h->swap);
    add_events(h, &events);
    FUZZ_CHECK(perfdata_feature_apply_names(h, &events));
    FUZZ_CHECK(out_init(&o, NULL, NULL));
    header_text_write(h, &names, &(struct header_text_options){.full = true}, &o);
    evlist_text_write(&events, &names, &(struct evlist_text_options){.verbose = true, .trace_fields = true},
                      &o);
    evlist_text_write(&events, &names, &(struct evlist_text_options){.group = true}, &o);
    FUZZ_CHECK(perfdata_event_name_rest(&names, &events));
    out_fini(&o);
    perfdata_events_fini(&events);
    perfdata_namer_fini(&names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct cursor c = cursor_make((struct bytes){data, size}, false);
    uint8_t flags = cursor_u8(&c);
    struct perfdata_feature features[FEATURES_MAX];
    struct perfdata_header h = {.swap = flags & 1,
                                .container = flags & 2 ? PERFDATA_CONTAINER_PIPE : PERFDATA_CONTAINER_FILE};
    h.features.items = features;
    while (cursor_left(&c) >= 3 && h.features.count < FEATURES_MAX) {
        uint8_t id = cursor_u8(&c);
        size_t length = cursor_u16(&c);
        if (length > cursor_left(&c))
            length = cursor_left(&c);
        struct bytes content = cursor_bytes(&c, length);
        if (h.feature_bits[id / 64] >> id % 64 & 1)
            continue;
        h.feature_bits[id / 64] |= 1ull << id % 64;
        features[h.features.count++] = (struct perfdata_feature){.id = id, .content = content};
    }
    write_texts(&h);
    return 0;
}
