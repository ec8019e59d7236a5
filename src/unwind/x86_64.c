/* SPDX-License-Identifier: Apache-2.0 */
/* System V ABI, AMD64 supplement: 3.2 (registers, frames), 3.6.2 (DWARF columns). */
#include <elf.h>

#include "unwind/cpu.h"

static const uint8_t bits[] = {
    8,                              /* rip, which is column 16 too */
    0,  3,  2,  1,  4,  5,  6,  7,  /* rax rdx rcx rbx rsi rdi rbp rsp */
    16, 17, 18, 19, 20, 21, 22, 23, /* r8-r15 */
};

const struct unwind_cpu unwind_x86_64 = {
    .name = "x86-64",
    .machine = EM_X86_64,
    .word = 8,
    .count = sizeof bits,
    .sp = 8,
    .extra_column = 16,
    .extra_slot = UNWIND_IP,
    .bits = bits,
    .fp = 7,
    .fp_at = 0,
    .return_at = 8,
    .sp_at = 16,
    .return_on_stack = true,
    .link = UNWIND_NO_SLOT,
};
