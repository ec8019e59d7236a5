/* SPDX-License-Identifier: Apache-2.0 */
/* Prefixes: which of them an instruction uses itself, and the names of the others. */
#include "object/disasm/x86/x86_text.h"

bool x86_is_string(const struct x86_code *c) {
    return c->encoding == X86_LEGACY && c->map == 0 &&
           ((c->opcode >= 0xa4 && c->opcode <= 0xa7) || (c->opcode >= 0xaa && c->opcode <= 0xaf) ||
            (c->opcode >= 0x6c && c->opcode <= 0x6f));
}

bool x86_is_nop16(const struct x86_code *c) {
    return c->encoding == X86_LEGACY && c->map == 0 && c->opcode == 0x90 && c->size16 && !(c->rex & 9) &&
           !memchr(c->prefixes, 0xf3, c->prefix_count);
}

static bool is_condition(const struct x86_code *c) {
    return c->encoding == X86_LEGACY &&
           ((c->map == 0 && (c->opcode & 0xf0) == 0x70) || (c->map == 1 && (c->opcode & 0xf0) == 0x80));
}

bool x86_is_relative(const struct x86_code *c) {
    if (c->encoding != X86_LEGACY)
        return false;
    return is_condition(c) || (c->map == 0 && ((c->opcode >= 0xe0 && c->opcode <= 0xe3) ||
                                               c->opcode == 0xe8 || c->opcode == 0xe9 || c->opcode == 0xeb ||
                                               (c->opcode == 0xc7 && c->has_modrm && c->modrm == 0xf8)));
}

static bool is_return(const struct x86_code *c) {
    return c->encoding == X86_LEGACY && c->map == 0 && (c->opcode == 0xc2 || c->opcode == 0xc3);
}

uint64_t x86_target(const struct x86_code *c, const uint8_t *bytes, uint64_t address) {
    uint64_t to = address + c->length + (uint64_t)x86_number_at(bytes + c->imm_at, c->imm_size);
    return c->wide ? to : to & 0xffffffff;
}

void x86_flow(const struct x86_code *c, const uint8_t *bytes, struct disasm_instruction *out) {
    bool one = c->encoding == X86_LEGACY && c->map == 0, two = c->encoding == X86_LEGACY && c->map == 1;
    out->is_return = (one && (is_return(c) || c->opcode == 0xca || c->opcode == 0xcb || c->opcode == 0xcf)) ||
                     (two && (c->opcode == 0x07 || c->opcode == 0x35)); /* SYSRET, SYSEXIT */
    bool indirect = x86_is_indirect(c), far = one && (c->opcode == 0x9a || c->opcode == 0xea);
    out->is_call = (one && (c->opcode == 0xe8 || c->opcode == 0x9a)) || (indirect && x86_code_reg(c) < 4);
    out->is_jump = !out->is_call && !(one && c->opcode == 0xc7) && (x86_is_relative(c) || indirect || far);
    out->has_target = (out->is_call || out->is_jump) && x86_is_relative(c);
    if (!out->has_target)
        return;
    out->target = x86_target(c, bytes, out->address);
}

static bool uses_memory(const struct x86_code *c) {
    bool one = c->encoding == X86_LEGACY && c->map == 0;
    return x86_code_has_memory(c) || x86_is_string(c) ||
           (one && ((c->opcode >= 0xa0 && c->opcode <= 0xa3) || c->opcode == 0xd7));
}

/* Opcodes after 0f of which a prefix makes another instruction. */
static bool has_variants(const struct x86_code *c) {
    uint8_t op = c->opcode;
    if (c->map != 1)
        return true;
    return (op >= 0x10 && op <= 0x17) || (op >= 0x28 && op <= 0x2f) || (op >= 0x50 && op <= 0x7f) ||
           op == 0xae || op == 0xb8 || op == 0xbc || op == 0xbd || op == 0xc2 || (op >= 0xc4 && op <= 0xc7) ||
           op >= 0xd0;
}

static bool uses_size16(const struct x86_code *c) {
    uint8_t op = c->opcode;
    if (c->encoding != X86_LEGACY)
        return false;
    if (c->map != 0)
        return has_variants(c) ||
               (!c->w &&
                ((op >= 0x40 && op <= 0x4f) || op == 0x1e || op == 0x1f || op == 0x00 || op == 0x01 ||
                 (op >= 0xa0 && op != 0xae && op != 0xa2 && op != 0xb0 && op != 0xc0)));
    if (c->w)
        return false;
    if (op < 0x40)
        return (op & 7) != 0 && (op & 7) != 2 && (op & 7) != 4; /* these are of bytes */
    if ((op & 0xf0) == 0x70 || (op & 0xf0) == 0xb0)
        return op >= 0xb8;
    static const uint8_t without[] = {0x80, 0x84, 0x86, 0x88, 0x8a, 0x8e, 0x9b, 0x9e, 0x9f, 0xa0, 0xa2, 0xa4,
                                      0xa6, 0xa8, 0xaa, 0xac, 0xae, 0x6c, 0x6e, 0xc0, 0xc6, 0xc8, 0xcc, 0xcd,
                                      0xd0, 0xd2, 0xd7, 0xe0, 0xe1, 0xe2, 0xe3, 0xe4, 0xe6, 0xeb, 0xec, 0xee,
                                      0xf4, 0xf5, 0xf6, 0xf8, 0xf9, 0xfa, 0xfb, 0xfc, 0xfd, 0xfe};
    return !memchr(without, op, sizeof without) && !(op >= 0xd8 && op <= 0xdf);
}

/* F2 or F3: as a part of the opcode, or as the repetition of a string instruction. */
static bool uses_repeat(const struct x86_code *c, uint8_t prefix) {
    uint8_t op = c->opcode;
    if (c->encoding != X86_LEGACY)
        return false;
    if (c->map == 0)
        return prefix == 0xf3 && op == 0x90;
    return has_variants(c) || (prefix == 0xf3 && (op == 0x1e || op == 0x09 || op == 0x01));
}

static const char *repeat_name(const struct x86_line *l, uint8_t prefix) {
    const struct x86_code *c = l->c;
    bool lock = memchr(c->prefixes, 0xf0, c->prefix_count) != NULL;
    bool compares = c->opcode == 0xa6 || c->opcode == 0xa7 || c->opcode == 0xae || c->opcode == 0xaf;
    if (x86_is_string(c))
        return compares ? (prefix == 0xf3 ? "repz" : "repnz") : prefix == 0xf3 ? "rep" : "repnz";
    if (x86_code_has_memory(c) && c->map == 0 &&
        (lock || c->opcode == 0xc6 || c->opcode == 0xc7 || c->opcode == 0x86 || c->opcode == 0x87))
        return prefix == 0xf2 ? "xacquire" : "xrelease";
    if (x86_code_has_memory(c) && lock)
        return prefix == 0xf2 ? "xacquire" : "xrelease";
    bool bound = x86_is_relative(c) || is_return(c) ||
                 (x86_is_indirect(c) && x86_code_reg(c) != 3 && x86_code_reg(c) != 5);
    return prefix == 0xf3 ? "repz" : bound ? "bnd" : "repnz";
}

static const char *segment_name(const struct x86_line *l, uint8_t prefix, bool *used) {
    static const char *const names[] = {"es", "cs", "ss", "ds"};
    const struct x86_code *c = l->c;
    if (prefix == 0x3e && x86_is_indirect(c) && !(x86_code_reg(c) & 1))
        return "notrack";
    if (is_condition(c) && !l->o->intel && (prefix == 0x2e || prefix == 0x3e)) {
        *used = true; /* ,pn and ,pt behind the mnemonic */
        return "";
    }
    if (prefix >= 0x64 || !c->wide) {
        const char *name = prefix >= 0x64 ? (prefix == 0x64 ? "fs" : "gs") : names[(prefix - 0x26) >> 3];
        const char *active = x86_segment(c);
        *used = uses_memory(c) && active && strcmp(active, name) == 0;
        return name;
    }
    return names[(prefix - 0x26) >> 3];
}

/* Bits of REX that nothing uses, of instructions that linkers and compilers pad with it. */
static void print_rex(const struct x86_line *l, struct text *out) {
    const struct x86_code *c = l->c;
    bool one = c->map == 0, push = one && (c->opcode & 0xf0) == 0x50;
    bool padded =
        x86_is_relative(c) || is_return(c) || push || (x86_is_indirect(c) && (x86_code_reg(c) & 1) == 0);
    uint8_t unused = c->rex & (push ? 0x0e : x86_is_indirect(c) ? 0x0c : 0x0f);
    if (c->encoding != X86_LEGACY || !c->rex || !padded || (!unused && c->rex != 0x40))
        return;
    text_str(out, "rex");
    if (c->rex & 0xf)
        text_char(out, '.');
    for (unsigned bit = 0; bit < 4; bit++)
        if (c->rex & 8 >> bit)
            text_char(out, "WRXB"[bit]);
    text_char(out, ' ');
}

static const char *prefix_name(const struct x86_line *l, uint8_t prefix, bool *used) {
    const struct x86_code *c = l->c;
    switch (prefix) {
    case 0x66:
        *used = uses_size16(c);
        return "data16";
    case 0x67:
        *used = uses_memory(c) || (c->map == 0 && c->opcode >= 0xe0 && c->opcode <= 0xe3);
        return c->wide ? "addr32" : "addr16";
    case 0xf0:
        return "lock";
    case 0xf2:
    case 0xf3:
        *used = uses_repeat(c, prefix);
        return repeat_name(l, prefix);
    default:
        return segment_name(l, prefix, used);
    }
}

void x86_prefixes_print(const struct x86_line *l, struct text *out) {
    const struct x86_code *c = l->c;
    for (size_t i = 0; i < c->prefix_count; i++) {
        bool used = false;
        const char *name = prefix_name(l, c->prefixes[i], &used);
        /* Of several the last is the one that counts. */
        if (used && !memchr(c->prefixes + i + 1, c->prefixes[i], c->prefix_count - i - 1))
            continue;
        text_str(out, name);
        text_char(out, ' ');
    }
    print_rex(l, out);
}
