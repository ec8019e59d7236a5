/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules' sections that a recording tells of by records of their own (KMOD_SEC_MAP). Gathered in the first
 * pass; at its end the model learns of code that no map of a module covers, and the rest becomes lines as
 * sonde's own recordings have them (format/perfdata/added/module_lines.h).
 */
#ifndef SONDE_RECORDING_KMOD_SECTIONS_H
#define SONDE_RECORDING_KMOD_SECTIONS_H

#include "base/strpool.h"
#include "base/vec.h"
#include "base/writer.h"
#include "model/model.h"

struct kmod_section {
    uint32_t module, name; /* text ids */
    uint64_t start, end;
};

/* A kernel's map record of a module. */
struct kmod_map {
    uint32_t module;
    uint64_t start, end;
};

struct kmod_sections {
    struct strpool texts;
    VEC(struct kmod_section) sections;
    VEC(struct kmod_map) maps;
    struct writer lines;
};

void kmod_sections_fini(struct kmod_sections *k);

/* Takes in a record of any type; all but KMOD_SEC_MAP and the kernel's maps are ignored. False: memory. */
bool kmod_sections_see(struct kmod_sections *k, const struct perfdata_record *rec);

/* Once, before the model freezes. False and *err: memory. */
bool kmod_sections_finish(struct kmod_sections *k, struct model *m, struct err *err);

#endif
