/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel modules that were loaded while perf recorded. It writes maps only of those that are there when it
 * begins, so their frames lie nowhere; but a list of the same boot's modules tells where they are.
 */
#ifndef SONDE_RECORDING_LATE_MODULES_H
#define SONDE_RECORDING_LATE_MODULES_H

#include "os/files.h"
#include "resolve/recorded.h"

/*
 * Maps, where no record maps anything, the modules that have no map but stand in the list at `kallsyms`, or,
 * with NULL, in the running kernel's /proc/modules. Only if the list is of the recorded boot: the kernel is
 * the recorded one, and of the modules that were recorded more than half lie where the list has them (modules
 * are loaded at random places). Such a map has 0 for its place in the file (model_mapping.order). Nothing is
 * read unless the recording is another tool's than sonde, which records them. Between resolve_recorded_apply
 * and model_freeze. False and *err: memory.
 */
bool late_modules_map(struct resolve_recorded *r, const struct os_files *files, const char *kallsyms,
                      struct model *m, struct err *err);

#endif
