/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where helpers are: scripts and filters.
 *
 *   given   --exec-path=DIR, $PERF_EXEC_PATH: of perf's layout
 *   own     what was installed with the program, or lies around the build tree
 *
 *     DIR/scripts/python/NAME.py, DIR/scripts/python/bin/NAME-report    DIR/dlfilters/NAME.so
 */
#ifndef SONDE_CMD_COMMON_EXEC_PATH_H
#define SONDE_CMD_COMMON_EXEC_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* The folder given by the user; NULL: none. */
const char *exec_path_given(void);

/* From now on `folder` is given, to programs that are started, too. False: memory. */
bool exec_path_give(const char *folder, struct err *err);

/* Our own folder; of the scripts' modules, which no other has. ERR_ABSENT: it is not installed. */
bool exec_path_own(char *path, size_t size, struct err *err);

/* Our own folder of filters, which need not exist. */
void exec_path_own_filters(char *path, size_t size);

/* Finds `name` below the folder given, else below our own. False: it is in neither. */
bool exec_path_find(const char *name, char *path, size_t size);

/* Programs that are started find what is installed with us first: `perf` is this one. False: memory. */
bool exec_path_export(struct err *err);

#endif
