/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory a kernel module's code takes, computed from its file. */
#ifndef SONDE_SYMBOL_MODULE_EXTENT_H
#define SONDE_SYMBOL_MODULE_EXTENT_H

#include "base/bytes.h"

/*
 * Bytes from the start of perf's map of the module to the end of the code that stays loaded, as the kernel's
 * loader lays it out. 0: there is no such file, it is no module, or its build-id is not `build_id` (empty:
 * any).
 */
uint64_t symbol_module_code_bytes(const char *path, struct bytes build_id);

#endif
