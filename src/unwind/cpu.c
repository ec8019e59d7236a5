/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/cpu.h"

#include <elf.h>
#include <string.h>

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
