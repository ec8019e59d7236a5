/* SPDX-License-Identifier: Apache-2.0 */
/* 64-bit ELF V2 ABI: 2.2 (frames; each begins with the address of the caller's, in which the return address
 * is saved), 2.4 (DWARF columns; 65 is the link register). */
#include <elf.h>

#include "unwind/cpu.h"

static const uint8_t bits[] = {
    32,                                                                                         /* nip */
    0,  1,  2,  3,  4,  5,  6,  7,  8,  9,                                                      /* r0-r31 */
    10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 36, /* link */
};

const struct unwind_cpu unwind_ppc64 = {
    .name = "ppc64",
    .machine = EM_PPC64,
    .word = 8,
    .count = sizeof bits,
    .sp = 2,
    .extra_column = 65,
    .extra_slot = 33,
    .bits = bits,
    .link = 33,
};
