/* SPDX-License-Identifier: Apache-2.0 */
#include "object/disasm/x86/x86_text.h"

/* --- String instructions ------------------------------------------------------------------------------- */

static const char *accumulator(unsigned size) {
    return size == 1 ? "al" : size == 2 ? "ax" : size == 4 ? "eax" : "rax";
}

/* (%rsi) or (%rdi), whichever the width of addresses. */
static void print_string_memory(const struct x86_line *l, bool source, unsigned size, struct text *out) {
    const struct x86_code *c = l->c;
    char letter = c->wide ? (c->address_small ? 'e' : 'r') : (c->address_small ? 0 : 'e');
    const char *segment = source ? x86_segment(c) : "es";
    static const char *const sizes[] = {
        [1] = "BYTE PTR ", [2] = "WORD PTR ", [4] = "DWORD PTR ", [8] = "QWORD PTR "};
    if (l->o->intel)
        text_str(out, sizes[size]);
    else
        text_char(out, '%');
    text_str(out, segment ? segment : "ds");
    text_str(out, l->o->intel ? ":[" : ":(%");
    if (letter)
        text_char(out, letter);
    text_str(out, source ? "si" : "di");
    text_char(out, l->o->intel ? ']' : ')');
}

static void print_register(const struct x86_line *l, const char *name, struct text *out) {
    if (!l->o->intel)
        text_char(out, '%');
    text_str(out, name);
}

enum string_operand { STRING_SOURCE, STRING_DESTINATION, STRING_ACCUMULATOR, STRING_PORT };

static void print_string_operand(const struct x86_line *l, enum string_operand what, unsigned size,
                                 struct text *out) {
    if (what == STRING_ACCUMULATOR)
        print_register(l, accumulator(size), out);
    else if (what == STRING_PORT)
        text_str(out, l->o->intel ? "dx" : "(%dx)");
    else
        print_string_memory(l, what == STRING_SOURCE, size, out);
}

static void print_string(const struct x86_line *l, struct text *out) {
    /* By opcode without its lowest bit; the operands are AT&T's first and second. */
    static const struct {
        uint8_t opcode;
        char name[5];
        bool suffix; /* no register tells the size */
        uint8_t first, second;
    } all[] = {{0xa4, "movs", true, STRING_SOURCE, STRING_DESTINATION},
               {0xa6, "cmps", true, STRING_DESTINATION, STRING_SOURCE},
               {0xaa, "stos", false, STRING_ACCUMULATOR, STRING_DESTINATION},
               {0xac, "lods", false, STRING_SOURCE, STRING_ACCUMULATOR},
               {0xae, "scas", false, STRING_DESTINATION, STRING_ACCUMULATOR},
               {0x6c, "ins", true, STRING_PORT, STRING_DESTINATION},
               {0x6e, "outs", true, STRING_SOURCE, STRING_PORT}};
    const struct x86_code *c = l->c;
    bool port = c->opcode < 0x70;
    unsigned size = !(c->opcode & 1) ? 1 : c->w && !port ? 8 : c->size16 ? 2 : 4;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i].opcode != (c->opcode & 0xfe))
            continue;
        text_str(out, all[i].name);
        if (all[i].suffix && !l->o->intel)
            text_char(out, size == 1 ? 'b' : size == 2 ? 'w' : size == 4 ? 'l' : 'q');
        text_pad(out, 6);
        text_char(out, ' ');
        print_string_operand(l, l->o->intel ? all[i].second : all[i].first, size, out);
        text_char(out, ',');
        print_string_operand(l, l->o->intel ? all[i].first : all[i].second, size, out);
    }
}

/* --- The line ------------------------------------------------------------------------------------------ */

static struct x86_operand named(const struct x86_line *l, const char *name) {
    name += l->o->intel; /* without % */
    return (struct x86_operand){.name = {name, strlen(name)}};
}

/* Puts a register in, at AT&T's front, which is Intel's end. */
static void add_register(struct x86_line *l, const char *name) {
    struct x86_operands *o = &l->operands;
    size_t at = l->o->intel ? o->count : 0;
    memmove(&o->items[at + 1], &o->items[at], (o->count - at) * sizeof *o->items);
    o->items[at] = named(l, name);
    o->count++;
}

static void drop_immediate(struct x86_line *l) {
    struct x86_operands *o = &l->operands;
    o->count--;
    if (!l->o->intel)
        memmove(&o->items[0], &o->items[1], o->count * sizeof *o->items);
}

/* Where capstone's operands are others than objdump's: opcodes of one byte. */
static void mend_one_byte(struct x86_line *l) {
    const struct x86_code *c = l->c;
    struct x86_operands *o = &l->operands;
    bool exchange = c->opcode > 0x90 && c->opcode <= 0x97, ports = c->opcode >= 0xec && c->opcode <= 0xef;
    if (o->count == 2 && (exchange || (c->opcode == 0x90 && (c->rex & 1)))) {
        struct x86_operand first = o->items[0]; /* AT&T has the accumulator first */
        o->items[0] = o->items[1];
        o->items[1] = first;
    }
    if (x86_is_nop16(c)) {
        o->count = 2;
        o->items[0] = o->items[1] = named(l, "%ax");
    }
    if ((c->opcode & 0xfe) == 0xd0 && o->count == 2) { /* shifts by one */
        drop_immediate(l);
        if (l->o->intel)
            o->items[o->count++] = (struct x86_operand){.name = {"1", 1}};
    }
    if (ports && o->count == 2 && !l->o->intel)
        o->items[c->opcode < 0xee ? 0 : 1].name = (struct span){"(%dx)", 5};
    if (c->opcode == 0xc8 && c->imm_size == 3 && o->count == 2) { /* ENTER */
        o->items[0].value = (int64_t)(l->bytes[c->imm_at] | (uint64_t)l->bytes[c->imm_at + 1] << 8);
        o->items[1].value = l->bytes[c->imm_at + 2];
    }
    if (c->opcode == 0xdd && x86_code_reg(c) == 7 && o->count && o->items[0].size.n) /* FNSTSW */
        o->items[0].size = (struct span){"word ptr", 8};
    if (c->opcode == 0xd7 && o->count == 0) { /* XLAT */
        const char *segment = x86_segment(c);
        const char *base = c->wide && !c->address_small ? "rbx" : "ebx";
        o->items[o->count++] = (struct x86_operand){.kind = X86_MEMORY,
                                                    .size = {"byte ptr", 8},
                                                    .segment = {segment ? segment : "ds", 2},
                                                    .base = {base, 3}};
    }
}

/* Likewise: opcodes behind 0f. */
static void mend_two_bytes(struct x86_line *l) {
    static const char debug[8][5] = {"%db0", "%db1", "%db2", "%db3", "%db4", "%db5", "%db6", "%db7"};
    const struct x86_code *c = l->c;
    for (size_t i = 0; i < l->operands.count; i++) {
        struct x86_operand *o = &l->operands.items[i];
        if (c->opcode == 0x1f && c->w && o->size.n)
            o->size = (struct span){"qword ptr", 9};
        if ((c->opcode == 0x21 || c->opcode == 0x23) && o->kind == X86_NAME && span_starts(o->name, "%dr"))
            o->name = (struct span){debug[x86_code_reg(c)], 4};
    }
}

static void mend_operands(struct x86_line *l) {
    const struct x86_code *c = l->c;
    struct x86_operands *o = &l->operands;
    if (c->encoding == X86_LEGACY && c->map == 0)
        mend_one_byte(l);
    if (c->encoding == X86_LEGACY && c->map == 1)
        mend_two_bytes(l);
    bool compares = c->map == 1 && (c->opcode == 0x2e || c->opcode == 0x2f); /* COMISS and the like */
    for (size_t i = 0; compares && i < o->count; i++)
        if (o->items[i].size.n)
            o->items[i].size =
                c->size16 || c->pp == 1 ? (struct span){"qword ptr", 9} : (struct span){"dword ptr", 9};
    /* What they implicitly use: SHA256RNDS2, PBLENDVB, BLENDVPS, BLENDVPD. */
    bool implied = c->encoding == X86_LEGACY && c->map == 2 &&
                   (c->opcode == 0xcb || c->opcode == 0x10 || c->opcode == 0x14 || c->opcode == 0x15);
    if (implied && o->count == 2)
        add_register(l, "%xmm0");
    if (x86_is_multiply(c) && o->count >= 3 && x86_multiply_name(l->bytes[c->imm_at]))
        drop_immediate(l);
}

void x86_comment_print(const struct x86_line *l, struct text *out) {
    const struct x86_code *c = l->c;
    if (!c->wide || !x86_code_has_memory(c) || x86_code_mod(c) != 0 || (c->modrm & 7) != 5)
        return;
    uint64_t to = l->address + c->length + (uint64_t)x86_number_at(l->bytes + c->disp_at, c->disp_size);
    text_str(out, "        # ");
    disasm_address_print(l->o, c->address_small ? to & 0xffffffff : to, out);
}

static bool is_far(const struct x86_code *c) {
    return c->encoding == X86_LEGACY && c->map == 0 && (c->opcode == 0x9a || c->opcode == 0xea);
}

/* CALL and JMP to another segment: the selector comes first. */
static bool print_far(const struct x86_line *l, struct text *out) {
    const struct x86_code *c = l->c;
    if (!is_far(c))
        return false;
    unsigned size = c->imm_size - 2u;
    uint64_t mask = size == 2 ? 0xffff : 0xffffffff;
    text_pad(out, 6);
    text_str(out, l->o->intel ? " " : " $");
    text_hex0x(out, (uint64_t)x86_number_at(l->bytes + c->imm_at + size, 2) & 0xffff);
    text_str(out, l->o->intel ? ":" : ",$");
    text_hex0x(out, (uint64_t)x86_number_at(l->bytes + c->imm_at, size) & mask);
    return true;
}

bool x86_text(struct x86_line *l, struct text *out) {
    const struct x86_code *c = l->c;
    out->len = 0;
    l->operands.count = 0;
    if (!is_far(c) && !x86_operands_read(l->words.operands, l->o->intel, &l->operands))
        return false;
    x86_operands_mend(&l->operands, c, l->bytes);
    mend_operands(l);
    x86_prefixes_print(l, out);
    if (x86_is_string(c)) {
        print_string(l, out);
        return true;
    }
    x86_mnemonic_print(l, out);
    if (x86_x87_print(l, out) || print_far(l, out))
        return true;
    if (!l->operands.count)
        return true;
    text_pad(out, 6);
    text_char(out, ' ');
    if (x86_is_relative(c)) {
        disasm_address_print(l->o, x86_target(c, l->bytes, l->address), out);
        return true;
    }
    for (size_t i = 0; i < l->operands.count; i++) {
        if (i)
            text_char(out, ',');
        x86_operand_print(&l->operands.items[i], c, l->o->intel, out);
    }
    x86_comment_print(l, out);
    return true;
}
