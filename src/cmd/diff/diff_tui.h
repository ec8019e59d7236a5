/* SPDX-License-Identifier: Apache-2.0 */
/* The comparison in the terminal browser: `diff --tui`. */
#ifndef SONDE_CMD_DIFF_DIFF_TUI_H
#define SONDE_CMD_DIFF_DIFF_TUI_H

#include "cmd/diff/diff_read.h"
#include "view/tui/rows.h"

/* Shows tables, one for each event, until the user leaves. False and *err: as `browse`. */
typedef bool diff_browse_fn(void *ctx, const struct tui_rows *const *tables, uint32_t count, struct err *err);

/* Whether the options and the terminal ask for the browser. If --tui does and it is not to be had, reports
 * that. */
bool diff_tui_wanted(const struct diff_options *o);

/* Shows the comparison, whose first `base_count` files are the base's. Returns whether it did, or failed,
 * which *status says. False: the text is to be printed instead. */
bool diff_tui_show(const struct diff_files *f, uint32_t base_count, const struct diff_options *o,
                   struct command_env *env, int *status);

#endif
