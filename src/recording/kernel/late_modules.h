/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel modules that were loaded while perf recorded. perf writes maps only of modules that are loaded when
 * it starts, so frames in later ones have no mapping; but a list of modules of the same boot tells where they
 * are.
 */
#ifndef SONDE_RECORDING_LATE_MODULES_H
#define SONDE_RECORDING_LATE_MODULES_H

#include "os/files/files.h"
#include "resolve/recorded.h"

/*
 * Maps the modules that have no map record but are in the list at `kallsyms` or, if that is NULL, in the
 * running kernel's /proc/modules; only where no record maps anything. It does so only if the list is of the
 * recorded boot: the kernel is the recorded one, and more than half of the recorded modules are at the
 * addresses in the list (modules are loaded at random addresses). Such a map has 0 for its place in the file
 * (model_mapping.order). Recordings of sonde itself are skipped: they have these maps. Call it between
 * resolve_recorded_apply and model_freeze. False and *err: out of memory.
 */
bool late_modules_map(struct resolve_recorded *r, const struct os_files *files, const char *kallsyms,
                      struct model *m, struct err *err);

#endif
