/* SPDX-License-Identifier: Apache-2.0 */
/* Which features can be built in and which are, under perf-check(1)'s names. */
#ifndef SONDE_CMD_COMMON_FEATURE_LIST_H
#define SONDE_CMD_COMMON_FEATURE_LIST_H

#include <stdbool.h>

#include "base/text/out.h"

struct feature_row {
    const char *name, *macro;
    bool built_in;
    const char *tip; /* how to get it; NULL: sonde cannot have it */
};

/* Ends with a NULL name. */
extern const struct feature_row feature_table[];

/* Finds a feature by name or macro, in any case; NULL: unknown. `name` has `len` bytes. */
const struct feature_row *feature_find(const char *name, size_t len);

/* Prints one line in perf's layout: "   zstd: [ on  ]  # HAVE_ZSTD_SUPPORT". */
void feature_print(struct out *o, const struct feature_row *row);

#endif
