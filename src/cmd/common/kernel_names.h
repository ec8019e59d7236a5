/* SPDX-License-Identifier: Apache-2.0 */
/* The running kernel's functions and variables by address, for what is measured now. */
#ifndef SONDE_CMD_COMMON_KERNEL_NAMES_H
#define SONDE_CMD_COMMON_KERNEL_NAMES_H

#include "base/err.h"
#include "base/writer.h"
#include "format/kallsyms/kallsyms_names.h"

/* Zeroed at first. */
struct kernel_names {
    struct kallsyms_names functions, variables;
    struct writer text;
    char room[512];
};

/* Reads /proc/kallsyms, anew if it has been read. False with *err. */
bool kernel_names_read(struct kernel_names *n, struct err *err);
/* The function that covers an address, and where in it that is (may be NULL). The text is valid until the
 * next call of these two; NULL: none. */
const char *kernel_names_function(struct kernel_names *n, uint64_t address, uint64_t *offset);
/* The variable that begins there: where variables end is not in the list. */
const char *kernel_names_variable(struct kernel_names *n, uint64_t address);
void kernel_names_fini(struct kernel_names *n);

#endif
