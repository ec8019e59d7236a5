/* SPDX-License-Identifier: Apache-2.0 */
/* What the importers share. */
#ifndef SONDE_STACKS_IMPORT_IMPORT_INTERNAL_H
#define SONDE_STACKS_IMPORT_IMPORT_INTERNAL_H

#include "stacks/import/import.h"

/* A part of a text. */
struct part {
    const char *text;
    size_t len;
};

struct importing {
    struct stacks *s;
    struct stacks_import_tally *tally;
    uint64_t at; /* number of the line or sample at hand, from 1 on */
    uint32_t recording;
    bool no_memory;
};

typedef bool import_fn(struct importing *in, struct bytes file, struct err *err);
import_fn import_json, import_pprof, import_folded, import_script;

/* Counts what is left out. Returns false. */
bool import_bad(struct importing *in, const char *reason);

/* Takes the next line, without its end, off the rest of a file. False: there is none. */
bool import_line(struct bytes *rest, struct part *line);
struct part import_trim(struct part p);
/* Reads a whole part as a decimal number. False: it is none, and *v stays. */
bool import_number(struct part p, uint64_t *v);

/* Return ids; STACKS_NONE or STRPOOL_NONE, with in->no_memory: out of memory. */
uint32_t import_text(struct importing *in, struct part p);
uint32_t import_event(struct importing *in, uint32_t name, uint32_t unit);
/* An image by its path: the name is the path's last part. */
uint32_t import_image(struct importing *in, struct part path, uint32_t build_id);
/* The path's last part; all of it where it is "[kernel]" or the like. */
struct part import_base_name(struct part path);
/* Sets name, level and grade of a frame that was printed as `name` in the image `dso`: names in brackets are
 * none. False: out of memory. */
bool import_name(struct importing *in, struct part name, struct part dso, struct stacks_frame *f);

/* Adds to the row of a stack. False: out of memory, or the sums would be too large, which is counted. */
bool import_add(struct importing *in, uint32_t event, uint32_t comm, uint32_t node, uint64_t samples,
                uint64_t period, uint32_t *row);

#endif
