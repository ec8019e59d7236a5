/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject --jit: makes files of the code that jitdumps tell of, and puts map records of them into a recording,
 * so that tools that know nothing of jitdumps can name it.
 *
 *   edit_jit_new     first pass over the recording; reads the dumps, writes the files
 *   edit_jit_editor  for copy_recording, second pass: each function's map record stands at its time, and map
 *                    records of memory without a file, which would hide them, shrink to what holds none
 */
#ifndef SONDE_EDIT_EDIT_JIT_H
#define SONDE_EDIT_EDIT_JIT_H

#include "edit/copy.h"
#include "resolve/jit.h"

enum edit_jit_mode {
    EDIT_JIT_ONE,       /* DIR/jitted-PID.so for a process; beyond 1 GiB of code, jitted-PID-2.so ... */
    EDIT_JIT_FILES,     /* DIR/jitted-PID-N.so for each function, as perf does it */
    EDIT_JIT_DROP_ANON, /* as ONE, and map records named //anon go as a whole, as perf does it */
};

struct edit_jit_options {
    struct resolve_jit_options find;
    enum edit_jit_mode mode;
    const char *folder; /* for the files of dumps in whose own folder none should be; NULL: the current one */
};

struct edit_jit;

/* Reads `in` to its end, and rewinds it. Files go to the folder that their dump was found in. NULL and *err:
 * memory, or a file that cannot be written. */
struct edit_jit *edit_jit_new(const struct edit_jit_options *options, struct stream *in, struct err *err);
void edit_jit_free(struct edit_jit *j); /* NULL is allowed */

/* Borrowed. The stream must give what is in compressed records. */
const struct copy_editor *edit_jit_editor(struct edit_jit *j);

/* What was found, for messages: see resolve_jit_dump. */
const struct resolve_jit *edit_jit_found(const struct edit_jit *j);

struct edit_jit_counts {
    uint64_t functions, files, maps; /* maps: records put in */
    uint64_t trimmed;                /* map records that shrank or went */
};
struct edit_jit_counts edit_jit_counts(const struct edit_jit *j);

#endif
