/* SPDX-License-Identifier: Apache-2.0 */
/* The line that objdump prints for an arm64 instruction, made of capstone's and of its word: docs/DISASM.md.
 */
#ifndef SONDE_OBJECT_DISASM_ARM64_TEXT_H
#define SONDE_OBJECT_DISASM_ARM64_TEXT_H

#include "object/disasm/disasm.h"
#include "object/disasm/text.h"

/* Columns behind the mnemonic are ours: objdump has tabs there. */
void arm64_text(const struct disasm_options *o, const struct disasm_instruction *i, const char *mnemonic,
                const char *operands, struct text *out);

#endif
