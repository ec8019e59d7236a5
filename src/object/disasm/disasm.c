/* SPDX-License-Identifier: Apache-2.0 */
#include "object/disasm/disasm.h"

#include <stdlib.h>

#include "base/library.h"
#include "object/disasm/disasm_internal.h"

bool disasm_supported(void) {
    return true;
}

static bool open_capstone(struct disasm *d, struct err *err) {
    static const struct {
        cs_arch arch;
        cs_mode mode;
    } as[] = {[DISASM_X86_64] = {CS_ARCH_X86, CS_MODE_64},
              [DISASM_I386] = {CS_ARCH_X86, CS_MODE_32},
              [DISASM_ARM64] = {CS_ARCH_ARM64, CS_MODE_ARM}};
    if (!capstone_load(&d->cs, err))
        return false;
    if (d->cs.open(as[d->o.arch].arch, as[d->o.arch].mode, &d->handle) != CS_ERR_OK)
        return err_memory(err, "instructions");
    d->cs.option(d->handle, CS_OPT_DETAIL, CS_OPT_ON);
    if (d->o.arch != DISASM_ARM64)
        d->cs.option(d->handle, CS_OPT_SYNTAX, d->o.intel ? CS_OPT_SYNTAX_INTEL : CS_OPT_SYNTAX_ATT);
    d->insn = d->cs.malloc(d->handle);
    return d->insn || err_memory(err, "instructions");
}

struct disasm *disasm_new(const struct disasm_options *options, struct err *err) {
    struct disasm *d = calloc(1, sizeof *d);
    if (!d) {
        err_memory(err, "instructions");
        return NULL;
    }
    d->o = *options;
    if (open_capstone(d, err))
        return d;
    disasm_free(d);
    return NULL;
}

void disasm_free(struct disasm *d) {
    if (!d)
        return;
    if (d->insn)
        d->cs.free(d->insn, 1);
    if (d->handle)
        d->cs.close(&d->handle);
    library_unload(d->cs.library);
    free(d);
}

static bool in_group(const struct disasm *d, unsigned group) {
    return d->cs.insn_group(d->handle, d->insn, group);
}

/* Where a direct jump or call leads. */
static bool find_target(const struct disasm *d, uint64_t *target) {
    if (d->o.arch == DISASM_ARM64) {
        const cs_arm64 *a = &d->insn->detail->arm64;
        const cs_arm64_op *last = a->op_count ? &a->operands[a->op_count - 1] : NULL;
        *target = last ? (uint64_t)last->imm : 0;
        return last && last->type == ARM64_OP_IMM;
    }
    const cs_x86 *x = &d->insn->detail->x86;
    *target = x->op_count ? (uint64_t)x->operands[0].imm : 0;
    return x->op_count == 1 && x->operands[0].type == X86_OP_IMM;
}

static void classify(const struct disasm *d, struct disasm_instruction *out) {
    out->is_return = in_group(d, CS_GRP_RET) || in_group(d, CS_GRP_IRET);
    out->is_call = !out->is_return && in_group(d, CS_GRP_CALL);
    out->is_jump = !out->is_return && !out->is_call && in_group(d, CS_GRP_JUMP);
    if (out->is_call || out->is_jump)
        out->has_target = find_target(d, &out->target);
}

bool disasm_function(struct disasm *d, struct bytes code, uint64_t address, struct disasm_list *list,
                     struct err *err) {
    const uint8_t *at = code.data;
    size_t left = code.size;
    while (left) {
        struct disasm_instruction *i = vec_push(&list->instructions);
        if (!i)
            return err_memory(err, "instructions");
        i->bytes = at;
        i->address = address;
        if (d->cs.disasm_iter(d->handle, &at, &left, &address, d->insn)) {
            i->length = (uint8_t)d->insn->size;
            classify(d, i);
            i->text = *d->insn->op_str
                          ? arena_printf(&list->texts, "%-6s %s", d->insn->mnemonic, d->insn->op_str)
                          : arena_printf(&list->texts, "%s", d->insn->mnemonic);
        } else {
            size_t step = d->o.arch == DISASM_ARM64 && left >= 4 ? 4 : 1;
            i->length = (uint8_t)step;
            i->unknown = true;
            i->text = "(bad)";
            list->unknown++;
            at += step, left -= step, address += step;
        }
        if (!i->text) {
            list->instructions.count--;
            return err_memory(err, "instructions");
        }
    }
    return true;
}
