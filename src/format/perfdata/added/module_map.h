/* SPDX-License-Identifier: Apache-2.0 */
/* Where the sections of one kernel module lay: the lines of a module put together (module_lines.h). */
#ifndef SONDE_FORMAT_PERFDATA_ADDED_MODULE_MAP_H
#define SONDE_FORMAT_PERFDATA_ADDED_MODULE_MAP_H

#include "format/perfdata/added/module_lines.h"

enum { PERFDATA_MODULE_SECTIONS_MAX = 256 };

/* Code that runs at loading lies apart from the rest, and is freed afterwards. As an offset in the module's
 * image it begins here. */
#define PERFDATA_MODULE_INIT ((uint64_t)1 << 40)

struct perfdata_module_section {
    uint64_t address;
    struct bytes name;
};

struct perfdata_module_map {
    struct perfdata_module_line module; /* kind MODULE */
    bool loaded;                        /* it came while recording, at time_ns */
    uint64_t time_ns;
    uint32_t count;
    struct perfdata_module_section sections[PERFDATA_MODULE_SECTIONS_MAX]; /* by address */
};

/* The next module: start with *rest = the text. Spans are borrowed from it. False at the end. */
bool perfdata_module_map_next(struct bytes *rest, struct perfdata_module_map *out);

/* Where its code that runs at loading lay: [*start, *end); false when it has none, or nothing says so. */
bool perfdata_module_map_init(const struct perfdata_module_map *m, uint64_t *start, uint64_t *end);

/* The address of a section; false when nothing says it. */
bool perfdata_module_map_section(const struct perfdata_module_map *m, struct bytes name, uint64_t *address);

#endif
