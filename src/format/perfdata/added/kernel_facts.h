/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tells one boot of one kernel from all others (docs/FORMAT.md, part 5): so that a list of symbols,
 * which has no build-id, can be proved to be that boot's. Text: lines of fields with a tab between them.
 *
 *     boot    ID                   of /proc/sys/kernel/random/boot_id
 *     kernel  START END BUILD-ID   its text; addresses in hexadecimal; "-" for what is not known
 *     symbol  ADDRESS NAME         functions, spread over the text
 */
#ifndef SONDE_FORMAT_PERFDATA_ADDED_KERNEL_FACTS_H
#define SONDE_FORMAT_PERFDATA_ADDED_KERNEL_FACTS_H

#include "base/writer.h"

enum { PERFDATA_KERNEL_SYMBOLS = 16, PERFDATA_KERNEL_NAME = 128, PERFDATA_BOOT_ID = 37 };

struct perfdata_kernel_symbol {
    uint64_t address;
    char name[PERFDATA_KERNEL_NAME];
};

struct perfdata_kernel_facts {
    char boot_id[PERFDATA_BOOT_ID]; /* empty: not known */
    uint64_t start, end;            /* both 0: not known */
    uint8_t build_id_size;          /* 0: not known */
    uint8_t build_id[20];
    uint32_t symbol_count;
    struct perfdata_kernel_symbol symbols[PERFDATA_KERNEL_SYMBOLS];
};

void perfdata_kernel_facts_encode(const struct perfdata_kernel_facts *f, struct writer *w);

/* Lines that nobody knows or that make no sense are passed over. */
void perfdata_kernel_facts_decode(struct bytes text, struct perfdata_kernel_facts *out);

#endif
