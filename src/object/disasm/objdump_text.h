/* SPDX-License-Identifier: Apache-2.0 */
/* What objdump(1) prints of a function, as the instructions of disasm.h. Needs no capstone. */
#ifndef SONDE_OBJECT_DISASM_OBJDUMP_TEXT_H
#define SONDE_OBJECT_DISASM_OBJDUMP_TEXT_H

#include "object/disasm/disasm.h"

/* The name of an architecture for objdump's -m. */
const char *disasm_objdump_machine(enum disasm_arch arch);

/* `text`: printed with --no-show-raw-insn of `code` at `address` (os/run/objdump.h runs it so). Appends its
 * instructions; addresses in them get the options' symbols, not objdump's. The text may be anything. False:
 * ERR_BROKEN: it does not cover the code from its start in steps that instructions have, and the list is as
 * it was; ERR_MEMORY. */
bool disasm_objdump_read(struct bytes text, struct bytes code, uint64_t address,
                         const struct disasm_options *options, struct disasm_list *list, struct err *err);

#endif
