/* SPDX-License-Identifier: Apache-2.0 */
/* What can be built in and what is, under the names that perf-check(1) gives these features. */
#ifndef SONDE_CMD_COMMON_FEATURE_LIST_H
#define SONDE_CMD_COMMON_FEATURE_LIST_H

#include <stdbool.h>

#include "base/out.h"

struct feature_row {
    const char *name, *macro;
    bool built_in;
    const char *tip; /* how to get it, or NULL: this sonde does not know it at all */
};

/* Ended by a NULL name. */
extern const struct feature_row feature_table[];

/* By name or macro, in any case; NULL: unknown. `len` bytes of `name` count. */
const struct feature_row *feature_find(const char *name, size_t len);

/* One line as perf prints it: "   zstd: [ on  ]  # HAVE_ZSTD_SUPPORT". */
void feature_print(struct out *o, const struct feature_row *row);

#endif
