/* SPDX-License-Identifier: Apache-2.0 */
/* Rows: the programs of CIEs and FDEs (DWARF 5, 6.4.2 and 6.4.3; GNU and vendor opcodes as GCC's and Arm's
 * documents have them). */
#include "object/dwarf/cfi_internal.h"

enum {
    CFA_NOP = 0x00,
    CFA_SET_LOC = 0x01,
    CFA_ADVANCE_LOC1 = 0x02,
    CFA_ADVANCE_LOC2 = 0x03,
    CFA_ADVANCE_LOC4 = 0x04,
    CFA_OFFSET_EXTENDED = 0x05,
    CFA_RESTORE_EXTENDED = 0x06,
    CFA_UNDEFINED = 0x07,
    CFA_SAME_VALUE = 0x08,
    CFA_REGISTER = 0x09,
    CFA_REMEMBER_STATE = 0x0a,
    CFA_RESTORE_STATE = 0x0b,
    CFA_DEF_CFA = 0x0c,
    CFA_DEF_CFA_REGISTER = 0x0d,
    CFA_DEF_CFA_OFFSET = 0x0e,
    CFA_DEF_CFA_EXPRESSION = 0x0f,
    CFA_EXPRESSION = 0x10,
    CFA_OFFSET_EXTENDED_SF = 0x11,
    CFA_DEF_CFA_SF = 0x12,
    CFA_DEF_CFA_OFFSET_SF = 0x13,
    CFA_VAL_OFFSET = 0x14,
    CFA_VAL_OFFSET_SF = 0x15,
    CFA_VAL_EXPRESSION = 0x16,
    CFA_MIPS_ADVANCE_LOC8 = 0x1d,
    CFA_AARCH64_NEGATE_RA_STATE_WITH_PC = 0x2c,
    CFA_GNU_WINDOW_SAVE = 0x2d, /* AArch64: the return address is signed from here on, or no longer */
    CFA_GNU_ARGS_SIZE = 0x2e,
    CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
    CFA_PRIMARY = 0xc0, /* opcodes with an operand in their low bits */
    CFA_ADVANCE_LOC = 0x40,
    CFA_OFFSET = 0x80,
    CFA_RESTORE = 0xc0,
    CFA_LOW = 0x3f,
};

/* Compilers nest them once or twice. */
enum { STATES_MAX = 8 };

struct state {
    uint32_t cfa_register;
    struct object_cfi_rule cfa;
    struct object_cfi_rule rules[OBJECT_CFI_COLUMNS];
};

struct machine {
    const struct object_cfi *table;
    const struct object_cfi_range *range;
    object_vaddr want; /* stop at the row of this address */
    object_vaddr at, next;
    struct state now;
    const struct state *initial; /* after the CIE's program; NULL while that runs */
    struct state kept[STATES_MAX];
    unsigned depth;
    bool broken;
};

static void set(struct machine *m, uint64_t column, unsigned kind, int64_t offset) {
    if (column < OBJECT_CFI_COLUMNS)
        m->now.rules[column] = (struct object_cfi_rule){.kind = (uint8_t)kind, .offset = offset};
}

static void set_expression(struct machine *m, uint64_t column, unsigned kind, struct cursor *c) {
    struct bytes e = cursor_bytes(c, cursor_uleb(c));
    if (column < OBJECT_CFI_COLUMNS && e.size <= UINT32_MAX)
        m->now.rules[column] =
            (struct object_cfi_rule){.kind = (uint8_t)kind, .size = (uint32_t)e.size, .expression = e.data};
}

static void restore(struct machine *m, uint64_t column) {
    m->broken |= !m->initial;
    if (m->initial && column < OBJECT_CFI_COLUMNS)
        m->now.rules[column] = m->initial->rules[column];
}

static void define_cfa(struct machine *m, uint64_t reg, int64_t offset) {
    m->broken |= reg >= OBJECT_CFI_COLUMNS;
    m->now.cfa_register = (uint32_t)reg;
    m->now.cfa = (struct object_cfi_rule){.kind = OBJECT_CFI_IS, .offset = offset};
}

static void keep(struct machine *m) {
    if (m->depth == STATES_MAX)
        m->broken = true;
    else
        m->kept[m->depth++] = m->now;
}

static void take_back(struct machine *m) {
    if (m->depth)
        m->now = m->kept[--m->depth];
    else
        m->broken = true;
}

/* The next row begins at `to`. False: the wanted one ends there. */
static bool advance(struct machine *m, object_vaddr to) {
    m->next = to;
    if (to > m->want || !m->initial)
        return false;
    m->at = to;
    return true;
}

static int64_t factored(const struct machine *m, uint64_t n) {
    return (int64_t)(n * (uint64_t)m->range->data_align);
}

/* An opcode that says how a register was saved. False: it is none of these. */
static bool set_register(struct machine *m, unsigned op, struct cursor *c) {
    uint64_t column = cursor_uleb(c); /* the first operand of each */
    switch (op) {
    case CFA_OFFSET_EXTENDED:
        set(m, column, OBJECT_CFI_SAVED, factored(m, cursor_uleb(c)));
        break;
    case CFA_OFFSET_EXTENDED_SF:
        set(m, column, OBJECT_CFI_SAVED, factored(m, (uint64_t)cursor_sleb(c)));
        break;
    case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
        set(m, column, OBJECT_CFI_SAVED, factored(m, -cursor_uleb(c)));
        break;
    case CFA_VAL_OFFSET:
        set(m, column, OBJECT_CFI_IS, factored(m, cursor_uleb(c)));
        break;
    case CFA_VAL_OFFSET_SF:
        set(m, column, OBJECT_CFI_IS, factored(m, (uint64_t)cursor_sleb(c)));
        break;
    case CFA_RESTORE_EXTENDED:
        restore(m, column);
        break;
    case CFA_UNDEFINED:
        set(m, column, OBJECT_CFI_UNDEFINED, 0);
        break;
    case CFA_SAME_VALUE:
        set(m, column, OBJECT_CFI_SAME, 0);
        break;
    case CFA_REGISTER:
        set(m, column, OBJECT_CFI_REGISTER, (int64_t)cursor_uleb(c));
        break;
    case CFA_EXPRESSION:
        set_expression(m, column, OBJECT_CFI_EXPRESSION, c);
        break;
    case CFA_VAL_EXPRESSION:
        set_expression(m, column, OBJECT_CFI_IS_EXPRESSION, c);
        break;
    default:
        return false;
    }
    return true;
}

/* An opcode that says where the frame's CFA is. False: it is none of these, and nothing was read. */
static bool set_cfa(struct machine *m, unsigned op, struct cursor *c) {
    uint64_t column;
    switch (op) {
    case CFA_DEF_CFA:
        column = cursor_uleb(c);
        define_cfa(m, column, (int64_t)cursor_uleb(c));
        break;
    case CFA_DEF_CFA_SF:
        column = cursor_uleb(c);
        define_cfa(m, column, factored(m, (uint64_t)cursor_sleb(c)));
        break;
    case CFA_DEF_CFA_REGISTER:
        m->broken |= m->now.cfa.kind != OBJECT_CFI_IS;
        define_cfa(m, cursor_uleb(c), m->now.cfa.offset);
        break;
    case CFA_DEF_CFA_OFFSET:
        m->broken |= m->now.cfa.kind != OBJECT_CFI_IS;
        m->now.cfa.offset = (int64_t)cursor_uleb(c);
        break;
    case CFA_DEF_CFA_OFFSET_SF:
        m->broken |= m->now.cfa.kind != OBJECT_CFI_IS;
        m->now.cfa.offset = factored(m, (uint64_t)cursor_sleb(c));
        break;
    case CFA_DEF_CFA_EXPRESSION: {
        struct bytes e = cursor_bytes(c, cursor_uleb(c));
        m->now.cfa = (struct object_cfi_rule){
            .kind = OBJECT_CFI_IS_EXPRESSION, .size = (uint32_t)e.size, .expression = e.data};
        break;
    }
    default:
        return false;
    }
    return true;
}

/* One opcode without an operand in its low bits. False: the end of the row wanted. */
static bool extended(struct machine *m, unsigned op, struct cursor *c, object_vaddr addr) {
    const uint64_t step = m->range->code_align;
    switch (op) {
    case CFA_NOP:
    case CFA_GNU_WINDOW_SAVE:
    case CFA_AARCH64_NEGATE_RA_STATE_WITH_PC:
        return true;
    case CFA_SET_LOC:
        return advance(m, object_cfi_pointer(m->table, c, m->range->encoding, addr, m->range->start));
    case CFA_ADVANCE_LOC1:
        return advance(m, m->at + cursor_u8(c) * step);
    case CFA_ADVANCE_LOC2:
        return advance(m, m->at + cursor_u16(c) * step);
    case CFA_ADVANCE_LOC4:
        return advance(m, m->at + cursor_u32(c) * step);
    case CFA_MIPS_ADVANCE_LOC8:
        return advance(m, m->at + cursor_u64(c) * step);
    case CFA_REMEMBER_STATE:
        keep(m);
        return true;
    case CFA_RESTORE_STATE:
        take_back(m);
        return true;
    case CFA_GNU_ARGS_SIZE:
        cursor_uleb(c);
        return true;
    default:
        if (!set_cfa(m, op, c) && !set_register(m, op, c))
            m->broken = true;
        return !m->broken;
    }
}

/* Runs a program up to the wanted row. False: it is broken. */
static bool run(struct machine *m, struct bytes program, object_vaddr addr) {
    struct cursor c = cursor_make(program, m->table->swap);
    bool going = true;
    while (going && cursor_left(&c) && cursor_ok(&c) && !m->broken) {
        unsigned op = cursor_u8(&c), low = op & CFA_LOW;
        switch (op & CFA_PRIMARY) {
        case CFA_ADVANCE_LOC:
            going = advance(m, m->at + low * m->range->code_align);
            break;
        case CFA_OFFSET:
            set(m, low, OBJECT_CFI_SAVED, factored(m, cursor_uleb(&c)));
            break;
        case CFA_RESTORE:
            restore(m, low);
            break;
        default:
            going = extended(m, op, &c, addr);
        }
    }
    return cursor_ok(&c) && !m->broken;
}

bool object_cfi_row(const struct object_cfi *t, const struct object_cfi_range *range, object_vaddr addr,
                    struct object_cfi_row *out) {
    struct machine m;
    struct state initial;
    m.table = t;
    m.range = range;
    m.want = addr;
    m.at = range->start;
    m.next = range->end;
    m.initial = NULL;
    m.depth = 0;
    m.broken = false;
    memset(&m.now, 0, sizeof m.now);
    if (!run(&m, range->initial, 0))
        return false;
    initial = m.now;
    m.initial = &initial;
    m.next = range->end;
    if (!run(&m, range->program, range->program_addr))
        return false;
    out->start = m.at;
    out->end = m.next > addr ? m.next : range->end;
    out->cfa_register = m.now.cfa_register;
    out->cfa = m.now.cfa;
    memcpy(out->rules, m.now.rules, sizeof out->rules);
    return true;
}
