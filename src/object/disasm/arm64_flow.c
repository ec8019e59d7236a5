/* SPDX-License-Identifier: Apache-2.0 */
/* Where arm64 instructions lead, by their encoding (Arm ARM DDI 0487, section C4.1). */
#include "object/disasm/arm64_flow.h"

static int64_t field(uint32_t word, unsigned low, unsigned bits) {
    return (int64_t)((uint64_t)word << (64 - low - bits)) >> (64 - bits);
}

static void direct(struct disasm_instruction *out, bool call, int64_t words) {
    out->is_call = call;
    out->is_jump = !call;
    out->has_target = true;
    out->target = out->address + (uint64_t)words * 4;
}

void arm64_flow(uint32_t word, struct disasm_instruction *out) {
    enum { BR = 0, BLR = 1, RET = 2, ERET = 4, BRA = 8, BLRA = 9 };
    if ((word & 0x7c000000) == 0x14000000) /* B, BL */
        direct(out, word >> 31, field(word, 0, 26));
    else if ((word & 0xff000000) == 0x54000000 || (word & 0x7e000000) == 0x34000000) /* B.cond, CBZ, CBNZ */
        direct(out, false, field(word, 5, 19));
    else if ((word & 0x7e000000) == 0x36000000) /* TBZ, TBNZ */
        direct(out, false, field(word, 5, 14));
    if (word >> 25 != 0x6b) /* to an address in a register */
        return;
    unsigned kind = word >> 21 & 15;
    out->is_jump = kind == BR || kind == BRA;
    out->is_call = kind == BLR || kind == BLRA;
    out->is_return = kind == RET || kind == ERET;
}

bool arm64_names_address(uint32_t word) {
    return (word & 0x1f000000) == 0x10000000 || (word & 0x3b000000) == 0x18000000; /* ADR, ADRP; LDR */
}
