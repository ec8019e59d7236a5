/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The outer form of an x86 instruction: prefixes, opcode, ModRM, displacement, immediate, and so its length,
 * which is known of instructions too that nobody here can name. Source: Intel SDM volume 2, chapter 2 and
 * appendix A; AMD64 APM volume 3, appendix A (XOP).
 */
#ifndef SONDE_OBJECT_DISASM_X86_X86_CODE_H
#define SONDE_OBJECT_DISASM_X86_X86_CODE_H

#include "base/bytes.h"

enum x86_encoding { X86_LEGACY, X86_VEX, X86_EVEX, X86_XOP };

enum { X86_MAX_LENGTH = 15 };

struct x86_code {
    uint8_t length; /* bytes in all, at most X86_MAX_LENGTH */
    uint8_t prefix_count;
    uint8_t prefixes[X86_MAX_LENGTH]; /* legacy ones, in order */
    uint8_t rex;                      /* 0: none; of VEX and EVEX what they carry of it */
    enum x86_encoding encoding;
    uint8_t map; /* 0: one byte, 1: 0f, 2: 0f38, 3: 0f3a, others as VEX, EVEX and XOP number them */
    uint8_t opcode;
    uint8_t pp;                 /* VEX, EVEX, XOP: 0: none, 1: 66, 2: f3, 3: f2 */
    uint8_t vvvv;               /* likewise: the register, 0 to 15 */
    uint8_t vector;             /* likewise: L: 0: 128 bits, 1: 256, 2: 512 */
    uint8_t evex_high;          /* EVEX: 1: R', 2: V', which are bits 4 of registers' numbers */
    uint8_t evex_last;          /* EVEX: the byte with z, L'L, b, V', aaa */
    bool w;                     /* REX.W, VEX.W... */
    bool wide;                  /* 64-bit code */
    bool size16, address_small; /* 66 and 67 are among the prefixes */
    bool has_modrm, has_sib;
    uint8_t modrm, sib;
    uint8_t disp_size, imm_size; /* bytes; ENTER's and far pointers' two parts in one */
    uint8_t disp_at, imm_at;     /* from the start */
};

/* The first instruction of `code`; false: cut off, longer than 15 bytes, or its opcode is undefined. */
bool x86_code_read(struct bytes code, bool wide, struct x86_code *out);

/* CALL and JMP through a register or memory; near ones have an even `reg`. */
bool x86_is_indirect(const struct x86_code *c);
/* The segment register that a prefix names for memory operands; NULL: none. */
const char *x86_segment(const struct x86_code *c);

static inline unsigned x86_code_mod(const struct x86_code *c) {
    return c->modrm >> 6;
}
/* The field `reg`, which is part of the opcode in groups. */
static inline unsigned x86_code_reg(const struct x86_code *c) {
    return c->modrm >> 3 & 7;
}
static inline bool x86_code_has_memory(const struct x86_code *c) {
    return c->has_modrm && x86_code_mod(c) != 3;
}

#endif
