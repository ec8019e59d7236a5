/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/step.h"

#include "format/perfdata/perfdata_sample.h"
#include "unwind/expression.h"
#include "unwind/memory.h"

static inline bool usable(const struct unwind_regs *r, unsigned slot) {
    return slot < UNWIND_SLOTS && unwind_regs_known(r, slot);
}

static inline void put(struct unwind_regs *r, unsigned slot, uint64_t v) {
    r->value[slot] = v;
    r->known |= 1ull << slot;
}

bool unwind_regs_load(const struct unwind_cpu *cpu, const struct perfdata_regs *from,
                      struct unwind_regs *out) {
    out->known = 0;
    for (unsigned slot = 0; slot < cpu->count; slot++) {
        unsigned bit = cpu->bits[slot];
        if (bit == UNWIND_NO_BIT || !(from->mask >> bit & 1))
            continue;
        unsigned index = (unsigned)__builtin_popcountll(from->mask & ((1ull << bit) - 1));
        if (index >= from->values.count)
            continue;
        uint64_t v = perfdata_u64_at(&from->values, index);
        put(out, slot, cpu->word == 4 ? (uint32_t)v : v);
    }
    return usable(out, UNWIND_IP) && usable(out, cpu->sp);
}

/* ---- the usual row ---- */

/* Makes `out` say so in as many bytes. */
static void make_general(struct unwind_row *out) {
    uint8_t kept = out->flags & UNWIND_ROW_SIGNAL;
    memset(out, 0, sizeof *out);
    out->flags = kept | UNWIND_ROW_GENERAL;
}

/* False: the rule is not one of the usual ones. */
static bool add_rule(const struct unwind_cpu *cpu, unsigned column, const struct object_cfi_rule *rule,
                     struct unwind_row *out) {
    unsigned slot = unwind_cpu_slot(cpu, column);
    if (rule->kind == OBJECT_CFI_SAME && slot == cpu->sp) /* and not the CFA */
        return false;
    if (rule->kind == OBJECT_CFI_UNSPECIFIED || rule->kind == OBJECT_CFI_SAME || slot == UNWIND_NO_SLOT)
        return true;
    if (rule->kind == OBJECT_CFI_UNDEFINED) {
        out->lost |= 1ull << slot;
        return true;
    }
    if (rule->kind != OBJECT_CFI_SAVED || out->count == UNWIND_SAVED_MAX || rule->offset < INT16_MIN ||
        rule->offset > INT16_MAX)
        return false;
    out->saved[out->count].slot = (uint8_t)slot;
    out->saved[out->count++].at = (int16_t)rule->offset;
    return true;
}

void unwind_row_make(const struct unwind_cpu *cpu, const struct object_cfi_range *range,
                     const struct object_cfi_row *row, struct unwind_row *out) {
    memset(out, 0, sizeof *out);
    unsigned returns = unwind_cpu_slot(cpu, range->return_column);
    unsigned cfa = row->cfa.kind == OBJECT_CFI_IS ? unwind_cpu_slot(cpu, row->cfa_register) : UNWIND_NO_SLOT;
    if (returns == UNWIND_NO_SLOT) {
        out->flags = UNWIND_ROW_NONE;
        return;
    }
    out->flags = range->signal ? UNWIND_ROW_SIGNAL : 0;
    if (row->rules[range->return_column].kind == OBJECT_CFI_UNDEFINED) {
        out->flags |= UNWIND_ROW_LAST;
        return;
    }
    bool usual = cfa != UNWIND_NO_SLOT && row->cfa.offset == (int32_t)row->cfa.offset;
    for (unsigned i = 0; usual && i < OBJECT_CFI_COLUMNS; i++)
        usual = add_rule(cpu, i, &row->rules[i], out);
    if (!usual) {
        make_general(out);
        return;
    }
    out->cfa_slot = (uint8_t)cfa;
    out->cfa_offset = (int32_t)row->cfa.offset;
    out->return_slot = (uint8_t)returns;
}

/* What every step ends with. A stack grows with every caller; only what was interrupted may not have made a
 * frame yet, and then it has at least another return address. What a signal interrupted may have run on
 * another stack (old_sp 0). */
static enum unwind_result settle(const struct unwind_cpu *cpu, unsigned return_slot, bool exact,
                                 uint64_t old_ip, uint64_t old_sp, struct unwind_regs *regs) {
    uint64_t sp = regs->value[cpu->sp];
    if (!usable(regs, return_slot) || !usable(regs, cpu->sp))
        return UNWIND_LOST;
    put(regs, UNWIND_IP, regs->value[return_slot]);
    if (exact ? sp < old_sp || (sp == old_sp && regs->value[UNWIND_IP] == old_ip) : sp <= old_sp)
        return UNWIND_BROKEN;
    return UNWIND_CALLER;
}

/* Tables go on telling where a register was saved when the function has popped it already, on its way out:
 * below the stack pointer, where nothing is dumped. It has its value back then. */
static bool is_popped(const struct unwind_regs *regs, unsigned slot, unsigned return_slot,
                      enum unwind_result r) {
    return r == UNWIND_BROKEN && slot != return_slot && usable(regs, slot);
}

enum unwind_result unwind_step_row(const struct unwind_cpu *cpu, const struct unwind_row *row,
                                   const struct unwind_stack *stack, bool exact, struct unwind_regs *regs) {
    uint64_t ip = regs->value[UNWIND_IP], sp = regs->value[cpu->sp];
    if (__builtin_expect(row->flags & (UNWIND_ROW_LAST | UNWIND_ROW_NONE | UNWIND_ROW_GENERAL), 0))
        return row->flags & UNWIND_ROW_LAST ? UNWIND_COMPLETE : UNWIND_LOST;
    if (!usable(regs, row->cfa_slot))
        return UNWIND_LOST;
    uint64_t cfa = regs->value[row->cfa_slot] + (uint64_t)(int64_t)row->cfa_offset;
    if (cpu->word == 4)
        cfa = (uint32_t)cfa;
    put(regs, cpu->sp, cfa - cpu->cfa_above_sp);
    for (unsigned i = 0; i < row->count; i++) {
        const struct unwind_saved *s = &row->saved[i];
        uint64_t v;
        enum unwind_result r = unwind_read(stack, cfa + (uint64_t)(int64_t)s->at, cpu->word, &v);
        if (__builtin_expect(r == UNWIND_CALLER, 1))
            put(regs, s->slot, v);
        else if (exact && is_popped(regs, s->slot, row->return_slot, r))
            continue;
        else if (s->slot == row->return_slot || s->slot == cpu->sp)
            return r;
        else /* it may not be needed */
            regs->known &= ~(1ull << s->slot);
    }
    regs->known &= ~row->lost;
    bool signal = row->flags & UNWIND_ROW_SIGNAL;
    return settle(cpu, row->return_slot, exact || signal, ip, signal ? 0 : sp, regs);
}

/* ---- any row ---- */

/* The caller's value of a register. UNWIND_LOST: nobody knows it. */
static enum unwind_result value_of(const struct unwind_place *p, const struct unwind_regs *regs,
                                   const struct object_cfi_rule *rule, unsigned slot, uint64_t cfa,
                                   uint64_t *out) {
    struct bytes e = {rule->expression, rule->size};
    enum unwind_result r;
    unsigned other;
    switch (rule->kind) {
    case OBJECT_CFI_UNSPECIFIED:
    case OBJECT_CFI_SAME:
        *out = regs->value[slot];
        return usable(regs, slot) ? UNWIND_CALLER : UNWIND_LOST;
    case OBJECT_CFI_SAVED:
        return unwind_read(p->stack, cfa + (uint64_t)rule->offset, p->cpu->word, out);
    case OBJECT_CFI_IS:
        *out = cfa + (uint64_t)rule->offset;
        return UNWIND_CALLER;
    case OBJECT_CFI_REGISTER:
        other = unwind_cpu_slot(p->cpu, (uint64_t)rule->offset);
        if (!usable(regs, other))
            return UNWIND_LOST;
        *out = regs->value[other];
        return UNWIND_CALLER;
    case OBJECT_CFI_EXPRESSION:
        r = unwind_expression(p, regs, e, &cfa, out);
        return r == UNWIND_CALLER ? unwind_read(p->stack, *out, p->cpu->word, out) : r;
    case OBJECT_CFI_IS_EXPRESSION:
        return unwind_expression(p, regs, e, &cfa, out);
    default:
        return UNWIND_LOST;
    }
}

static enum unwind_result cfa_of(const struct unwind_place *p, const struct object_cfi_row *row,
                                 const struct unwind_regs *regs, uint64_t *cfa) {
    struct bytes e = {row->cfa.expression, row->cfa.size};
    unsigned slot;
    enum unwind_result r = UNWIND_CALLER;
    switch (row->cfa.kind) {
    case OBJECT_CFI_IS:
        slot = unwind_cpu_slot(p->cpu, row->cfa_register);
        if (!usable(regs, slot))
            return UNWIND_LOST;
        *cfa = regs->value[slot] + (uint64_t)row->cfa.offset;
        break;
    case OBJECT_CFI_IS_EXPRESSION:
        r = unwind_expression(p, regs, e, NULL, cfa);
        break;
    default:
        return UNWIND_LOST;
    }
    if (p->cpu->word == 4)
        *cfa = (uint32_t)*cfa;
    return r;
}

enum unwind_result unwind_step_general(const struct unwind_place *place, const struct object_cfi_range *range,
                                       const struct object_cfi_row *row, bool exact,
                                       struct unwind_regs *regs) {
    const struct unwind_cpu *cpu = place->cpu;
    const struct unwind_regs old = *regs;
    unsigned returns = unwind_cpu_slot(cpu, range->return_column);
    uint64_t cfa = 0;
    if (row->rules[range->return_column].kind == OBJECT_CFI_UNDEFINED)
        return UNWIND_COMPLETE;
    enum unwind_result r = returns == UNWIND_NO_SLOT ? UNWIND_LOST : cfa_of(place, row, &old, &cfa);
    if (r != UNWIND_CALLER)
        return r;
    put(regs, cpu->sp, cfa - cpu->cfa_above_sp);
    for (unsigned i = 0; i < OBJECT_CFI_COLUMNS; i++) {
        unsigned slot = unwind_cpu_slot(cpu, i);
        uint64_t v;
        if (slot == UNWIND_NO_SLOT || row->rules[i].kind == OBJECT_CFI_UNSPECIFIED)
            continue;
        r = value_of(place, &old, &row->rules[i], slot, cfa, &v);
        if (r == UNWIND_CALLER)
            put(regs, slot, v);
        else if (exact && is_popped(&old, slot, returns, r))
            continue;
        else if (slot == returns || slot == cpu->sp)
            return r;
        else /* it may not be needed */
            regs->known &= ~(1ull << slot);
    }
    uint64_t sp = range->signal ? 0 : old.value[cpu->sp];
    return settle(cpu, returns, exact || range->signal, old.value[UNWIND_IP], sp, regs);
}

/* ---- without a row ---- */

enum unwind_result unwind_step_frame(const struct unwind_cpu *cpu, const struct unwind_stack *stack,
                                     struct unwind_regs *regs) {
    uint64_t caller, returns, fp = regs->value[cpu->fp], sp = regs->value[cpu->sp];
    uint64_t caller_sp = fp + (uint64_t)(int64_t)cpu->sp_at;
    if (!cpu->return_at || !usable(regs, cpu->fp))
        return UNWIND_LOST;
    if (!fp)
        return UNWIND_COMPLETE;
    if (fp % cpu->word || fp < sp || caller_sp <= sp)
        return UNWIND_LOST;
    enum unwind_result r = unwind_read(stack, fp + (uint64_t)(int64_t)cpu->fp_at, cpu->word, &caller);
    if (r == UNWIND_CALLER)
        r = unwind_read(stack, fp + (uint64_t)(int64_t)cpu->return_at, cpu->word, &returns);
    if (r != UNWIND_CALLER)
        return r;
    /* Of the caller's nothing is asked: it may use the register for something else. */
    regs->known = 0;
    put(regs, UNWIND_IP, returns);
    put(regs, cpu->sp, caller_sp);
    put(regs, cpu->fp, caller);
    return UNWIND_CALLER;
}

enum unwind_result unwind_step_leaf(const struct unwind_cpu *cpu, const struct unwind_stack *stack,
                                    struct unwind_regs *regs) {
    uint64_t sp = regs->value[cpu->sp], returns;
    if (!cpu->return_on_stack) {
        if (!usable(regs, cpu->link) || regs->value[cpu->link] == regs->value[UNWIND_IP])
            return UNWIND_LOST;
        put(regs, UNWIND_IP, regs->value[cpu->link]);
        return UNWIND_CALLER;
    }
    enum unwind_result r = unwind_read(stack, sp, cpu->word, &returns);
    if (r != UNWIND_CALLER)
        return r;
    put(regs, UNWIND_IP, returns);
    put(regs, cpu->sp, sp + cpu->word);
    return UNWIND_CALLER;
}
