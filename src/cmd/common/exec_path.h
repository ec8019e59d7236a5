/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where helper files are: scripts and filters.
 *
 *   given   --exec-path=DIR, $PERF_EXEC_PATH: in perf's layout
 *   own     installed with the program, or in the build tree
 *
 *     DIR/scripts/python/NAME.py, DIR/scripts/python/bin/NAME-report    DIR/dlfilters/NAME.so
 */
#ifndef SONDE_CMD_COMMON_EXEC_PATH_H
#define SONDE_CMD_COMMON_EXEC_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Returns the folder given by the user; NULL: none. */
const char *exec_path_given(void);

/* Makes `folder` the given one, for programs that are started, too. False: out of memory. */
bool exec_path_give(const char *folder, struct err *err);

/* Returns our own folder, which alone has the scripts' modules. ERR_ABSENT: it is not installed. */
bool exec_path_own(char *path, size_t size, struct err *err);

/* Returns our own folder of filters, which need not exist. */
void exec_path_own_filters(char *path, size_t size);

/* Finds `name` in the given folder, else in our own. False: it is in neither. */
bool exec_path_find(const char *name, char *path, size_t size);

/* Makes programs that are started find what is installed with us first: `perf` is this program. False:
 * memory. */
bool exec_path_export(struct err *err);

#endif
