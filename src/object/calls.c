/* SPDX-License-Identifier: Apache-2.0 */
#include "object/calls.h"

#include <elf.h>

/* The code up to the address: `size` bytes before it, and the few after it that may belong to it. */
struct place {
    struct bytes code;
    size_t at;
    bool big;
};

/* The byte that lies `back` bytes before the place; -1: there is none. */
static int byte_at(const struct place *p, size_t back) {
    return back > p->at || p->at - back >= p->code.size ? -1 : p->code.data[p->at - back];
}

/* `bytes` (2 or 4) of them as a number. */
static uint32_t word_at(const struct place *p, size_t back, unsigned bytes) {
    uint32_t word = 0;
    if (back > p->at || p->at > p->code.size)
        return 0;
    for (unsigned i = 0; i < bytes; i++) {
        unsigned at = p->big ? i : bytes - 1 - i;
        word = word << 8 | p->code.data[p->at - back + at];
    }
    return word;
}

/* How long an indirect near call (FF /2) is by its ModR/M and SIB bytes; 0: it is none. */
static size_t x86_indirect_size(int modrm, int sib) {
    enum { CALL = 2, HAS_SIB = 4, NO_BASE = 5 };
    int mod = modrm >> 6, rm = modrm & 7;
    if (modrm < 0 || (modrm >> 3 & 7) != CALL)
        return 0;
    if (mod == 3)
        return 2;
    size_t size = rm == HAS_SIB ? 3 : 2;
    if (mod == 0)
        return size + (rm == NO_BASE || (rm == HAS_SIB && (sib & 7) == NO_BASE) ? 4 : 0);
    return size + (mod == 1 ? 1 : 4);
}

static bool x86_call(const struct place *p, bool patched) {
    enum { DIRECT = 0xe8, DIRECT_BYTES = 5, INDIRECT = 0xff, INDIRECT_MAX = 7, CS_PREFIX = 0x2e };
    if (byte_at(p, DIRECT_BYTES) == DIRECT)
        return true;
    for (size_t n = 2; n <= INDIRECT_MAX; n++)
        if (byte_at(p, n) == INDIRECT && x86_indirect_size(byte_at(p, n - 1), byte_at(p, n - 2)) == n)
            return true;
    if (!patched)
        return false;
    /* call *symbol(%rip), 6 bytes, is now call target, 5 bytes */
    if (byte_at(p, 5) == INDIRECT && byte_at(p, 4) == 0x15)
        return true;
    /* call __x86_indirect_thunk_REG, which may have a prefix, is now call *%reg: 2 or 3 bytes */
    for (size_t n = 2; n <= 3; n++)
        if (byte_at(p, n) == DIRECT || (byte_at(p, n) == CS_PREFIX && byte_at(p, n - 1) == DIRECT))
            return true;
    return false;
}

/* Its instructions are little-endian in either byte order. */
static bool aarch64_call(const struct place *p, bool patched) {
    struct place little = {p->code, p->at, false};
    uint32_t w = word_at(&little, 4, 4);
    (void)patched;
    return (w & 0xfc000000) == 0x94000000 ||                                 /* bl */
           (w & 0xfffffc1f) == 0xd63f0000 || (w & 0xfefff800) == 0xd63f0800; /* blr; blraa and its like */
}

static bool arm_call(const struct place *p, bool patched) {
    uint32_t w = word_at(p, 4, 4);
    (void)patched;
    return (w & 0x0f000000) == 0x0b000000 || (w & 0x0ffffff0) == 0x012fff30; /* bl, blx REG */
}

static bool s390_call(const struct place *p, bool patched) {
    (void)patched;
    return (byte_at(p, 6) == 0xc0 && (byte_at(p, 5) & 15) == 5) ||                   /* brasl */
           (byte_at(p, 4) == 0xa7 && (byte_at(p, 3) & 15) == 5) ||                   /* bras */
           byte_at(p, 4) == 0x4d || (byte_at(p, 2) == 0x0d && (byte_at(p, 1) & 15)); /* bas, basr */
}

static bool ppc_call(const struct place *p, bool patched) {
    uint32_t w = word_at(p, 4, 4);
    (void)patched;
    return ((w & 0xfc000003) == 0x48000001) ||                               /* bl */
           (w & 0xfc00ffff) == 0x4c000421 || (w & 0xfc00ffff) == 0x4c000021; /* bctrl, blrl */
}

static bool riscv_call(const struct place *p, bool patched) {
    uint32_t w = word_at(p, 4, 4), half = word_at(p, 2, 2);
    (void)patched;
    return (w & 0xfff) == 0x0ef || (w & 0x7fff) == 0x0e7 || /* jal ra; jalr ra */
           ((half & 0xf07f) == 0x9002 && (half & 0x0f80));  /* c.jalr */
}

struct machine {
    uint16_t machine;
    bool (*call)(const struct place *p, bool patched);
};

static const struct machine machines[] = {
    {EM_X86_64, x86_call}, {EM_386, x86_call},   {EM_AARCH64, aarch64_call}, {EM_ARM, arm_call},
    {EM_S390, s390_call},  {EM_PPC64, ppc_call}, {EM_PPC, ppc_call},         {EM_RISCV, riscv_call},
};

static const struct machine *find(uint16_t machine) {
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
        if (machines[i].machine == machine)
            return &machines[i];
    return NULL;
}

bool object_calls_known(uint16_t machine) {
    return find(machine);
}

bool object_calls_before(uint16_t machine, bool big_endian, struct bytes code, size_t at, bool patched) {
    const struct machine *m = find(machine);
    struct place p = {code, at, big_endian};
    return m && at <= code.size && m->call(&p, patched);
}
