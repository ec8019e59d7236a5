/* SPDX-License-Identifier: Apache-2.0 */
/* The two halves of the Firefox Profiler's format: the tables that all threads share, and all else. */
#ifndef SONDE_VIEW_EXPORT_FIREFOX_INTERNAL_H
#define SONDE_VIEW_EXPORT_FIREFOX_INTERNAL_H

#include "base/text/json.h"
#include "view/export/export.h"
#include "view/export/thread_moments.h"

struct firefox_function {
    uint32_t name, image, file;
};

struct firefox {
    const struct stacks *s;
    const struct export_options *o;
    struct json json;
    struct out text; /* scratch */
    VEC(struct firefox_function) functions;
    struct idtable function_index;
    uint32_t *function_of; /* by frame */
    VEC(uint32_t) sources; /* texts */
    uint32_t *source_of;   /* by text: number of the source, + 1 */
    struct thread_moments moments;
};

/* What a column has for an item. */
typedef void firefox_column_fn(struct firefox *w, size_t i);

void firefox_put_column(struct firefox *w, const char *name, size_t n, firefox_column_fn *put);
void firefox_put_visible(struct firefox *w, const char *key, uint32_t text);
void firefox_put_null(struct firefox *w, size_t i);
void firefox_put_one(struct firefox *w, size_t i);

/* Finds the functions and sources of all frames. False: out of memory. */
bool firefox_find_functions(struct firefox *w);
/* Writes the tables. */
void firefox_put_tables(struct firefox *w);

#endif
