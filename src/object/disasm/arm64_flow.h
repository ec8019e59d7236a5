/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SONDE_OBJECT_DISASM_ARM64_FLOW_H
#define SONDE_OBJECT_DISASM_ARM64_FLOW_H

#include "object/disasm/disasm.h"

/* What kind of jump an instruction is, and its target; `out` has its address. */
void arm64_flow(uint32_t word, struct disasm_instruction *out);
/* Whether its last operand is an address relative to it: ADR, ADRP, loads of literals. */
bool arm64_names_address(uint32_t word);

#endif
