/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SONDE_OBJECT_DISASM_DISASM_INTERNAL_H
#define SONDE_OBJECT_DISASM_DISASM_INTERNAL_H

#include "object/disasm/capstone.h"
#include "object/disasm/disasm.h"

struct disasm {
    struct disasm_options o;
    struct capstone cs;
    csh handle; /* 0: not opened */
    cs_insn *insn;
};

#endif
