/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions with an EVEX prefix, all of them, and those with VEX that capstone 4 does not know: from a
 * table of our own (Intel SDM volume 2, chapters 2.7 and 3 to 5).
 */
#ifndef SONDE_OBJECT_DISASM_X86_X86_VECTOR_H
#define SONDE_OBJECT_DISASM_X86_X86_VECTOR_H

#include "object/disasm/x86/x86_text.h"

/* How an operand in memory is sized: what an 8-bit displacement is multiplied with, and how wide the register
 * is that stands in its place. */
enum x86_tuple {
    TUPLE_FULL,    /* the vector, or one element that is broadcast */
    TUPLE_HALF,    /* half of it, or one element */
    TUPLE_FULLMEM, /* as they say, without a broadcast */
    TUPLE_HALFMEM,
    TUPLE_QUARTER,
    TUPLE_EIGHTH,
    TUPLE_DUP, /* VMOVDDUP's */
    TUPLE_1,   /* bytes */
    TUPLE_2,
    TUPLE_4,
    TUPLE_8,
    TUPLE_16,
    TUPLE_32,
    TUPLE_W, /* 4 or 8, by W */
};

enum {
    PP_PS = 4, /* none: single, 66: double precision, with W 0 and 1; `%` in the name is ps or pd */
    PP_SS = 5, /* f3 and f2, likewise: ss or sd */
    W_ANY = 2,
    W_DQ = 3, /* any; `$` in the name is d or q */
    W_BW = 4, /* likewise b or w */
    REG_ANY = 8,
};

enum x86_vector_flag {
    ROUNDS = 1,          /* registers only: EVEX.b has a rounding mode, and no exceptions */
    NO_EXCEPTIONS = 2,   /* likewise without the mode */
    ALSO_VEX = 4,        /* exists with VEX, and capstone does not know it */
    ONLY_VEX = 8,        /* with VEX alone */
    SIZE_XY = 16,        /* AT&T: a suffix tells the size of an operand in memory: x, y */
    SIZE_XYZ = 32,       /* likewise x, y, z */
    FLOAT_COMPARES = 64, /* the immediate is part of the name */
    INT_COMPARES = 128,
    REGS = 256,         /* no operand in memory */
    MEM = 512,          /* one */
    WIDE = 1024,        /* the register that stands for the element in memory is a whole vector */
    ONLY_LEGACY = 2048, /* with neither VEX nor EVEX */
    NO_SIZE = 4096,     /* Intel: no size in front of the memory */
};

struct x86_vector_row {
    uint8_t map, opcode, pp, w, reg;
    /* Operands in Intel's order. V: register, H: vvvv, W: register or memory; v, h, w: xmm, whatever the
     * length; Y: V at half its width; K, Q, k: the three as masks; G, E: register, and register or memory,
     * general ones of W's size, g, e: of 32 bits; X: memory with a vector of indexes; I: the immediate */
    char form[5];
    uint8_t tuple;
    uint16_t flags;
    char name[19];
};

/* NULL: none. */
const struct x86_vector_row *x86_vector_find(const struct x86_code *c);
extern const struct x86_vector_row x86_vector_rows[]; /* sorted by map and opcode */
extern const size_t x86_vector_row_count;

/* The line; false: not one of the table. */
bool x86_vector_text(const struct x86_line *l, struct text *out);

#endif
