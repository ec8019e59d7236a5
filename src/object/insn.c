/* SPDX-License-Identifier: Apache-2.0 */
#include "object/insn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/library.h"
#include "object/disasm/capstone.h"

/* e_machine of the ELF gABI. */
enum { MACHINE_386 = 3, MACHINE_X86_64 = 62, MACHINE_AARCH64 = 183 };

struct object_insns {
    struct capstone cs;
    csh handle; /* 0: not opened */
    cs_insn *insn;
    bool x86, wide; /* wide: of 64 bits */
};

bool object_insns_supported(void) {
    return true;
}

struct object_insns *object_insns_new(struct bytes image, struct err *err) {
    enum { BYTE_ORDER_AT = 5, LITTLE = 1, MACHINE_AT = 18 };
    static const struct {
        unsigned machine;
        cs_arch arch;
        cs_mode mode;
    } known[] = {{MACHINE_386, CS_ARCH_X86, CS_MODE_32},
                 {MACHINE_X86_64, CS_ARCH_X86, CS_MODE_64},
                 {MACHINE_AARCH64, CS_ARCH_ARM64, CS_MODE_ARM}};
    unsigned machine = 0;
    if (image.size > MACHINE_AT + 1 && image.data[BYTE_ORDER_AT] == LITTLE)
        machine = image.data[MACHINE_AT] | (unsigned)image.data[MACHINE_AT + 1] << 8;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].machine != machine)
            continue;
        struct object_insns *n = calloc(1, sizeof *n);
        if (n && !capstone_load(&n->cs, err)) {
            free(n);
            return NULL;
        }
        if (n && n->cs.open(known[i].arch, known[i].mode, &n->handle) == CS_ERR_OK) {
            n->x86 = known[i].arch == CS_ARCH_X86;
            n->wide = known[i].mode == CS_MODE_64;
            n->cs.option(n->handle, CS_OPT_DETAIL, CS_OPT_ON);
            if (n->x86)
                n->cs.option(n->handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
            n->insn = n->cs.malloc(n->handle);
        }
        if (n && n->insn)
            return n;
        object_insns_free(n);
        err_memory(err, "instructions");
        return NULL;
    }
    err_set(err, ERR_UNSUPPORTED, "instructions", "machine %u is not known to the disassembler", machine);
    return NULL;
}

void object_insns_free(struct object_insns *n) {
    if (!n)
        return;
    if (n->insn)
        n->cs.free(n->insn, 1);
    if (n->handle)
        n->cs.close(&n->handle);
    library_unload(n->cs.library);
    free(n);
}

static bool leaves(const struct object_insns *n) {
    static const unsigned groups[] = {CS_GRP_CALL, CS_GRP_RET, CS_GRP_IRET, CS_GRP_INT};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (n->cs.insn_group(n->handle, n->insn, groups[i]))
            return true;
    if (n->x86)
        return n->insn->id == X86_INS_JMP || n->insn->id == X86_INS_LJMP;
    return (n->insn->id == ARM64_INS_B && n->insn->detail->arm64.cc == ARM64_CC_INVALID) ||
           n->insn->id == ARM64_INS_BR;
}

bool object_insns_decode(struct object_insns *n, struct bytes code, uint64_t address,
                         struct object_insn *out) {
    const uint8_t *at = code.data;
    size_t size = code.size;
    if (!n->cs.disasm_iter(n->handle, &at, &size, &address, n->insn))
        return false;
    out->size = (uint8_t)n->insn->size;
    out->leaves = leaves(n);
    snprintf(out->text, sizeof out->text, "%s%s%.150s", n->insn->mnemonic, *n->insn->op_str ? " " : "",
             n->insn->op_str);
    return true;
}

struct object_insns *object_insns_for(struct object_insns_kept *kept, struct bytes image) {
    enum { CLASS_AT = 4, MACHINE_AT = 18, HEAD = 20 };
    if (image.size < HEAD)
        return NULL;
    uint32_t machine = image.data[MACHINE_AT] | (uint32_t)image.data[MACHINE_AT + 1] << 8 |
                       (uint32_t)image.data[CLASS_AT] << 16;
    if (machine != kept->machine) {
        object_insns_free(kept->insns);
        kept->insns = object_insns_new(image, NULL);
        kept->machine = machine;
    }
    return kept->insns;
}

/* The numbers of System V's ABI for x86-64, figure 3.36; -1: none of these. */
static int dwarf_number(x86_reg reg) {
    static const x86_reg numbered[] = {X86_REG_RAX, X86_REG_RDX, X86_REG_RCX, X86_REG_RBX,
                                       X86_REG_RSI, X86_REG_RDI, X86_REG_RBP, X86_REG_RSP,
                                       X86_REG_R8,  X86_REG_R9,  X86_REG_R10, X86_REG_R11,
                                       X86_REG_R12, X86_REG_R13, X86_REG_R14, X86_REG_R15};
    for (size_t i = 0; i < sizeof numbered / sizeof *numbered; i++)
        if (numbered[i] == reg)
            return (int)i;
    return -1;
}

static bool uses_stack(const struct object_insns *n) {
    const char *name = n->insn->mnemonic;
    return n->cs.insn_group(n->handle, n->insn, CS_GRP_CALL) ||
           n->cs.insn_group(n->handle, n->insn, CS_GRP_RET) || !strncmp(name, "push", 4) ||
           (!strncmp(name, "pop", 3) && strncmp(name, "popcnt", 6) != 0) || !strncmp(name, "leave", 5);
}

bool object_insns_access(struct object_insns *n, struct bytes code, uint64_t address,
                         struct object_access *out) {
    enum { GUARD_AT = 0x28 };
    const uint8_t *at = code.data;
    size_t size = code.size;
    uint64_t next = address;
    *out = (struct object_access){.base = -1};
    if (!n->x86 || !n->wide || !n->cs.disasm_iter(n->handle, &at, &size, &next, n->insn))
        return false;
    out->stack = uses_stack(n);
    if (out->stack)
        return true;
    const cs_x86 *x = &n->insn->detail->x86;
    if (n->insn->id == X86_INS_LEA || n->insn->id == X86_INS_NOP)
        return false;
    for (unsigned i = 0; i < x->op_count; i++) {
        const x86_op_mem *mem = &x->operands[i].mem;
        if (x->operands[i].type != X86_OP_MEM)
            continue;
        out->canary = mem->segment == X86_REG_FS && mem->base == X86_REG_INVALID && mem->disp == GUARD_AT;
        out->has_address = mem->base == X86_REG_RIP;
        out->address = out->has_address ? next + (uint64_t)mem->disp : 0;
        out->base = dwarf_number(mem->base);
        out->offset = mem->disp;
        return out->canary || (mem->segment == X86_REG_INVALID && (out->has_address || out->base >= 0));
    }
    return false;
}
