/* SPDX-License-Identifier: Apache-2.0 */
/* RISC-V ELF psABI: "Frame Pointer Convention" (the frame pointer is the CFA), "DWARF Register Numbers". */
#include <elf.h>

#include "unwind/cpu.h"

const struct unwind_cpu unwind_riscv64 = {
    .name = "riscv64",
    .machine = EM_RISCV,
    .word = 8,
    .count = UNWIND_NUMBERED_SLOTS,
    .sp = 3,
    .bits = unwind_numbered_bits,
    .fp = 9,
    .fp_at = -16,
    .return_at = -8,
    .sp_at = 0,
    .link = 2,
};
