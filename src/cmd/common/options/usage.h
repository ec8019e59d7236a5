/* SPDX-License-Identifier: Apache-2.0 */
/* A command's usage text, made from its rows in perf's layout. */
#ifndef SONDE_CMD_COMMON_USAGE_H
#define SONDE_CMD_COMMON_USAGE_H

#include "base/text/out.h"
#include "cmd/common/options/option.h"

/* Prints " Usage: sonde CMD ..." and one "    or: ..." per further line; `usage` ends with NULL. */
void usage_lines(struct out *o, const char *program, const char *const *usage);

/* Prints all rows that are not hidden: those with letters first, in their order, then the others by name.
 * With `words` (count > 0), only rows in whose name, letter or help one of the words occurs. */
void usage_options(struct out *o, const struct option *rows, int count, char *const *words);

/* Prints one row's lines. */
void usage_option(struct out *o, const struct option *row);

/* Prints "<file>", "[=<opts>]", "[<n>]" or "": how the value follows the long (or else the short) form. */
void usage_value(struct out *o, const struct option *row);

#endif
