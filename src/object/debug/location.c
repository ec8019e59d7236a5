/* SPDX-License-Identifier: Apache-2.0 */
#include "object/debug/location.h"

#include "object/debug/dwarf_ops.h"

enum { STACK = 64 };

struct machine {
    const struct object_location_context *context;
    struct object_location *out;
    struct object_chain stack[STACK];
    unsigned depth;
    bool own_frame, is_value;
    unsigned width;  /* of the value, in bytes; 0: whole */
    int in_register; /* the location is a register; OBJECT_NO_REGISTER */
    const char *why;
};

bool object_chain_add(struct object_chain *c, int64_t more) {
    int64_t *last = &c->add[c->count - 1];
    return !__builtin_add_overflow(*last, more, last);
}

bool object_chain_load(struct object_chain *c, int64_t more) {
    if (c->count >= OBJECT_PLACE_HOPS)
        return false;
    c->add[c->count++] = more;
    return true;
}

static bool refuse(struct machine *m, const char *why) {
    m->why = why;
    return false;
}

static bool push(struct machine *m, struct object_chain c) {
    if (m->depth >= STACK)
        return refuse(m, "its description makes no sense");
    m->stack[m->depth++] = c;
    return true;
}

static bool push_register(struct machine *m, uint64_t reg, int64_t add) {
    return reg < INT16_MAX ? push(m, (struct object_chain){(int)reg, false, 1, {add}})
                           : refuse(m, "its description makes no sense");
}

static bool push_number(struct machine *m, uint64_t number) {
    return push(m, (struct object_chain){OBJECT_NO_REGISTER, false, 1, {(int64_t)number}});
}

static struct object_chain *top(struct machine *m) {
    return m->depth ? &m->stack[m->depth - 1] : NULL;
}

static bool is_number(const struct object_chain *c) {
    return c->base == OBJECT_NO_REGISTER && !c->linked && c->count == 1;
}

static bool add(struct machine *m, int64_t more) {
    struct object_chain *c = top(m);
    return c && object_chain_add(c, more) ? true : refuse(m, "its description makes no sense");
}

static bool load(struct machine *m, uint64_t size) {
    struct object_chain *c = top(m);
    if (!c)
        return refuse(m, "its description makes no sense");
    if (size != m->context->address_size)
        return refuse(m, "its value is computed from a part of a word");
    return object_chain_load(c, 0) ? true : refuse(m, "it is too many pointers away");
}

/* Replaces the top two entries by their sum or difference, if one is a number. */
static bool combine(struct machine *m, bool minus) {
    if (m->depth < 2)
        return refuse(m, "its description makes no sense");
    struct object_chain b = m->stack[--m->depth], *a = top(m);
    if (is_number(&b)) {
        uint64_t n = (uint64_t)b.add[0];
        return add(m, (int64_t)(minus ? -n : n));
    }
    if (minus || !is_number(a))
        return refuse(m, "its value is computed from several registers");
    int64_t n = a->add[0];
    *a = b;
    return add(m, n);
}

static bool frame_base(struct machine *m, int64_t offset) {
    const struct object_chain *f = m->context->frame;
    if (!f)
        return refuse(m, "it is not known where the function's frame is");
    m->own_frame = !m->context->frame_is_cfa || offset < 0;
    return push(m, *f) && add(m, offset);
}

static bool pick(struct machine *m, uint64_t from_top) {
    return from_top < m->depth ? push(m, m->stack[m->depth - 1 - from_top])
                               : refuse(m, "its description makes no sense");
}

static bool swap_top(struct machine *m) {
    if (m->depth < 2)
        return refuse(m, "its description makes no sense");
    struct object_chain c = m->stack[m->depth - 1];
    m->stack[m->depth - 1] = m->stack[m->depth - 2];
    m->stack[m->depth - 2] = c;
    return true;
}

static void reset(struct machine *m) {
    m->depth = m->width = 0;
    m->is_value = m->own_frame = false;
    m->in_register = OBJECT_NO_REGISTER;
}

/* What has been found so far becomes a piece; nothing found: an empty one. */
static bool finish(struct machine *m, uint64_t size) {
    struct object_location *out = m->out;
    if (out->count >= OBJECT_PLACE_PIECES)
        return refuse(m, "it is in too many pieces");
    struct object_piece *p = &out->pieces[out->count++];
    *p = (struct object_piece){.size = size, .place.own_frame = m->own_frame};
    if (m->in_register != OBJECT_NO_REGISTER) {
        p->place.kind = OBJECT_PLACE_REGISTER;
        p->place.chain = (struct object_chain){m->in_register, false, 1, {0}};
    } else if (m->depth) {
        p->place.kind = m->is_value ? OBJECT_PLACE_VALUE : OBJECT_PLACE_MEMORY;
        p->place.chain = *top(m);
    } else {
        p->why = "it was optimized out";
    }
    if (p->place.kind == OBJECT_PLACE_VALUE && m->width && size > m->width) {
        p->place.kind = OBJECT_PLACE_NOWHERE;
        p->why = "its value is computed";
    }
    p->place.width = m->width;
    reset(m);
    return true;
}

/* A piece of `size` bytes that cannot be followed does not spoil the others. */
static bool give_up(struct machine *m, uint64_t size) {
    const char *why = m->why;
    reset(m);
    if (!finish(m, size))
        return false;
    m->out->pieces[m->out->count - 1].why = why;
    return true;
}

/* Converts to an integer type: only as many low bytes count as the narrowest type so far has. */
static bool to_integer(struct machine *m, uint64_t size) {
    if (!m->depth || size == OBJECT_OP_NONE || !size || size > 8)
        return refuse(m, "its value is computed");
    m->width = m->width && m->width < size ? m->width : (unsigned)size;
    return true;
}

static bool implicit(struct machine *m, const struct object_op *op) {
    m->is_value = true;
    return op->number <= 8 ? push_number(m, op->number2) : refuse(m, "it is a constant of more than 8 bytes");
}

static bool entry_value(struct machine *m, const struct object_op *op) {
    if (op->number == OBJECT_OP_NONE || !m->context->at_entry)
        return refuse(m, "only its value at the function's entry is known: probe there");
    return push_register(m, op->number, 0);
}

/* Operations that compute with what is on the stack, or name what no expression here can reach. */
static bool rare(struct machine *m, const struct object_op *op) {
    switch (op->atom) {
    case DW_OP_implicit_value:
        return implicit(m, op);
    case DW_OP_entry_value:
    case DW_OP_GNU_entry_value:
        return entry_value(m, op);
    case DW_OP_call_frame_cfa:
        return m->context->cfa ? push(m, *m->context->cfa)
                               : refuse(m, "it is not known where the function's frame is");
    case DW_OP_form_tls_address:
    case DW_OP_GNU_push_tls_address:
        return refuse(m, "each thread has its own (thread-local)");
    case DW_OP_implicit_pointer:
    case DW_OP_GNU_implicit_pointer:
        return refuse(m, "the pointer was optimized out, and only what it points to is left");
    case DW_OP_GNU_parameter_ref:
        return refuse(m, "only its value at the call is known");
    case DW_OP_bit_piece:
        return refuse(m, "it is spread over single bits");
    default:
        return refuse(m, "its value is computed");
    }
}

static bool number_op(struct machine *m, const struct object_op *op) {
    switch (op->atom) {
    case DW_OP_addr:
        return push(m, (struct object_chain){OBJECT_NO_REGISTER, true, 1, {(int64_t)op->number}});
    case DW_OP_deref:
        return load(m, m->context->address_size);
    case DW_OP_deref_size:
        return load(m, op->number);
    case DW_OP_plus:
        return combine(m, false);
    case DW_OP_minus:
        return combine(m, true);
    case DW_OP_plus_uconst:
        return add(m, (int64_t)op->number);
    case DW_OP_dup:
        return pick(m, 0);
    case DW_OP_over:
        return pick(m, 1);
    case DW_OP_pick:
        return pick(m, op->number);
    case DW_OP_drop:
        return m->depth ? (m->depth--, true) : refuse(m, "its description makes no sense");
    case DW_OP_swap:
        return swap_top(m);
    case DW_OP_nop:
        return true;
    default:
        if (op->atom >= DW_OP_const1u && op->atom <= DW_OP_consts)
            return push_number(m, op->number);
        return rare(m, op);
    }
}

static bool step(struct machine *m, const struct object_op *op) {
    bool ends = op->atom == DW_OP_stack_value || op->atom == DW_OP_piece || op->atom == DW_OP_convert ||
                op->atom == DW_OP_GNU_convert;
    if (m->width && !ends) /* it would use bytes that were cut off */
        return refuse(m, "its value is computed");
    if (m->is_value && op->atom != DW_OP_piece) /* DW_OP_stack_value ends an expression, or a piece of it */
        return refuse(m, "its description makes no sense");
    if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
        return push_number(m, op->atom - DW_OP_lit0);
    if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31) {
        m->in_register = op->atom - DW_OP_reg0;
        return true;
    }
    if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
        return push_register(m, op->atom - DW_OP_breg0, (int64_t)op->number);
    switch (op->atom) {
    case DW_OP_regx:
        m->in_register = op->number < INT16_MAX ? (int)op->number : OBJECT_NO_REGISTER;
        return op->number < INT16_MAX || refuse(m, "its description makes no sense");
    case DW_OP_bregx:
        return push_register(m, op->number, (int64_t)op->number2);
    case DW_OP_fbreg:
        return frame_base(m, (int64_t)op->number);
    case DW_OP_stack_value:
        m->is_value = true;
        return m->depth || refuse(m, "its description makes no sense");
    case DW_OP_piece:
        return finish(m, op->number);
    case DW_OP_convert:
    case DW_OP_GNU_convert:
        return to_integer(m, op->number);
    default:
        return number_op(m, op);
    }
}

bool object_location_follow(const struct object_op *ops, size_t count,
                            const struct object_location_context *context, struct object_location *out,
                            const char **why) {
    struct machine m = {.context = context, .out = out, .in_register = OBJECT_NO_REGISTER};
    *out = (struct object_location){.count = 0};
    *why = NULL;
    if (!count) {
        *why = "it was optimized out";
        return false;
    }
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        ok = step(&m, &ops[i]);
        if (ok)
            continue;
        while (i < count && ops[i].atom != DW_OP_piece)
            i++;
        ok = i < count && give_up(&m, ops[i].number);
    }
    if (ok && (!out->count || m.depth || m.in_register != OBJECT_NO_REGISTER))
        ok = out->count ? refuse(&m, "its description makes no sense") : finish(&m, 0);
    *why = m.why;
    return ok;
}
