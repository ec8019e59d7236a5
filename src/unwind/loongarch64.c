/* SPDX-License-Identifier: Apache-2.0 */
/* ELF psABI for the LoongArch Architecture: "Register Convention"; columns are the registers' numbers. */
#include "unwind/cpu.h"

const struct unwind_cpu unwind_loongarch64 = {
    .name = "loongarch64",
    .machine = 258, /* EM_LOONGARCH */
    .word = 8,
    .count = UNWIND_NUMBERED_SLOTS,
    .sp = 4,
    .bits = unwind_numbered_bits,
    .fp = 23,
    .fp_at = -16,
    .return_at = -8,
    .sp_at = 0,
    .link = 2,
};
