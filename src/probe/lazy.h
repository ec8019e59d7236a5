/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of source text by patterns: as fnmatch(3)'s, but with blanks ignored on both sides. */
#ifndef SONDE_PROBE_LAZY_H
#define SONDE_PROBE_LAZY_H

#include "base/arena.h"
#include "object/debug/debug.h"

/* Whether a line matches. */
bool lazy_matches(const char *line, const char *pattern);

struct lazy_query {
    const char *file;                     /* the end of its path */
    const struct object_instance *within; /* in its code alone; NULL: anywhere */
    const char *pattern;
    const char *source_dir; /* or NULL */
};
/* Appends the statements of the lines that match. False and *err: the source cannot be read; out of memory.
 */
bool lazy_find(struct object_debug *d, const struct lazy_query *q, struct arena *a, object_debug_lines *out,
               struct err *err);

#endif
