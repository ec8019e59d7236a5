/* SPDX-License-Identifier: Apache-2.0 */
/* The functions, or the variables, of a list of symbols by address: of the running kernel and its modules,
 * whose list is the kernel's own (/proc/kallsyms). A function reaches up to the next one. */
#ifndef SONDE_FORMAT_KALLSYMS_KALLSYMS_NAMES_H
#define SONDE_FORMAT_KALLSYMS_KALLSYMS_NAMES_H

#include "base/vec.h"
#include "format/kallsyms/kallsyms.h"

struct kallsyms_place {
    uint64_t address;
    struct bytes name;
};

struct kallsyms_names {
    VEC(struct kallsyms_place) list; /* ascending; of several at one address the first one of the list */
};

/* nm(1)'s letters. Variables are listed by kernels with CONFIG_KALLSYMS_ALL. */
#define KALLSYMS_FUNCTIONS "tTwW"
#define KALLSYMS_VARIABLES "bBdDrRvV"

/* Reads the symbols of these types. Borrows the text. Empty if addresses are hidden. False: out of memory;
 * kallsyms_names_fini is allowed. */
bool kallsyms_names_read(struct kallsyms_names *n, struct bytes text, const char *types);
/* The function that covers an address; NULL: none. */
const struct kallsyms_place *kallsyms_names_find(const struct kallsyms_names *n, uint64_t address);
void kallsyms_names_fini(struct kallsyms_names *n);

#endif
