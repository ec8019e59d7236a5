/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/cpu.h"

#include <elf.h>
#include <string.h>

/* clang-format off */
const uint8_t unwind_numbered_bits[UNWIND_NUMBERED_SLOTS] = {
    0, UNWIND_NO_BIT, /* the instruction pointer; register 0, which nobody samples; 1 to 31 */
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29,
    30, 31,
};
/* clang-format on */

/* Which CPU's rules hold for 64-bit and for 32-bit code of an architecture. */
static const struct {
    const char *arch; /* what uname -m begins with */
    uint16_t machine;
    const struct unwind_cpu *wide, *narrow;
} table[] = {
    {"x86_64", EM_X86_64, &unwind_x86_64, &unwind_i386},
    {"amd64", EM_X86_64, &unwind_x86_64, &unwind_i386},
    {"i386", EM_386, NULL, &unwind_i386},
    {"i486", EM_386, NULL, &unwind_i386},
    {"i586", EM_386, NULL, &unwind_i386},
    {"i686", EM_386, NULL, &unwind_i386},
    {"aarch64", EM_AARCH64, &unwind_arm64, NULL},
    {"arm64", EM_AARCH64, &unwind_arm64, NULL},
    {"s390x", EM_S390, &unwind_s390x, NULL},
    {"ppc64", EM_PPC64, &unwind_ppc64, NULL},
    {"riscv64", EM_RISCV, &unwind_riscv64, NULL},
    {"loongarch64", 258 /* EM_LOONGARCH */, &unwind_loongarch64, NULL},
};

const struct unwind_cpu *unwind_cpu_find(uint32_t machine, const char *arch, unsigned abi) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (machine ? machine == table[i].machine
                    : arch && strncmp(arch, table[i].arch, strlen(table[i].arch)) == 0)
            return abi == 1 ? table[i].narrow : abi == 2 ? table[i].wide : NULL;
    return NULL;
}
