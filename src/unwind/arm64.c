/* SPDX-License-Identifier: Apache-2.0 */
/* DWARF for the Arm 64-bit Architecture, 4.1 (columns); Procedure Call Standard, 6.4.6 (frame records).
 * Return addresses may be signed: the signature is in the bits above the address (Arm ARM, "Pointer
 * authentication"), of which Linux uses 48 or, on Android, 39. */
#include <elf.h>

#include "unwind/cpu.h"

static const uint8_t bits[] = {
    32,                                             /* pc */
    0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, /* x0-x30, sp */
    12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
};

const struct unwind_cpu unwind_arm64 = {
    .name = "arm64",
    .machine = EM_AARCH64,
    .word = 8,
    .count = sizeof bits,
    .sp = 32,
    .bits = bits,
    .fp = 30,
    .fp_at = 0,
    .return_at = 8,
    .sp_at = 16,
    .link = 31,
    .address_bits = {48, 39},
};
