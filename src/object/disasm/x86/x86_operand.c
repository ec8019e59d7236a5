/* SPDX-License-Identifier: Apache-2.0 */
#include "object/disasm/x86/x86_operand.h"

/* --- Reading ------------------------------------------------------------------------------------------- */

static int digit(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

/* A number at the start of `s`, which is left behind it: decimal or 0x, with a sign or none. */
static bool take_number(struct span *s, int64_t *value) {
    struct span at = *s;
    bool negative = at.n && *at.p == '-';
    uint64_t v = 0;
    if (negative)
        at.p++, at.n--;
    int base = span_starts(at, "0x") ? 16 : 10;
    if (base == 16)
        at.p += 2, at.n -= 2;
    if (!at.n || digit(*at.p) >= base)
        return false;
    for (; at.n && digit(*at.p) < base; at.p++, at.n--)
        v = v * (uint64_t)base + (uint64_t)digit(*at.p);
    *value = (int64_t)(negative ? -v : v);
    *s = at;
    return true;
}

static bool take_text(struct span *s, const char *text) {
    if (!span_starts(*s, text))
        return false;
    s->p += strlen(text);
    s->n -= strlen(text);
    return true;
}

static void take_spaces(struct span *s) {
    while (take_text(s, " "))
        ;
}

/* Letters and digits. */
static struct span take_word(struct span *s) {
    struct span word = {s->p, 0};
    while (word.n < s->n &&
           ((s->p[word.n] >= 'a' && s->p[word.n] <= 'z') || (s->p[word.n] >= '0' && s->p[word.n] <= '9')))
        word.n++;
    s->p += word.n;
    s->n -= word.n;
    return word;
}

/* (%rax, %rcx, 4) */
static bool read_att_registers(struct span *s, struct x86_operand *o) {
    int64_t scale = 1;
    if (take_text(s, "%"))
        o->base = take_word(s);
    if (take_text(s, ",")) {
        take_spaces(s);
        if (take_text(s, "%"))
            o->index = take_word(s);
        if (take_text(s, ",")) {
            take_spaces(s);
            if (!take_number(s, &scale))
                return false;
        }
    }
    o->scale = (unsigned)scale;
    return take_text(s, ")");
}

static bool read_att(struct span s, struct x86_operand *o) {
    struct span all = s;
    o->indirect = take_text(&s, "*");
    if (take_text(&s, "$")) {
        o->kind = X86_IMMEDIATE;
        return take_number(&s, &o->value) && !s.n;
    }
    if (take_text(&s, "%")) {
        o->segment = take_word(&s);
        if (!take_text(&s, ":")) {
            o->segment = (struct span){NULL, 0};
            o->name = (struct span){all.p + o->indirect, all.n - o->indirect};
            return true;
        }
    }
    o->has_disp = take_number(&s, &o->value);
    o->kind = X86_MEMORY; /* jumps' targets too, which are printed by themselves */
    if (take_text(&s, "("))
        return read_att_registers(&s, o) && !s.n;
    return o->has_disp && !s.n;
}

/* What stands between the brackets: names, name*scale and numbers, with + and - between. */
static bool read_intel_sum(struct span *s, struct x86_operand *o) {
    bool minus = false;
    while (!take_text(s, "]")) {
        int64_t number;
        if (take_number(s, &number)) {
            o->has_disp = true;
            o->value = minus ? -(uint64_t)number : (uint64_t)number;
        } else {
            struct span word = take_word(s);
            int64_t scale = 1;
            bool scaled = take_text(s, "*");
            if (!word.n || (scaled && !take_number(s, &scale)))
                return false;
            *(o->base.n || scaled ? &o->index : &o->base) = word;
            if (scaled || o->index.n)
                o->scale = (unsigned)scale;
        }
        take_spaces(s);
        minus = take_text(s, "-");
        if (!minus)
            take_text(s, "+");
        take_spaces(s);
    }
    return true;
}

static bool read_intel(struct span s, struct x86_operand *o) {
    struct span all = s;
    if (take_number(&s, &o->value)) {
        o->kind = X86_NUMBER;
        return !s.n;
    }
    struct span word = take_word(&s);
    if (take_text(&s, " ptr ")) {
        o->size = span_is(word, "xword") ? (struct span){"tbyte ptr", 9} : (struct span){word.p, word.n + 4};
        word = take_word(&s);
    }
    if (word.n && take_text(&s, ":"))
        o->segment = word;
    if (take_text(&s, "[")) {
        o->kind = X86_MEMORY;
        return read_intel_sum(&s, o) && !s.n;
    }
    o->name = all;
    return word.n && !o->segment.n;
}

/* Up to the next comma outside of parentheses; `masks`: what stands in braces at its end. */
static struct span take_operand(struct span *s, struct span *masks) {
    struct span one = {s->p, 0};
    size_t braces = SIZE_MAX;
    for (int depth = 0; one.n < s->n && (s->p[one.n] != ',' || depth); one.n++) {
        depth += (s->p[one.n] == '(') - (s->p[one.n] == ')');
        if (s->p[one.n] == '{' && braces == SIZE_MAX)
            braces = one.n;
    }
    s->p += one.n;
    s->n -= one.n;
    if (take_text(s, ","))
        take_spaces(s);
    if (braces != SIZE_MAX && braces > 0) {
        *masks = (struct span){one.p + braces, one.n - braces};
        one.n = braces;
    }
    while (one.n && one.p[one.n - 1] == ' ')
        one.n--;
    return one;
}

bool x86_operands_read(const char *text, bool intel, struct x86_operands *out) {
    struct span s = {text, strlen(text)};
    for (out->count = 0; s.n; out->count++) {
        if (out->count == X86_MAX_OPERANDS)
            return false;
        struct x86_operand *o = &out->items[out->count];
        *o = (struct x86_operand){.kind = X86_NAME};
        struct span one = take_operand(&s, &o->masks);
        if (!one.n || !(intel ? read_intel(one, o) : read_att(one, o)))
            return false;
    }
    return true;
}

/* --- Mending ------------------------------------------------------------------------------------------- */

int64_t x86_number_at(const uint8_t *bytes, unsigned size) {
    uint64_t v = 0;
    for (unsigned i = 0; i < size && i < 8; i++)
        v |= (uint64_t)bytes[i] << 8 * i;
    unsigned unused = size && size < 8 ? 64 - 8 * size : 0;
    return (int64_t)(v << unused) >> unused;
}

/* How many bits of an immediate are printed: those of the operand, where the bytes are extended to it. */
static unsigned immediate_bits(const struct x86_code *c) {
    unsigned operand = c->w ? 64 : c->size16 ? 16 : 32;
    if (c->encoding != X86_LEGACY || c->map != 0)
        return c->imm_size * 8u;
    switch (c->opcode) {
    case 0x68:
    case 0x6a:
        return c->size16 ? 16 : c->wide ? 64 : 32;
    case 0x69:
    case 0x6b:
    case 0x81:
    case 0x83:
    case 0xa9:
    case 0xc7:
    case 0xf7:
        return operand;
    default:
        return c->opcode < 0x40 && c->imm_size > 1 ? operand : c->imm_size * 8u;
    }
}

static void mend_immediate(struct x86_operand *o, const struct x86_code *c, const uint8_t *bytes) {
    unsigned bits = immediate_bits(c);
    if (c->imm_size == 0 || c->imm_size == 3 || c->imm_size > 8)
        return;
    o->value = x86_number_at(bytes + c->imm_at, c->imm_size);
    if (bits < 64)
        o->value = (int64_t)((uint64_t)o->value & ((UINT64_C(1) << bits) - 1));
}

/* A SIB byte can say "no index" where none was needed; objdump shows that as an index of its own. */
void x86_index_mend(struct x86_operand *o, const struct x86_code *c) {
    unsigned base = c->sib & 7, scale = c->sib >> 6;
    bool none = (c->sib >> 3 & 7) == 4 && !(c->rex & 2), absolute = base == 5 && x86_code_mod(c) == 0;
    if (c->has_sib && absolute && !none && !o->index.n) { /* Intel's text: [rax] for [rax*1+0x0] */
        o->index = o->base;
        o->base.n = 0;
        o->scale = 1u << scale;
    }
    bool vector = o->index.n && (*o->index.p == 'x' || *o->index.p == 'y' || *o->index.p == 'z');
    if (!c->has_sib || !none || vector)
        return;
    bool plain = absolute ? c->wide && !c->address_small : base == 4;
    if (plain && scale == 0)
        return;
    const char *name = c->wide && !c->address_small ? "riz" : "eiz";
    o->index = (struct span){name, 3};
    o->scale = 1u << scale;
}

void x86_operands_mend(struct x86_operands *o, const struct x86_code *c, const uint8_t *bytes) {
    for (size_t i = 0; i < o->count; i++) {
        struct x86_operand *one = &o->items[i];
        if (one->kind == X86_IMMEDIATE || one->kind == X86_NUMBER)
            mend_immediate(one, c, bytes);
        if (one->kind == X86_MEMORY && !c->has_modrm)
            one->size.n = 0; /* at an address in the instruction */
        if (one->kind != X86_MEMORY || !c->has_modrm)
            continue;
        const char *segment = x86_segment(c);
        one->segment = (struct span){segment, segment ? 2 : 0};
        x86_index_mend(one, c);
        one->has_disp = c->disp_size > 0;
        if (c->encoding != X86_EVEX || c->disp_size != 1) /* EVEX multiplies them: the text has it right */
            one->value = x86_number_at(bytes + c->disp_at, c->disp_size);
    }
}

/* --- Printing ------------------------------------------------------------------------------------------ */

/* An address without a register, as wide as addresses are. */
static uint64_t absolute(const struct x86_operand *o, const struct x86_code *c) {
    if (c->wide && !c->address_small)
        return (uint64_t)o->value;
    return (uint64_t)o->value & (!c->wide && c->address_small ? 0xffff : 0xffffffff);
}

static void print_displacement(const struct x86_operand *o, const struct x86_code *c, struct text *out) {
    if (!o->base.n && (!o->index.n || span_is(o->index, "eiz"))) {
        text_hex0x(out, absolute(o, c));
        return;
    }
    if (o->value < 0)
        text_char(out, '-');
    text_hex0x(out, o->value < 0 ? -(uint64_t)o->value : (uint64_t)o->value);
}

static void print_att_memory(const struct x86_operand *o, const struct x86_code *c, struct text *out) {
    if (o->segment.n) {
        text_char(out, '%');
        text_span(out, o->segment);
        text_char(out, ':');
    }
    if (o->has_disp)
        print_displacement(o, c, out);
    if (!o->base.n && !o->index.n)
        return;
    text_char(out, '(');
    if (o->base.n) {
        text_char(out, '%');
        text_span(out, o->base);
    }
    if (o->index.n) {
        text_str(out, ",%");
        text_span(out, o->index);
        if (c->wide || !c->address_small) { /* 16-bit addresses have no scale */
            text_char(out, ',');
            text_char(out, (char)('0' + (o->scale & 15)));
        }
    }
    text_char(out, ')');
}

static void print_intel_memory(const struct x86_operand *o, const struct x86_code *c, struct text *out) {
    for (size_t i = 0; i < o->size.n; i++)
        text_char(out, (char)(o->size.p[i] >= 'a' ? o->size.p[i] - 'a' + 'A' : o->size.p[i]));
    if (o->size.n)
        text_char(out, ' ');
    bool bare = !o->base.n && !o->index.n;
    if (o->segment.n || bare) {
        text_span(out, o->segment.n ? o->segment : (struct span){"ds", 2});
        text_char(out, ':');
    }
    if (bare) {
        text_hex0x(out, absolute(o, c));
        return;
    }
    text_char(out, '[');
    text_span(out, o->base);
    if (o->index.n) {
        if (o->base.n)
            text_char(out, '+');
        text_span(out, o->index);
        if (c->wide || !c->address_small) {
            text_char(out, '*');
            text_char(out, (char)('0' + (o->scale & 15)));
        }
    }
    if (span_is(o->base, "rip") || span_is(o->base, "eip")) {
        text_char(out, '+');
        text_hex0x(out, (uint64_t)o->value);
    } else if (o->has_disp) {
        if (o->value >= 0)
            text_char(out, '+');
        print_displacement(o, c, out);
    }
    text_char(out, ']');
}

void x86_operand_print(const struct x86_operand *o, const struct x86_code *c, bool intel, struct text *out) {
    if (o->indirect)
        text_char(out, '*');
    if (o->kind == X86_NAME)
        text_span(out, o->name);
    else if (o->kind == X86_MEMORY)
        (intel ? print_intel_memory : print_att_memory)(o, c, out);
    else {
        if (o->kind == X86_IMMEDIATE && !intel)
            text_char(out, '$');
        text_hex0x(out, (uint64_t)o->value);
    }
    for (size_t i = 0; i < o->masks.n; i++)
        if (o->masks.p[i] != ' ')
            text_char(out, o->masks.p[i]);
}
