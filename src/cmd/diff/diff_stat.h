/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of whole runs beside a comparison: files of `stat record` for each side, and what they prove. */
#ifndef SONDE_CMD_DIFF_DIFF_STAT_H
#define SONDE_CMD_DIFF_DIFF_STAT_H

#include "base/arena.h"
#include "base/vec.h"
#include "view/diff/verdict_view.h"

typedef VEC(struct verdict_figure) diff_figures;

/* Adds a figure for each event that all files of both lists (separated by commas, at most
 * DIFF_STAT_FILES_MAX) have a count of; its texts go to `arena`. The n-th run of a side is compared with the
 * n-th of the other one, as in `stat --vs`. False and *err: a file could not be read, or has no counts. */
enum { DIFF_STAT_FILES_MAX = 1024 };
bool diff_stat_read(const char *base, const char *now, bool force, double level, struct arena *arena,
                    diff_figures *out, struct err *err);

#endif
