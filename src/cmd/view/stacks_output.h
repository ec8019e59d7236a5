/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks written to a file or to standard output. */
#ifndef SONDE_CMD_VIEW_STACKS_OUTPUT_H
#define SONDE_CMD_VIEW_STACKS_OUTPUT_H

#include "view/export/export.h"

/* Writes to `output`, or with NULL to standard output, that nobody reads being no failure. False with *err.
 */
bool stacks_write(const struct stacks *s, const struct export_format *f, const struct export_options *o,
                  const char *output, struct err *err);

#endif
