/* SPDX-License-Identifier: Apache-2.0 */
#include "view/dump/dump_regs.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "format/perfdata/header/feature.h"

#ifndef EM_LOONGARCH
#define EM_LOONGARCH 258
#endif

struct dump_regs {
    const char *const *names; /* by bit; NULL where there is no register */
    unsigned count;
    uint16_t machines[3];    /* EM_*, ended by 0 */
    const char *prefixes[6]; /* of what uname -m says, ended by NULL */
};

static const char *const x86[] = {
    "AX",    "BX",    "CX",    "DX",    "SI",    "DI",    "BP",    "SP",    "IP",    "FLAGS", "CS",
    "SS",    "DS",    "ES",    "FS",    "GS",    "R8",    "R9",    "R10",   "R11",   "R12",   "R13",
    "R14",   "R15",   NULL,    NULL,    NULL,    NULL,    NULL,    NULL,    NULL,    NULL,    "XMM0",
    "XMM0",  "XMM1",  "XMM1",  "XMM2",  "XMM2",  "XMM3",  "XMM3",  "XMM4",  "XMM4",  "XMM5",  "XMM5",
    "XMM6",  "XMM6",  "XMM7",  "XMM7",  "XMM8",  "XMM8",  "XMM9",  "XMM9",  "XMM10", "XMM10", "XMM11",
    "XMM11", "XMM12", "XMM12", "XMM13", "XMM13", "XMM14", "XMM14", "XMM15", "XMM15",
};
static const char *const arm[] = {
    "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "fp", "ip", "sp", "lr", "pc",
};
static const char *const arm64[] = {
    "x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",  "x8",  "x9",  "x10",       "x11",
    "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22",       "x23",
    "x24", "x25", "x26", "x27", "x28", "x29", "lr",  "sp",  "pc",  NULL,  [46] = "vg",
};
static const char *const csky[] = {
    "tls",      "lr",       "pc",       NULL,      "sp",      NULL,      "a0",       "a1",
    "a2",       "a3",       "regs0",    "regs1",   "regs2",   "regs3",   "regs4",    "regs5",
    "regs6",    "regs7",    "regs8",    "regs9",   "exregs0", "exregs1", "exregs2",  "exregs3",
    "exregs4",  "exregs5",  "exregs6",  "exregs7", "exregs8", "exregs9", "exregs10", "exregs11",
    "exregs12", "exregs13", "exregs14", "hi",      "lo",
};
static const char *const loongarch[] = {
    "PC",   "%r1",  "%r2",  "%r3",  "%r4",  "%r5",  "%r6",  "%r7",  "%r8",  "%r9",  "%r10",
    "%r11", "%r12", "%r13", "%r14", "%r15", "%r16", "%r17", "%r18", "%r19", "%r20", "%r21",
    "%r22", "%r23", "%r24", "%r25", "%r26", "%r27", "%r28", "%r29", "%r30", "%r31",
};
static const char *const mips[] = {
    "PC",  "$1",  "$2",  "$3",  "$4",  "$5",  "$6",  "$7",  "$8",  "$9",  "$10",
    "$11", "$12", "$13", "$14", "$15", "$16", "$17", "$18", "$19", "$20", "$21",
    "$22", "$23", "$24", "$25", NULL,  NULL,  "$28", "$29", "$30", "$31",
};
static const char *const powerpc[] = {
    "r0",    "r1",    "r2",    "r3",    "r4",   "r5",   "r6",    "r7",   "r8",    "r9",    "r10",     "r11",
    "r12",   "r13",   "r14",   "r15",   "r16",  "r17",  "r18",   "r19",  "r20",   "r21",   "r22",     "r23",
    "r24",   "r25",   "r26",   "r27",   "r28",  "r29",  "r30",   "r31",  "nip",   "msr",   "orig_r3", "ctr",
    "link",  "xer",   "ccr",   "softe", "trap", "dar",  "dsisr", "sier", "mmcra", "mmcr0", "mmcr1",   "mmcr2",
    "mmcr3", "sier2", "sier3", "pmc1",  "pmc2", "pmc3", "pmc4",  "pmc5", "pmc6",  "sdar",  "siar",
};
static const char *const riscv[] = {
    "pc", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0",  "a1",  "a2", "a3", "a4", "a5",
    "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
};
static const char *const s390[] = {
    "R0",  "R1",  "R2",   "R3",   "R4",   "R5",   "R6",   "R7",   "R8",   "R9",  "R10", "R11",
    "R12", "R13", "R14",  "R15",  "FP0",  "FP1",  "FP2",  "FP3",  "FP4",  "FP5", "FP6", "FP7",
    "FP8", "FP9", "FP10", "FP11", "FP12", "FP13", "FP14", "FP15", "MASK", "PC",
};

#define NAMES(a) .names = (a), .count = sizeof(a) / sizeof *(a)

static const struct dump_regs table[] = {
    /* "arm64" before "arm": the first prefix that fits counts. */
    {NAMES(x86), {EM_X86_64, EM_386}, {"x86", "i386", "i486", "i586", "i686"}},
    {NAMES(arm64), {EM_AARCH64}, {"aarch64", "arm64"}},
    {NAMES(arm), {EM_ARM}, {"arm"}},
    {NAMES(csky), {EM_CSKY}, {"csky"}},
    {NAMES(loongarch), {EM_LOONGARCH}, {"loongarch"}},
    {NAMES(mips), {EM_MIPS}, {"mips"}},
    {NAMES(powerpc), {EM_PPC64, EM_PPC}, {"ppc", "powerpc"}},
    {NAMES(riscv), {EM_RISCV}, {"riscv"}},
    {NAMES(s390), {EM_S390}, {"s390"}},
};
static const struct dump_regs nobody = {.names = NULL};

static bool has_prefix(const struct dump_regs *r, const char *arch) {
    for (const char *const *p = r->prefixes; *p; p++) {
        if (strncmp(arch, *p, strlen(*p)) == 0)
            return true;
    }
    return false;
}

const struct dump_regs *dump_regs_find(uint32_t e_machine, const char *arch) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const struct dump_regs *r = &table[i];
        if (e_machine ? e_machine == r->machines[0] || e_machine == r->machines[1]
                      : arch && has_prefix(r, arch))
            return r;
    }
    return &nobody;
}

const struct dump_regs *dump_regs_of(const struct perfdata_header *h) {
    struct arena arena = ARENA_INIT;
    struct perfdata_feature_value v;
    uint32_t machine = 0;
    char arch[32];
    if (perfdata_feature_get(h, PERFDATA_FEATURE_E_MACHINE, &arena, &v))
        machine = v.e_machine.machine;
    arena_fini(&arena);
    perfdata_feature_text(h, PERFDATA_FEATURE_ARCH, arch, sizeof arch);
    return dump_regs_find(machine, arch);
}

const char *dump_regs_name(const struct dump_regs *regs, unsigned bit) {
    const char *name = bit < regs->count ? regs->names[bit] : NULL;
    return name ? name : "unknown";
}
