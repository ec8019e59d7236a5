/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/kallsyms: lines of "ADDRESS TYPE NAME" and, for modules' symbols, a tab and "[MODULE]" (nm(1) for
 * types). */
#ifndef SONDE_FORMAT_KALLSYMS_KALLSYMS_H
#define SONDE_FORMAT_KALLSYMS_KALLSYMS_H

#include "base/bytes.h"

struct kallsyms_symbol {
    uint64_t address; /* 0 for all when the reader may not see them (kernel.kptr_restrict) */
    char type;
    struct bytes name;
    struct bytes module; /* empty: the kernel's own */
};

/* The symbols of a text in its order: start with *rest = the text; false at the end. Lines of another form
 * are skipped. */
bool kallsyms_next(struct bytes *rest, struct kallsyms_symbol *out);

#endif
