/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sections of modules that a recording has in records of their own (KMOD_SEC_MAP). They are collected in the
 * first pass; at its end code that no module's map covers is added to the model, and all sections become
 * lines of the format that sonde's own recordings use (format/perfdata/added/module_lines.h).
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

/* The kernel's map record of a module. */
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

/* Collects a record's data; ignores all but KMOD_SEC_MAP and the kernel's maps. False: out of memory. */
bool kmod_sections_see(struct kmod_sections *k, const struct perfdata_record *rec);

/* Completes the model and the lines; call it once, before the model freezes. False and *err: out of memory.
 */
bool kmod_sections_finish(struct kmod_sections *k, struct model *m, struct err *err);

#endif
