/* SPDX-License-Identifier: Apache-2.0 */
/* A probe as people write it, up to the first NUL, and an ELF image with DWARF to look for it in. */
#include "fuzz.h"

#include <string.h>

#include "object/debug/debug.h"
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
