/* SPDX-License-Identifier: Apache-2.0 */
/* ELF psABI for the LoongArch Architecture: "Register Convention"; columns are the registers' numbers. */
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
    14, /* r0, which is 0; r1-r31 */
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

const struct unwind_cpu unwind_loongarch64 = {
    .name = "loongarch64",
    .machine = 258, /* EM_LOONGARCH */
    .word = 8,
    .count = sizeof bits,
    .sp = 4,
    .bits = bits,
    .fp = 23,
    .fp_at = -16,
    .return_at = -8,
    .sp_at = 0,
    .link = 2,
};
