/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the registers in a sample's REGS_USER and REGS_INTR, by architecture. */
#ifndef SONDE_VIEW_DUMP_DUMP_REGS_H
#define SONDE_VIEW_DUMP_DUMP_REGS_H

#include <stdint.h>

/* One architecture's names. Numbers: enum perf_event_*_regs of arch/ARCH/include/uapi/asm/perf_regs.h. */
struct dump_regs;

/*
 * The names of the architecture that a recording was made on: by ELF machine number (the E_MACHINE feature)
 * or, when that is 0, by the name that uname -m gives (the ARCH feature; may be NULL). Never NULL: an
 * architecture that nobody knows has no names.
 */
const struct dump_regs *dump_regs_find(uint32_t e_machine, const char *arch);

struct perfdata_header;
/* The names for the recording that has this header. */
const struct dump_regs *dump_regs_of(const struct perfdata_header *h);

/* The name of the register with that bit in the mask; "unknown" for one without a name. */
const char *dump_regs_name(const struct dump_regs *regs, unsigned bit);

#endif
