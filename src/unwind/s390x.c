/* SPDX-License-Identifier: Apache-2.0 */
/* ELF ABI s390x supplement: 1.2 (registers, frames: the CFA is 160 bytes above the stack pointer), 1.6 (DWARF
 * columns; 64 is the psw's address). */
#include <elf.h>

#include "unwind/cpu.h"

static const uint8_t bits[] = {
    33,                                                    /* psw address */
    0,  1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, /* r0-r15 */
};

const struct unwind_cpu unwind_s390x = {
    .name = "s390x",
    .machine = EM_S390,
    .word = 8,
    .count = sizeof bits,
    .sp = 16,
    .extra_column = 64,
    .extra_slot = UNWIND_IP,
    .bits = bits,
    .cfa_above_sp = 160,
    .link = 15,
};
