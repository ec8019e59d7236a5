/* SPDX-License-Identifier: Apache-2.0 */
/* The operands of an x86 instruction: read from capstone's text, mended by the bytes, printed as objdump
 * does. */
#ifndef SONDE_OBJECT_DISASM_X86_X86_OPERAND_H
#define SONDE_OBJECT_DISASM_X86_X86_OPERAND_H

#include "object/disasm/text.h"
#include "object/disasm/x86/x86_code.h"

enum x86_operand_kind {
    X86_NAME,      /* a register or anything else that stays as it is */
    X86_IMMEDIATE, /* `value` */
    X86_MEMORY,
    X86_NUMBER, /* Intel: an immediate, or a jump's target */
};

struct x86_operand {
    enum x86_operand_kind kind;
    bool indirect;                    /* AT&T: after a star */
    struct span name;                 /* X86_NAME */
    struct span masks;                /* what AVX-512 puts behind: "{%k1} {z}" */
    struct span size;                 /* Intel: "qword ptr" */
    struct span segment, base, index; /* names without % and colon; empty: none */
    unsigned scale;
    bool has_disp;
    int64_t value; /* of an immediate or number; the displacement */
};

enum { X86_MAX_OPERANDS = 6 };

struct x86_operands {
    size_t count;
    struct x86_operand items[X86_MAX_OPERANDS];
};

/* Of capstone's `text` in either syntax, which must live as long. False: not understood. */
bool x86_operands_read(const char *text, bool intel, struct x86_operands *out);

/* What capstone leaves out or prints otherwise, from the instruction itself: immediates, displacements of 0,
 * index registers that are none. */
void x86_operands_mend(struct x86_operands *o, const struct x86_code *c, const uint8_t *bytes);

/* Its part for an operand in memory: the index register. */
void x86_index_mend(struct x86_operand *o, const struct x86_code *c);

/* The number in an instruction's bytes, of 1 to 8 bytes, sign-extended. */
int64_t x86_number_at(const uint8_t *bytes, unsigned size);

void x86_operand_print(const struct x86_operand *o, const struct x86_code *c, bool intel, struct text *out);

#endif
