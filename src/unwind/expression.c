/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/expression.h"

#include "base/cursor.h"
#include "unwind/memory.h"

enum {
    OP_ADDR = 0x03,
    OP_DEREF = 0x06,
    OP_CONST1U = 0x08,
    OP_CONST1S = 0x09,
    OP_CONST2U = 0x0a,
    OP_CONST2S = 0x0b,
    OP_CONST4U = 0x0c,
    OP_CONST4S = 0x0d,
    OP_CONST8U = 0x0e,
    OP_CONST8S = 0x0f,
    OP_CONSTU = 0x10,
    OP_CONSTS = 0x11,
    OP_DUP = 0x12,
    OP_DROP = 0x13,
    OP_OVER = 0x14,
    OP_PICK = 0x15,
    OP_SWAP = 0x16,
    OP_ROT = 0x17,
    OP_ABS = 0x19,
    OP_AND = 0x1a,
    OP_DIV = 0x1b,
    OP_MINUS = 0x1c,
    OP_MOD = 0x1d,
    OP_MUL = 0x1e,
    OP_NEG = 0x1f,
    OP_NOT = 0x20,
    OP_OR = 0x21,
    OP_PLUS = 0x22,
    OP_PLUS_UCONST = 0x23,
    OP_SHL = 0x24,
    OP_SHR = 0x25,
    OP_SHRA = 0x26,
    OP_XOR = 0x27,
    OP_BRA = 0x28,
    OP_EQ = 0x29,
    OP_GE = 0x2a,
    OP_GT = 0x2b,
    OP_LE = 0x2c,
    OP_LT = 0x2d,
    OP_NE = 0x2e,
    OP_SKIP = 0x2f,
    OP_LIT0 = 0x30,
    OP_LIT31 = 0x4f,
    OP_BREG0 = 0x70,
    OP_BREG31 = 0x8f,
    OP_BREGX = 0x92,
    OP_DEREF_SIZE = 0x94,
    OP_NOP = 0x96,
};

enum { DEPTH_MAX = 64, OPERATIONS_MAX = 1000 };

struct machine {
    const struct unwind_place *place;
    const struct unwind_regs *regs;
    struct cursor c;
    uint64_t stack[DEPTH_MAX];
    unsigned depth;
    enum unwind_result result; /* UNWIND_CALLER: all is well so far */
};

static void fail(struct machine *m, enum unwind_result why) {
    if (m->result == UNWIND_CALLER)
        m->result = why;
}

static void push(struct machine *m, uint64_t v) {
    if (m->depth == DEPTH_MAX)
        fail(m, UNWIND_BROKEN);
    else
        m->stack[m->depth++] = m->place->cpu->word == 4 ? (uint32_t)v : v;
}

static uint64_t pop(struct machine *m) {
    if (m->depth)
        return m->stack[--m->depth];
    fail(m, UNWIND_BROKEN);
    return 0;
}

static void pick(struct machine *m, unsigned below) {
    if (below < m->depth)
        push(m, m->stack[m->depth - 1 - below]);
    else
        fail(m, UNWIND_BROKEN);
}

/* The stack is the only memory there is. */
static void load(struct machine *m, unsigned size) {
    uint64_t v = 0, address = pop(m);
    enum unwind_result r = size == 1 || size == 2 || size == 4 || size == 8
                               ? unwind_read(m->place->stack, address, size, &v)
                               : UNWIND_BROKEN;
    if (r != UNWIND_CALLER)
        fail(m, r);
    push(m, v);
}

static void push_register(struct machine *m, uint64_t column, int64_t offset) {
    unsigned slot = unwind_cpu_slot(m->place->cpu, column);
    if (slot == UNWIND_NO_SLOT || !unwind_regs_known(m->regs, slot))
        fail(m, UNWIND_LOST);
    else
        push(m, m->regs->value[slot] + (uint64_t)offset);
}

static void jump(struct machine *m, int16_t by) {
    size_t at = cursor_pos(&m->c), size = at + cursor_left(&m->c);
    if (by < 0 ? (size_t)-by > at : (size_t)by > size - at)
        fail(m, UNWIND_BROKEN);
    else
        m->c.at += by;
}

static uint64_t number(struct machine *m, unsigned op) {
    struct cursor *c = &m->c;
    switch (op) {
    case OP_CONST1U:
        return cursor_u8(c);
    case OP_CONST1S:
        return (uint64_t)(int8_t)cursor_u8(c);
    case OP_CONST2U:
        return cursor_u16(c);
    case OP_CONST2S:
        return (uint64_t)(int16_t)cursor_u16(c);
    case OP_CONST4U:
        return cursor_u32(c);
    case OP_CONST4S:
        return (uint64_t)(int32_t)cursor_u32(c);
    case OP_CONSTU:
        return cursor_uleb(c);
    case OP_CONSTS:
        return (uint64_t)cursor_sleb(c);
    default:
        return cursor_u64(c);
    }
}

static int64_t as_signed(const struct machine *m, uint64_t v) {
    return m->place->cpu->word == 4 ? (int32_t)v : (int64_t)v;
}

/* `a` below `b` on the stack. Comparisons and division are of signed numbers (DWARF 5, 2.5.1.4 and .5). */
static uint64_t binary(struct machine *m, unsigned op, uint64_t a, uint64_t b) {
    int64_t x = as_signed(m, a), y = as_signed(m, b);
    switch (op) {
    case OP_AND:
        return a & b;
    case OP_DIV:
        if (!b || (y == -1 && x == INT64_MIN))
            break;
        return (uint64_t)(x / y);
    case OP_MOD:
        if (!b)
            break;
        return a % b;
    case OP_MINUS:
        return a - b;
    case OP_MUL:
        return a * b;
    case OP_OR:
        return a | b;
    case OP_PLUS:
        return a + b;
    case OP_SHL:
        return b < 64 ? a << b : 0;
    case OP_SHR:
        return b < 64 ? a >> b : 0;
    case OP_SHRA:
        return (uint64_t)(x >> (b < 63 ? b : 63));
    case OP_XOR:
        return a ^ b;
    case OP_EQ:
        return x == y;
    case OP_GE:
        return x >= y;
    case OP_GT:
        return x > y;
    case OP_LE:
        return x <= y;
    case OP_LT:
        return x < y;
    case OP_NE:
        return x != y;
    }
    fail(m, UNWIND_BROKEN);
    return 0;
}

static void shuffle(struct machine *m, unsigned op) {
    uint64_t a = pop(m), b = pop(m), c;
    if (op == OP_SWAP) {
        push(m, a);
        push(m, b);
        return;
    }
    c = pop(m);
    push(m, a);
    push(m, c);
    push(m, b);
}

static void operate(struct machine *m, unsigned op) {
    uint64_t a;
    switch (op) {
    case OP_ADDR:
        a = m->place->cpu->word == 8 ? cursor_u64(&m->c) : cursor_u32(&m->c);
        push(m, a + m->place->bias);
        return;
    case OP_DEREF:
        load(m, m->place->cpu->word);
        return;
    case OP_DEREF_SIZE:
        load(m, cursor_u8(&m->c));
        return;
    case OP_DUP:
        pick(m, 0);
        return;
    case OP_DROP:
        pop(m);
        return;
    case OP_OVER:
        pick(m, 1);
        return;
    case OP_PICK:
        pick(m, cursor_u8(&m->c));
        return;
    case OP_SWAP:
    case OP_ROT:
        shuffle(m, op);
        return;
    case OP_ABS:
        a = pop(m);
        push(m, as_signed(m, a) < 0 ? -a : a);
        return;
    case OP_NEG:
        push(m, -pop(m));
        return;
    case OP_NOT:
        push(m, ~pop(m));
        return;
    case OP_PLUS_UCONST:
        a = pop(m);
        push(m, a + cursor_uleb(&m->c));
        return;
    case OP_BRA:
        a = cursor_u16(&m->c);
        if (pop(m))
            jump(m, (int16_t)a);
        return;
    case OP_SKIP:
        jump(m, (int16_t)cursor_u16(&m->c));
        return;
    case OP_BREGX:
        a = cursor_uleb(&m->c);
        push_register(m, a, cursor_sleb(&m->c));
        return;
    case OP_NOP:
        return;
    default:
        a = pop(m);
        push(m, binary(m, op, pop(m), a));
    }
}

enum unwind_result unwind_expression(const struct unwind_place *place, const struct unwind_regs *regs,
                                     struct bytes e, const uint64_t *first, uint64_t *out) {
    struct machine m;
    m.place = place;
    m.regs = regs;
    m.c = cursor_make(e, place->swap);
    m.depth = 0;
    m.result = UNWIND_CALLER;
    if (first)
        push(&m, *first);
    for (unsigned n = 0; cursor_left(&m.c) && m.result == UNWIND_CALLER; n++) {
        unsigned op = cursor_u8(&m.c);
        if (n == OPERATIONS_MAX)
            return UNWIND_BROKEN;
        if (op >= OP_LIT0 && op <= OP_LIT31)
            push(&m, op - OP_LIT0);
        else if (op >= OP_BREG0 && op <= OP_BREG31)
            push_register(&m, op - OP_BREG0, cursor_sleb(&m.c));
        else if (op >= OP_CONST1U && op <= OP_CONSTS)
            push(&m, number(&m, op));
        else
            operate(&m, op);
    }
    if (!cursor_ok(&m.c))
        fail(&m, UNWIND_BROKEN);
    *out = pop(&m);
    return m.result;
}
