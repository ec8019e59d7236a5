/* SPDX-License-Identifier: Apache-2.0 */
/* What a command reports about the sources of names: refused files, and with -v the source of each image. */
#ifndef SONDE_CMD_COMMON_SYMBOL_NOTES_H
#define SONDE_CMD_COMMON_SYMBOL_NOTES_H

#include "resolve/resolve_grade.h"
#include "resolve/unwind.h"

/*
 * Prints, for -v (LOG_INFO), a line for each image whose names were looked up: the file that gave them,
 * whether the recording proves it, and a kernel's slide; or why there are none. Then the store's warnings,
 * one line for each reason.
 */
void symbol_notes_say(const struct model *m, const struct resolve_names *names,
                      const struct symbol_store *store);

/*
 * Prints the closing line: "12 % of frames inferred, 0.4 % stale: sonde doctor FILE", if frames are stale or
 * more than one in twenty has no name; if some are inferred, only on a terminal and with `verbose`. It
 * mentions frames without a name from one in twenty on. `grades`: frames by enum grade.
 */
void symbol_notes_say_grades(const uint64_t grades[GRADE_COUNT], const char *path, bool verbose);

/* Prints a line about user stacks whose dumps do not reach their outermost function: how many, and why.
 * Nothing if all do. */
void symbol_notes_say_stacks(const struct resolve_unwind_tally *t, const struct model *m);

#endif
