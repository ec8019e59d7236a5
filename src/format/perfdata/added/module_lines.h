/* SPDX-License-Identifier: Apache-2.0 */
/* The text of PERFDATA_PART_SECTIONS and PERFDATA_PART_MODULES (docs/FORMAT.md): where a recording's kernel
 * modules and their sections lay, and when modules came and went. */
#ifndef SONDE_FORMAT_PERFDATA_ADDED_MODULE_LINES_H
#define SONDE_FORMAT_PERFDATA_ADDED_MODULE_LINES_H

#include "base/bytes.h"

enum perfdata_module_line_kind {
    PERFDATA_MODULE_LINE_MODULE,   /* all but time_ns */
    PERFDATA_MODULE_LINE_SECTION,  /* start and name: of the module in the last such line */
    PERFDATA_MODULE_LINE_LOADED,   /* time_ns: when the next module came */
    PERFDATA_MODULE_LINE_UNLOADED, /* time_ns, start, end, name */
};

/* Spans are borrowed from the text. What a kind does not have is 0. */
struct perfdata_module_line {
    enum perfdata_module_line_kind kind;
    uint64_t time_ns;       /* of the recording's clock */
    uint64_t start, end;    /* addresses [start, end) */
    struct bytes name;      /* of the module ("ext4"), of the section (".text") */
    struct bytes path;      /* of the module's file, or "[ext4]" */
    uint8_t build_id_bytes; /* 0: not known */
    uint8_t build_id[20];
};

/* The next line: start with *rest = the text. Lines of other kinds (a newer sonde's) and damaged ones are
 * stepped over. False at the end. */
bool perfdata_module_line_next(struct bytes *rest, struct perfdata_module_line *out);

#endif
