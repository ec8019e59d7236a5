/* SPDX-License-Identifier: Apache-2.0 */
/* Which changes between recordings are proved: `diff --verdict` and what implies it. */
#ifndef SONDE_CMD_DIFF_DIFF_VERDICT_H
#define SONDE_CMD_DIFF_DIFF_VERDICT_H

#include "cmd/diff/diff_tui.h"

/* Judges the recordings, of which the first `base_count` are the base's, and prints that. *status: EXIT_OK
 * or, with --gate, DIFF_REGRESSION or DIFF_NOT_JUDGED. False and *err: it could not be judged. */
bool diff_verdict_print(const struct diff_files *f, uint32_t base_count, const struct diff_options *o,
                        struct out *out, int *status, struct err *err);

/* Judges them without --gate and --json, and shows that in the browser. False and *err: as above, or as
 * `show`.
 */
bool diff_verdict_browse(const struct diff_files *f, uint32_t base_count, const struct diff_options *o,
                         diff_browse_fn *show, void *ctx, struct err *err);

#endif
