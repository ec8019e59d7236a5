/* SPDX-License-Identifier: Apache-2.0 */
/* A command's usage text, made from its rows, laid out as perf lays it out. */
#ifndef SONDE_CMD_COMMON_USAGE_H
#define SONDE_CMD_COMMON_USAGE_H

#include "base/out.h"
#include "cmd/common/option.h"

/* " Usage: sonde CMD ..." and one "    or: ..." per further line; `usage` ends with NULL. */
void usage_lines(struct out *o, const char *program, const char *const *usage);

/* All rows that are not hidden: those with letters first, in their order, then the others by name. With
 * `words` (count > 0) only rows whose name, letter or help one of the words occurs in. */
void usage_options(struct out *o, const struct option *rows, int count, char *const *words);

/* One row's lines. */
void usage_option(struct out *o, const struct option *row);

/* "<file>", "[=<opts>]", "[<n>]" or "": how the value follows the long (or else the short) form. */
void usage_value(struct out *o, const struct option *row);

#endif
