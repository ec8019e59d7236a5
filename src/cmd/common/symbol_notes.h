/* SPDX-License-Identifier: Apache-2.0 */
/* What a command says about where its names come from: files refused, and with -v the source of each. */
#ifndef SONDE_CMD_COMMON_SYMBOL_NOTES_H
#define SONDE_CMD_COMMON_SYMBOL_NOTES_H

#include "resolve/resolve_grade.h"
#include "resolve/unwind.h"

/*
 * For -v (LOG_INFO) a line for each image whose names were asked for: the file that gave them, whether the
 * recording proves it, and a kernel's slide; or why there are none. Then the store's warnings, one line for
 * each reason.
 */
void symbol_notes_say(const struct model *m, const struct resolve_names *names,
                      const struct symbol_store *store);

/*
 * The closing line: "12 % of frames inferred, 0.4 % stale: sonde doctor FILE". It is said if frames are stale
 * or more than one in twenty has no name; if some are inferred, on a terminal and with `verbose` only. Frames
 * without a name are counted in it from one in twenty on. `grades`: frames by enum grade.
 */
void symbol_notes_say_grades(const uint64_t grades[GRADE_COUNT], const char *path, bool verbose);

/* A line about user stacks whose dumps do not lead to their outermost function: how many, and why. Nothing
 * when all do. */
void symbol_notes_say_stacks(const struct resolve_unwind_tally *t, const struct model *m);

#endif
