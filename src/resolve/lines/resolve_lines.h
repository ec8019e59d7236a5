/* SPDX-License-Identifier: Apache-2.0 */
/* Finds source lines of images: (image, offset) -> file and line. An image's DWARF is opened at its first
 * lookup. */
#ifndef SONDE_RESOLVE_RESOLVE_LINES_H
#define SONDE_RESOLVE_RESOLVE_LINES_H

#include "base/threads/pool.h"
#include "object/dwarf/types.h"
#include "resolve/names.h"

struct resolve_lines;

/* Both are borrowed and must live as long. NULL: out of memory. */
struct resolve_lines *resolve_lines_new(struct resolve_names *names, struct symbol_store *store,
                                        struct err *err);
void resolve_lines_free(struct resolve_lines *l); /* NULL is allowed */

/* Finds the line at model_hit.offset of an image (of the model; MODEL_NONE is allowed), loading its symbols
 * and debugging information if need be. False: not known. Texts live as long as `l`. One thread at a time,
 * and while no other loads the same image's names. */
bool resolve_lines_find(struct resolve_lines *l, uint32_t image, uint64_t offset, struct object_line *out);

/* Prepares answers for `count` places of an image on the threads of a pool (NULL: this one), which costs far
 * less than doing so one by one. False: out of memory. */
bool resolve_lines_prepare(struct resolve_lines *l, uint32_t image, const uint64_t *offsets, size_t count,
                           struct pool *pool, struct err *err);

/* object_lines_inlined at that place, with names demangled as the store's are; they live as long as `l`. */
size_t resolve_lines_inlined(struct resolve_lines *l, uint32_t image, uint64_t offset,
                             struct object_inline *out, size_t max);

enum resolve_access {
    RESOLVE_ACCESS_UNKNOWN,
    RESOLVE_ACCESS_STACK,
    RESOLVE_ACCESS_CANARY,
    RESOLVE_ACCESS_TYPE
};

/* What the instruction at model_hit.offset of a file accesses; *out is set with RESOLVE_ACCESS_TYPE. Threads
 * as with resolve_lines_find. */
enum resolve_access resolve_lines_type(struct resolve_lines *l, uint32_t image, uint64_t offset,
                                       struct object_type *out);

/* The file as perf shows it: without directories, or in full with `full` (--full-source-path). */
const char *resolve_lines_file(const struct object_line *line, bool full);

#endif
