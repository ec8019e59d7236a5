/* SPDX-License-Identifier: Apache-2.0 */
/* How much room a kernel module's code takes, by its file. */
#ifndef SONDE_SYMBOL_MODULE_EXTENT_H
#define SONDE_SYMBOL_MODULE_EXTENT_H

#include "base/bytes.h"

/*
 * Bytes from where perf's map of the module begins to the end of its lasting code, as the kernel's loader
 * lays it out. 0: there is no such file, it is no module, or it has another build-id than `build_id` (empty:
 * any).
 */
uint64_t symbol_module_code_bytes(const char *path, struct bytes build_id);

#endif
