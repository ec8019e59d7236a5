/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject --jit: writes files with the code that jitdumps announce, and adds map records of them to a
 * recording, so that tools that do not read jitdumps can name the code.
 *
 *   edit_jit_new     first pass over the recording; reads the dumps, writes the files
 *   edit_jit_editor  for copy_recording, second pass: adds each function's map record at its time; cuts the
 *                    code out of map records of memory without a file, which would hide it
 */
#ifndef SONDE_EDIT_EDIT_JIT_H
#define SONDE_EDIT_EDIT_JIT_H

#include "edit/copy.h"
#include "resolve/jit/jit.h"

enum edit_jit_mode {
    EDIT_JIT_ONE,       /* DIR/jitted-PID.so for a process; beyond 1 GiB of code, jitted-PID-2.so ... */
    EDIT_JIT_FILES,     /* DIR/jitted-PID-N.so for each function, as perf does it */
    EDIT_JIT_DROP_ANON, /* as ONE; drops map records named //anon entirely, as perf does */
};

struct edit_jit_options {
    struct resolve_jit_options find;
    enum edit_jit_mode mode;
    const char *folder; /* for the code of dumps that cannot have it beside them; NULL: the current one */
};

struct edit_jit;

/* Reads `in` to its end and rewinds it. Files are written to the folder of their dump. NULL and *err: out of
 * memory, or a file cannot be written. */
struct edit_jit *edit_jit_new(const struct edit_jit_options *options, struct stream *in, struct err *err);
void edit_jit_free(struct edit_jit *j); /* NULL is allowed */

/* Returns the editor, which is borrowed. The stream must unpack compressed records. */
const struct copy_editor *edit_jit_editor(struct edit_jit *j);

/* Returns what was found, for messages: see resolve_jit_dump. */
const struct resolve_jit *edit_jit_found(const struct edit_jit *j);

struct edit_jit_counts {
    uint64_t functions, files, maps; /* maps: records added */
    uint64_t trimmed;                /* map records that shrank or were dropped */
};
struct edit_jit_counts edit_jit_counts(const struct edit_jit *j);

#endif
