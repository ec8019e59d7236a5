/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings side by side, without a verdict: rows, blocks (-c cycles) or streams (--stream). */
#ifndef SONDE_CMD_DIFF_DIFF_TABLE_H
#define SONDE_CMD_DIFF_DIFF_TABLE_H

#include "cmd/diff/diff_tui.h"

/* Prints the tables of the base's events. False and *err: out of memory, or the keys do not go with -c. */
bool diff_table_print(const struct diff_files *f, const struct diff_options *o, struct out *out,
                      struct err *err);
/* Shows them in the browser, unless these are streams. False and *err: as above, or as `show`. ERR_ABSENT:
 * there is nothing to show. */
bool diff_table_browse(const struct diff_files *f, const struct diff_options *o, diff_browse_fn *show,
                       void *ctx, struct err *err);

#endif
