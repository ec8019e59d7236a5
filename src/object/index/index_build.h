/* SPDX-License-Identifier: Apache-2.0 */
/* A unit's index while it is made: walk, then spans are laid flat, then lines, then one block. */
#ifndef SONDE_OBJECT_INDEX_INDEX_BUILD_H
#define SONDE_OBJECT_INDEX_INDEX_BUILD_H

#include "base/hash.h"
#include "base/strpool.h"
#include "object/index/index_unit.h"

/* Code of an instance. */
struct index_span {
    uint64_t start, end;
    uint32_t instance;
};

struct index_flat {
    uint64_t start;
    uint32_t instance;
};

enum { INDEX_FOREIGN = 16 };

struct index_build {
    struct dinfo_unit *unit;
    struct dinfo_lines lines;
    VEC(struct index_instance) instances; /* texts are ids of `texts` */
    VEC(struct index_span) functions, inlined;
    VEC(struct index_flat) flat; /* pieces, by address */
    VEC(uint32_t) file_texts;    /* of lines.files: INDEX_NONE: not made yet */
    struct strpool texts;
    size_t text_bytes, text_most;
    size_t ranges_left;
    struct hash_map names;                    /* of entries that others refer to */
    struct dinfo_unit foreign[INDEX_FOREIGN]; /* units that this one's entries refer to */
    bool failed;                              /* memory */
};

/* Fills instances, functions and inlined. */
void index_walk(struct index_build *b);
/* Makes `flat` of them. */
void index_flatten(struct index_build *b);
/* The name of the function that the entry at `offset` of a unit is or refers to: a text. */
struct index_name {
    uint32_t text; /* 0: none */
    bool linked;   /* as the linker knows it */
};
struct index_name index_name_of(struct index_build *b, struct dinfo_unit *u, const struct dinfo_value *ref,
                                unsigned depth);
uint32_t index_text(struct index_build *b, const char *text);
/* The path of a file of the unit's lines: a text; 0: not known. */
uint32_t index_file(struct index_build *b, uint64_t file);

#endif
