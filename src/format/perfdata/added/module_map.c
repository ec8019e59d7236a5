/* SPDX-License-Identifier: Apache-2.0 */
#include "format/perfdata/added/module_map.h"

#include <stdlib.h>

static int by_address(const void *a, const void *b) {
    const struct perfdata_module_section *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

bool perfdata_module_map_next(struct bytes *rest, struct perfdata_module_map *out) {
    struct perfdata_module_line l;
    struct bytes after = *rest;
    bool found = false;
    *out = (struct perfdata_module_map){0};
    for (; perfdata_module_line_next(&after, &l); *rest = after) {
        bool section = l.kind == PERFDATA_MODULE_LINE_SECTION;
        if (found && !section)
            break;
        if (section && found && out->count < PERFDATA_MODULE_SECTIONS_MAX)
            out->sections[out->count++] = (struct perfdata_module_section){l.start, l.name};
        found = found || l.kind == PERFDATA_MODULE_LINE_MODULE;
        if (l.kind == PERFDATA_MODULE_LINE_MODULE)
            out->module = l;
        else if (!section)
            out->loaded = l.kind == PERFDATA_MODULE_LINE_LOADED;
        if (l.kind == PERFDATA_MODULE_LINE_LOADED)
            out->time_ns = l.time_ns;
    }
    qsort(out->sections, out->count, sizeof *out->sections, by_address);
    return found;
}

static bool is_init_code(struct bytes name) {
    static const char text[] = ".init.text";
    return name.size >= sizeof text - 1 && memcmp(name.data, text, sizeof text - 1) == 0;
}

bool perfdata_module_map_init(const struct perfdata_module_map *m, uint64_t *start, uint64_t *end) {
    enum { UNKNOWN_BYTES = 64 << 10, LONGEST_BYTES = 1 << 20 };
    *start = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        const struct perfdata_module_section *s = &m->sections[i];
        bool apart = s->address < m->module.start || s->address >= m->module.end;
        if (*start && !is_init_code(s->name) && s->address > *start && s->address - *start < LONGEST_BYTES) {
            *end = s->address;
            return true;
        }
        if (!*start && apart && is_init_code(s->name))
            *start = s->address;
    }
    *end = *start + UNKNOWN_BYTES; /* nothing says how long it is */
    return *start != 0;
}

bool perfdata_module_map_section(const struct perfdata_module_map *m, struct bytes name, uint64_t *address) {
    for (uint32_t i = 0; i < m->count; i++)
        if (bytes_equal(m->sections[i].name, name)) {
            *address = m->sections[i].address;
            return true;
        }
    return false;
}
