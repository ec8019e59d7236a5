/* SPDX-License-Identifier: Apache-2.0 */
/* RISC-V ELF psABI: "Frame Pointer Convention" (the frame pointer is the CFA), "DWARF Register Numbers". */
#include <elf.h>

#include "unwind/cpu.h"

static const uint8_t bits[] = {
    0, /* pc */
    UNWIND_NO_BIT,
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    9,
    10,
    11,
    12,
    13,
    14, /* x0, which is 0; x1-x31 */
    15,
    16,
    17,
    18,
    19,
    20,
    21,
    22,
    23,
    24,
    25,
    26,
    27,
    28,
    29,
    30,
    31,
};

const struct unwind_cpu unwind_riscv64 = {
    .name = "riscv64",
    .machine = EM_RISCV,
    .word = 8,
    .count = sizeof bits,
    .sp = 3,
    .bits = bits,
    .fp = 9,
    .fp_at = -16,
    .return_at = -8,
    .sp_at = 0,
    .link = 2,
};
