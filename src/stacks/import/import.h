/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks from files of other tools: `perf script`'s text, folded stacks, pprof's profile.proto (compressed or
 * not), and sonde's own JSON (docs/STACKS_JSON.md). The files may say anything: what makes no sense is
 * counted and left out, and memory stays in proportion to the file.
 */
#ifndef SONDE_STACKS_IMPORT_IMPORT_H
#define SONDE_STACKS_IMPORT_IMPORT_H

#include "base/bytes.h"
#include "stacks/stacks.h"

enum stacks_import_kind {
    STACKS_IMPORT_NONE, /* of no kind that can be imported */
    STACKS_IMPORT_JSON,
    STACKS_IMPORT_PPROF,
    STACKS_IMPORT_FOLDED,
    STACKS_IMPORT_SCRIPT,
};

enum { STACKS_IMPORT_DEEPEST = 16384 }; /* frames of a stack; a deeper one is left out */

/* What could not be read. */
struct stacks_import_tally {
    uint64_t bad;       /* lines, or samples of a pprof profile */
    uint64_t first;     /* the first one's number, from 1 on */
    const char *reason; /* its reason */
};

/* Tells what a file is by its beginning. */
enum stacks_import_kind stacks_import_kind_of(struct bytes file);
/* The kind in words: "folded stacks". */
const char *stacks_import_kind_name(enum stacks_import_kind kind);

/* Adds the stacks of a file of that kind. `path` is what they say they come from. False with *err: broken as
 * a whole, or memory; `s` is of no use then. */
bool stacks_import(struct stacks *s, enum stacks_import_kind kind, struct bytes file, const char *path,
                   struct stacks_import_tally *tally, struct err *err);

#endif
