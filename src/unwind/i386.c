/* SPDX-License-Identifier: Apache-2.0 */
/* System V ABI, Intel386 supplement: 2.2 (registers, frames), 2.5 (DWARF columns). */
#include <elf.h>

#include "unwind/cpu.h"

static const uint8_t bits[] = {
    8,                      /* eip, which is column 8 too */
    0, 2, 3, 1, 7, 6, 4, 5, /* eax ecx edx ebx esp ebp esi edi */
};

const struct unwind_cpu unwind_i386 = {
    .name = "i386",
    .machine = EM_386,
    .word = 4,
    .count = sizeof bits,
    .sp = 5,
    .extra_column = 8,
    .extra_slot = UNWIND_IP,
    .bits = bits,
    .fp = 6,
    .fp_at = 0,
    .return_at = 4,
    .sp_at = 8,
    .return_on_stack = true,
    .link = UNWIND_NO_SLOT,
};
