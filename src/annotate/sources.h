/* SPDX-License-Identifier: Apache-2.0 */
/* The text of source files, each opened at most once, where debugging information says or the user does. */
#ifndef SONDE_ANNOTATE_SOURCES_H
#define SONDE_ANNOTATE_SOURCES_H

#include "base/bytes.h"
#include "base/strpool.h"
#include "base/vec.h"
#include "os/files/map.h"

struct annotate_source {
    struct os_map map;
    VEC(uint32_t) starts; /* where line i + 1 begins */
};

/* Zeroed at first, the first three set by the owner. */
struct annotate_sources {
    const char *symfs;  /* the root that paths are looked up below (--symfs); NULL: "/" */
    const char *prefix; /* put before absolute paths (objdump(1), --prefix); NULL: nothing */
    unsigned strip;     /* as many leading folders are removed from them before that */
    struct strpool paths;
    VEC(struct annotate_source) files; /* by path */
    size_t absent;                     /* how many could not be read */
    uint32_t first_absent;             /* the first of these, in `paths` */
};

void annotate_sources_fini(struct annotate_sources *s);

/* A line, counted from 1, without its end. Valid until annotate_sources_fini. False: the file is not there,
 * or has fewer lines. */
bool annotate_sources_line(struct annotate_sources *s, const char *path, uint32_t line, struct bytes *out);

#endif
