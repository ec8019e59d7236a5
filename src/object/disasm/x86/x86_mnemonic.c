/* SPDX-License-Identifier: Apache-2.0 */
/* Mnemonics: which suffix objdump prints, and names that it and capstone do not share. */
#include "object/disasm/x86/x86_text.h"

/* The mnemonic without prefixes, which stand in front of it. */
static struct span last_word(const char *text) {
    const char *space = strrchr(text, ' ');
    const char *word = space ? space + 1 : text;
    return (struct span){word, strlen(word)};
}

static bool has_suffix(struct span name, const char *base) {
    size_t n = strlen(base);
    return name.n == n + 1 && memcmp(name.p, base, n) == 0 && strchr("bwlq", name.p[n]);
}

/* A register whose size is the operand's: not the count of a shift, nor a port. */
static bool tells_size(const struct x86_line *l) {
    const struct x86_code *c = l->c;
    bool shift = c->map == 0 && (c->opcode & 0xfc) == 0xd0;
    for (size_t i = 0; i < l->operands.count; i++) {
        const struct x86_operand *o = &l->operands.items[i];
        if (o->kind == X86_NAME && o->name.n && *o->name.p == '%' &&
            !(shift && x86_code_has_memory(c) && span_is(o->name, "%cl")))
            return true;
    }
    return false;
}

/* Instructions whose usual operand size goes without saying. */
static bool size_is_usual(const struct x86_line *l) {
    const struct x86_code *c = l->c;
    if (c->encoding == X86_LEGACY && c->map == 1 && c->opcode < 2)
        return true; /* SLDT to INVLPG */
    if (c->encoding != X86_LEGACY || (c->size16 && !c->w) || c->map != 0)
        return false;
    uint8_t op = c->opcode;
    return (op & 0xf0) == 0x50 || op == 0x68 || op == 0x6a || op == 0x8f || op == 0xc2 || op == 0xc3 ||
           op == 0xc8 || (!c->w && (op == 0xca || op == 0xcb || op == 0xcf)) || op == 0xc9 || op == 0xe8 ||
           op == 0xe9 || op == 0x9c || op == 0x9d || op == 0x9a || op == 0xea ||
           (op == 0xff && x86_code_reg(c) >= 2);
}

bool x86_is_multiply(const struct x86_code *c) {
    return c->map == 3 && c->opcode == 0x44 && (c->size16 || c->pp == 1);
}

const char *x86_multiply_name(uint8_t halves) {
    switch (halves) {
    case 0x00:
        return "vpclmullqlqdq";
    case 0x01:
        return "vpclmulhqlqdq";
    case 0x10:
        return "vpclmullqhqdq";
    case 0x11:
        return "vpclmulhqhqdq";
    default:
        return NULL;
    }
}

/* Names of capstone's for which objdump has others. */
static bool rename(const struct x86_line *l, struct span *name) {
    static const struct {
        const char *from, *to;
    } names[] = {{"wait", "fwait"},   {"popfq", "popf"},   {"popfl", "popf"},   {"popfd", "popf"},
                 {"pushfq", "pushf"}, {"pushfl", "pushf"}, {"pushfd", "pushf"}, {"iretl", "iret"},
                 {"iretd", "iret"},   {"lretl", "lret"},   {"xlatb", "xlat"},   {"pushal", "pusha"},
                 {"popal", "popa"}},
      intel[] = {{"lcall", "call"}, {"ljmp", "jmp"}};
    const struct x86_code *c = l->c;
    bool moves64 = c->map == 1 && c->w && (c->opcode == 0x6e || c->opcode == 0x7e);
    if (x86_is_nop16(c))
        *name = (struct span){"xchg", 4};
    else if (moves64 && span_is(*name, "movd"))
        *name = (struct span){"movq", 4};
    else if (moves64 && span_is(*name, "vmovd"))
        *name = (struct span){"vmovq", 5};
    else if (x86_is_multiply(c) && x86_multiply_name(l->bytes[c->imm_at]))
        *name = (struct span){x86_multiply_name(l->bytes[c->imm_at]) + (c->encoding == X86_LEGACY),
                              12 + (c->encoding != X86_LEGACY)};
    else {
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (span_is(*name, names[i].from)) {
                *name = (struct span){names[i].to, strlen(names[i].to)};
                return true;
            }
        for (size_t i = 0; l->o->intel && i < sizeof intel / sizeof *intel; i++)
            if (span_is(*name, intel[i].from))
                *name = (struct span){intel[i].to, strlen(intel[i].to)};
        return false;
    }
    return true;
}

/* CVTSI2SS and CVTSI2SD of memory, to which capstone gives a suffix sometimes. */
static bool lacks_size(const struct x86_code *c, struct span name) {
    return x86_code_has_memory(c) && (span_is(name, "cvtsi2sd") || span_is(name, "cvtsi2ss") ||
                                      span_is(name, "vcvtsi2sd") || span_is(name, "vcvtsi2ss"));
}

/* PUSH of an immediate, and PUSHF and POPF, of 16 bits. */
static bool pushes16(const struct x86_code *c) {
    return c->encoding == X86_LEGACY && c->map == 0 && c->size16 &&
           ((c->opcode & 0xfd) == 0x68 || (c->opcode & 0xfe) == 0x9c);
}

/* The letter that is put behind a name which capstone gives without; 0: none. */
static char missing_letter(const struct x86_line *l, struct span name) {
    const struct x86_code *c = l->c;
    if (pushes16(c))
        return name.p[name.n - 1] == 'w' ? 0 : 'w';
    if (span_is(name, "sysexit") || span_is(name, "sysret"))
        return c->w ? 'q' : l->o->intel ? 'd' : 'l';
    return l->o->intel || !lacks_size(c, name) ? 0 : c->w ? 'q' : 'l';
}

/* Prefixes that say whether a conditional jump is likely. */
static const char *find_hint(const struct x86_line *l) {
    const struct x86_code *c = l->c;
    bool condition =
        (c->map == 0 && (c->opcode & 0xf0) == 0x70) || (c->map == 1 && (c->opcode & 0xf0) == 0x80);
    for (size_t i = c->prefix_count; c->encoding == X86_LEGACY && condition && !l->o->intel && i-- > 0;)
        if (c->prefixes[i] == 0x2e || c->prefixes[i] == 0x3e)
            return c->prefixes[i] == 0x2e ? ",pn" : ",pt";
    return "";
}

void x86_mnemonic_print(const struct x86_line *l, struct text *out) {
    const struct x86_code *c = l->c;
    struct span name = last_word(l->words.mnemonic);
    if (!rename(l, &name) && !l->o->intel && has_suffix(name, l->words.base) &&
        (tells_size(l) || size_is_usual(l)))
        name.n--;
    if (span_is(name, "nopl") && c->w)
        name = (struct span){"nopq", 4};
    bool converts = c->encoding == X86_VEX && c->map == 1 && (c->opcode == 0xe6 || c->opcode == 0x5a);
    if (converts && !x86_code_has_memory(c) && (name.p[name.n - 1] == 'x' || name.p[name.n - 1] == 'y'))
        name.n--; /* the register tells it */
    if (pushes16(c) && (c->opcode & 0xfd) == 0x68)
        name.n = strlen("push");
    text_span(out, name);
    char letter = missing_letter(l, name);
    if (letter)
        text_char(out, letter);
    text_str(out, find_hint(l));
}
