/* SPDX-License-Identifier: Apache-2.0 */
/* A probe as people write it, up to the first NUL, and what to look for it in: an ELF image with DWARF, or a
 * file of cached probes. */
#include "fuzz.h"

#include <string.h>

#include "object/debug/debug.h"
#include "probe/cache/cache.h"
#include "probe/event.h"
#include "probe/filter.h"
#include "probe/syntax.h"

static size_t look(struct object_debug *d, const struct object_instance *i) {
    object_variables all = {0};
    object_debug_lines lines = {0};
    struct object_debug_place at = {i->id, i->entry, true, false};
    size_t sum = 0;
    object_debug_variables(d, at, true, &all, NULL);
    for (size_t k = 0; k < all.count; k++) {
        struct object_value v;
        struct err err = ERR_INIT;
        char ranges[64];
        struct object_debug_step step = {.name = NULL, .index = 1};
        struct object_debug_path path = {all.items[k].name, NULL, 0}, element = {all.items[k].name, &step, 1};
        if (!object_debug_value(d, at, &path, &v, &err))
            FUZZ_CHECK(err.code != ERR_NONE);
        object_debug_value(d, at, &element, &v, &err);
        object_debug_ranges(d, at, all.items[k].name, ranges, sizeof ranges);
        sum += strlen(all.items[k].name) + strlen(ranges);
    }
    if (i->file)
        object_debug_statements(d, &(struct object_debug_span){i->file, 0, UINT32_MAX, i}, &lines, NULL);
    vec_fini(&lines);
    vec_fini(&all);
    return sum;
}

/* A file of cached probes, which reads the same again when it has been written. */
static size_t read_cache(struct bytes file, const struct probe_spec *spec) {
    struct probe_cache c = {.bad_lines = 0}, again = {.bad_lines = 0};
    struct arena a = ARENA_INIT;
    probe_events found = {0};
    struct out o;
    if (probe_cache_read(&c, file, NULL) && out_init(&o, NULL, NULL)) {
        probe_cache_print(&c, &o);
        struct bytes text = {(const uint8_t *)out_text(&o), o.len};
        if (probe_cache_read(&again, text, NULL))
            FUZZ_CHECK(again.list.count == c.list.count && again.bad_lines == 0);
        out_fini(&o);
        if (spec)
            probe_cache_take(&c, NULL, spec, &a, &found, NULL);
    }
    size_t n = c.list.count + found.count;
    probe_events_fini(&found);
    arena_fini(&a);
    probe_cache_fini(&again);
    probe_cache_fini(&c);
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint8_t *end = size ? memchr(data, 0, size) : NULL;
    if (!end)
        return 0;
    const char *text = (const char *)data;
    struct bytes image = {end + 1, size - (size_t)(end + 1 - data)};
    struct arena a = ARENA_INIT;
    struct probe_spec spec;
    struct probe_lines lines;
    struct probe_event event;
    size_t sum = 0;
    bool good = probe_spec_parse(text, &a, &spec, NULL);
    if (!probe_lines_parse(text, &a, &lines, NULL))
        memset(&lines, 0, sizeof lines);
    if (probe_filter_check(text, NULL))
        sum += probe_filter_passes(text, "name");
    sum += read_cache(image, good ? &spec : NULL);
    probe_event_parse(text, &a, &event, NULL);
    vec_fini(&event.args);
    struct object_debug *d = image.size ? object_debug_new(image, (struct bytes){NULL, 0}, NULL, NULL) : NULL;
    struct object_debug_query q = {.name = good && spec.function ? spec.function : "*",
                                   .pattern = !good || spec.glob};
    object_instances found = {0};
    if (d)
        object_debug_functions(d, &q, &found, NULL);
    for (size_t i = 0; i < found.count && i < 16; i++)
        sum += look(d, &found.items[i]);
    vec_fini(&found);
    object_debug_free(d);
    probe_spec_fini(&spec);
    arena_fini(&a);
    __asm__ volatile("" : : "r"(sum)); /* keeps the reads that only sum needs */
    return 0;
}
