/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/machine.h"

#include <elf.h>
#include <string.h>

#ifndef EM_LOONGARCH
#define EM_LOONGARCH 258
#endif

enum family { UNKNOWN, X86, ARM, POWER, S390, RISCV, MIPS, SPARC, LOONGARCH };

/* Prefixes of names, from the kernel's UTS_MACHINE of each architecture. */
static const struct {
    const char *begin;
    enum family family;
} names[] = {
    {"x86", X86},
    {"i386", X86},
    {"i486", X86},
    {"i586", X86},
    {"i686", X86},
    {"aarch64", ARM},
    {"arm", ARM},
    {"ppc", POWER},
    {"s390", S390},
    {"riscv", RISCV},
    {"mips", MIPS},
    {"sparc", SPARC},
    {"loongarch", LOONGARCH},
};

static const struct {
    uint16_t machine;
    enum family family;
} machines[] = {
    {EM_386, X86},
    {EM_X86_64, X86},
    {EM_ARM, ARM},
    {EM_AARCH64, ARM},
    {EM_PPC, POWER},
    {EM_PPC64, POWER},
    {EM_S390, S390},
    {EM_RISCV, RISCV},
    {EM_MIPS, MIPS},
    {EM_SPARC, SPARC},
    {EM_SPARC32PLUS, SPARC},
    {EM_SPARCV9, SPARC},
    {EM_LOONGARCH, LOONGARCH},
};

bool symbol_machine_fits(const char *arch, uint16_t machine) {
    enum family ran = UNKNOWN, made = UNKNOWN;
    for (size_t i = 0; arch && i < sizeof names / sizeof *names; i++)
        if (strncmp(arch, names[i].begin, strlen(names[i].begin)) == 0)
            ran = names[i].family;
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
        if (machines[i].machine == machine)
            made = machines[i].family;
    return !ran || !made || ran == made;
}
