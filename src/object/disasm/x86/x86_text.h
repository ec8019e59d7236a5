/* SPDX-License-Identifier: Apache-2.0 */
/* The line that objdump prints for an x86 instruction, made of capstone's and of the bytes: docs/DISASM.md.
 */
#ifndef SONDE_OBJECT_DISASM_X86_X86_TEXT_H
#define SONDE_OBJECT_DISASM_X86_X86_TEXT_H

#include "object/disasm/disasm.h"
#include "object/disasm/text.h"
#include "object/disasm/x86/x86_code.h"
#include "object/disasm/x86/x86_operand.h"

/* What capstone says. */
struct x86_words {
    const char *mnemonic; /* "rep stosq" */
    const char *base; /* the same without prefixes and without the size suffix that AT&T syntax adds: "mov" of
                         "movq" */
    const char *operands;
};

/* An instruction, as the functions that print its parts hand it on. */
struct x86_line {
    const struct disasm_options *o;
    const struct x86_code *c;
    const uint8_t *bytes;
    uint64_t address;
    struct x86_words words;
    struct x86_operands operands;
};

/* False: capstone's words were not understood. */
bool x86_text(struct x86_line *l, struct text *out);

/* Where a direct jump or call leads, and what kind of jump an instruction is (disasm.h). */
void x86_flow(const struct x86_code *c, const uint8_t *bytes, struct disasm_instruction *out);

/* --- Within this folder: parts of a line. */

/* The prefixes that the instruction does not use itself, each with a space behind. */
void x86_prefixes_print(const struct x86_line *l, struct text *out);
/* The mnemonic as objdump spells it. */
void x86_mnemonic_print(const struct x86_line *l, struct text *out);
/* MOVS, CMPS, STOS, LODS, SCAS, INS, OUTS, whose operands are implied. */
bool x86_is_string(const struct x86_code *c);
/* Instructions of the x87 whose operands are registers: their operands, with a space in front. False: none.
 */
bool x86_x87_print(const struct x86_line *l, struct text *out);
/* XCHG %ax,%ax: the NOP with a 66. */
bool x86_is_nop16(const struct x86_code *c);
/* "        # 401126 <main+0x10>" behind operands that are relative to the instruction. */
void x86_comment_print(const struct x86_line *l, struct text *out);
/* PCLMULQDQ, and the name for which halves it multiplies (its immediate): with a `v` in front; NULL: none. */
bool x86_is_multiply(const struct x86_code *c);
const char *x86_multiply_name(uint8_t halves);
/* Jumps and calls to an address in the instruction. */
bool x86_is_relative(const struct x86_code *c);
/* To where. */
uint64_t x86_target(const struct x86_code *c, const uint8_t *bytes, uint64_t address);

#endif
