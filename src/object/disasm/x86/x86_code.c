/* SPDX-License-Identifier: Apache-2.0 */
#include "object/disasm/x86/x86_code.h"

/*
 * What follows each opcode: `.` nothing, `m` ModRM; an immediate of `b` 8 bits, `w` 16, `z` the operand's
 * size (32 bits at most), `v` the operand's size, `j` 16 or 32 (32 in 64-bit code), `e` ENTER's, `o` an
 * address, `p` a far pointer; `B` ModRM and 8 bits, `Z` ModRM and z; `g` and `G` B and Z when reg is 0 or 1,
 * else m; `x` undefined, `P` read elsewhere: prefixes and escapes.
 */
static const char ONE_BYTE[] = "mmmmbz..mmmmbz.P" /* 00 */
                               "mmmmbz..mmmmbz.." /* 10 */
                               "mmmmbzP.mmmmbzP." /* 20 */
                               "mmmmbzP.mmmmbzP." /* 30 */
                               "................" /* 40: REX in 64-bit code */
                               "................" /* 50 */
                               "..mmPPPPzZbB...." /* 60 */
                               "bbbbbbbbbbbbbbbb" /* 70 */
                               "BZBBmmmmmmmmmmmm" /* 80 */
                               "..........p....." /* 90 */
                               "oooo....bz......" /* a0 */
                               "bbbbbbbbvvvvvvvv" /* b0 */
                               "BBw.mmBZe.w..b.." /* c0: VEX */
                               "mmmmbb..mmmmmmmm" /* d0 */
                               "bbbbbbbbjjpb...." /* e0 */
                               "P.PP..gG......mm" /* f0 */;
static const char TWO_BYTES[] = "mmmmx.....x.xm.B" /* 00 */
                                "mmmmmmmmmmmmmmmm" /* 10 */
                                "mmmmxxxxmmmmmmmm" /* 20 */
                                "......x.PxPxxxxx" /* 30 */
                                "mmmmmmmmmmmmmmmm" /* 40 */
                                "mmmmmmmmmmmmmmmm" /* 50 */
                                "mmmmmmmmmmmmmmmm" /* 60 */
                                "BBBBmmm.mmxxmmmm" /* 70 */
                                "jjjjjjjjjjjjjjjj" /* 80 */
                                "mmmmmmmmmmmmmmmm" /* 90 */
                                "...mBmxx...mBmmm" /* a0 */
                                "mmmmmmmmmmBmmmmm" /* b0 */
                                "mmBmBBBm........" /* c0 */
                                "mmmmmmmmmmmmmmmm" /* d0 */
                                "mmmmmmmmmmmmmmmm" /* e0 */
                                "mmmmmmmmmmmmmmmm" /* f0 */;

struct reader {
    const uint8_t *data;
    size_t size, at; /* size: 15 at most */
};

static bool next(struct reader *r, uint8_t *byte) {
    if (r->at >= r->size)
        return false;
    *byte = r->data[r->at++];
    return true;
}

static bool is_prefix(uint8_t byte) {
    return byte == 0x26 || byte == 0x2e || byte == 0x36 || byte == 0x3e || (byte >= 0x64 && byte <= 0x67) ||
           byte == 0xf0 || byte == 0xf2 || byte == 0xf3;
}

static bool read_prefixes(struct reader *r, struct x86_code *c, uint8_t *byte) {
    for (;;) {
        if (!next(r, byte))
            return false;
        if (!is_prefix(*byte))
            break;
        c->prefixes[c->prefix_count++] = *byte;
        c->size16 |= *byte == 0x66;
        c->address_small |= *byte == 0x67;
    }
    if (!c->wide || (*byte & 0xf0) != 0x40)
        return true;
    c->rex = *byte;
    c->w = *byte & 8;
    return next(r, byte);
}

/* R, X and B are inverted in these. */
static bool read_vex3(struct reader *r, struct x86_code *c, uint8_t one) {
    uint8_t two;
    if (!next(r, &two))
        return false;
    c->map = one & 0x1f;
    c->w = two & 0x80;
    c->rex = (uint8_t)((~one >> 5 & 7) | (two & 0x80 ? 8 : 0));
    c->vvvv = ~two >> 3 & 15;
    c->vector = two >> 2 & 1;
    c->pp = two & 3;
    return true;
}

static bool read_evex(struct reader *r, struct x86_code *c, uint8_t one) {
    uint8_t two;
    if (!next(r, &two) || !next(r, &c->evex_last))
        return false;
    c->evex_high = (uint8_t)((one & 0x10 ? 0 : 1) | (c->evex_last & 8 ? 0 : 2));
    c->map = one & 7;
    c->w = two & 0x80;
    c->rex = (uint8_t)((~one >> 5 & 7) | (two & 0x80 ? 8 : 0));
    c->vvvv = ~two >> 3 & 15;
    c->vector = c->evex_last >> 5 & 3;
    c->pp = two & 3;
    return true;
}

/* VEX, EVEX and XOP share their first bytes with LES, LDS, BOUND and POP, which what follows tells: in 32-bit
 * code those have no register as their operand, and POP's reg is 0. False: cut off. */
static bool read_vector_prefix(struct reader *r, struct x86_code *c, uint8_t byte, bool *found) {
    uint8_t one = r->at < r->size ? r->data[r->at] : 0;
    bool vex = byte == 0xc4 || byte == 0xc5 || byte == 0x62, xop = byte == 0x8f && (one & 0x1f) >= 8;
    *found = (vex && (c->wide || one >= 0xc0)) || xop;
    if (!*found)
        return true;
    r->at++;
    if (byte == 0xc5) {
        c->encoding = X86_VEX;
        c->map = 1;
        c->rex = one & 0x80 ? 0 : 4;
        c->vvvv = ~one >> 3 & 15;
        c->vector = one >> 2 & 1;
        c->pp = one & 3;
        return r->at <= r->size;
    }
    c->encoding = xop ? X86_XOP : byte == 0x62 ? X86_EVEX : X86_VEX;
    return r->at <= r->size && (byte == 0x62 ? read_evex(r, c, one) : read_vex3(r, c, one));
}

static char read_opcode(struct reader *r, struct x86_code *c, uint8_t byte) {
    bool vector;
    if (!read_vector_prefix(r, c, byte, &vector))
        return 'x';
    if (vector) {
        if (!next(r, &c->opcode))
            return 'x';
        if (c->encoding == X86_XOP)
            return c->map == 8 ? 'B' : c->map == 9 ? 'm' : c->map == 10 ? 'Z' : 'x';
        if (c->map == 1 && c->encoding == X86_VEX && c->opcode == 0x77)
            return '.'; /* VZEROUPPER */
        if (c->map == 1)
            return TWO_BYTES[c->opcode] == 'B' ? 'B' : 'm';
        return c->map == 3 ? 'B' : c->map == 2 || c->map == 5 || c->map == 6 ? 'm' : 'x';
    }
    c->opcode = byte;
    if (byte != 0x0f)
        return ONE_BYTE[byte];
    if (!next(r, &c->opcode))
        return 'x';
    c->map = c->opcode == 0x38 ? 2 : c->opcode == 0x3a ? 3 : 1;
    if (c->map == 1)
        return TWO_BYTES[c->opcode];
    return !next(r, &c->opcode) ? 'x' : c->map == 2 ? 'm' : 'B';
}

static bool read_modrm(struct reader *r, struct x86_code *c) {
    if (!next(r, &c->modrm))
        return false;
    c->has_modrm = true;
    unsigned mod = x86_code_mod(c), rm = c->modrm & 7;
    if (mod == 3)
        return true;
    if (!c->wide && c->address_small) { /* 16-bit addresses */
        c->disp_size = mod == 1 ? 1 : mod == 2 || rm == 6 ? 2 : 0;
    } else {
        c->has_sib = rm == 4;
        if (c->has_sib && !next(r, &c->sib))
            return false;
        unsigned base = c->has_sib ? c->sib & 7u : rm;
        c->disp_size = mod == 1 ? 1 : mod == 2 || base == 5 ? 4 : 0;
    }
    c->disp_at = (uint8_t)r->at;
    r->at += c->disp_size;
    return r->at <= r->size;
}

static uint8_t immediate_size(const struct x86_code *c, char kind) {
    uint8_t size = c->w ? 8 : c->size16 ? 2 : 4, most4 = size == 8 ? 4 : size;
    switch (kind) {
    case 'b':
    case 'B':
        return 1;
    case 'w':
        return 2;
    case 'e':
        return 3;
    case 'z':
    case 'Z':
        return c->encoding == X86_XOP ? 4 : most4;
    case 'v':
        return size;
    case 'j':
        return c->wide ? 4 : most4;
    case 'o':
        return c->wide ? (c->address_small ? 4 : 8) : (c->address_small ? 2 : 4);
    case 'p':
        return (uint8_t)(most4 + 2);
    case 'g':
        return x86_code_reg(c) < 2 ? 1 : 0;
    case 'G':
        return x86_code_reg(c) < 2 ? most4 : 0;
    default:
        return 0;
    }
}

/* Opcodes that 64-bit code no longer has. */
static bool gone(const struct x86_code *c) {
    static const uint8_t opcodes[] = {0x06, 0x07, 0x0e, 0x16, 0x17, 0x1e, 0x1f, 0x27, 0x2f, 0x37,
                                      0x3f, 0x60, 0x61, 0x82, 0x9a, 0xce, 0xd4, 0xd5, 0xd6, 0xea};
    return c->wide && c->encoding == X86_LEGACY && c->map == 0 && memchr(opcodes, c->opcode, sizeof opcodes);
}

bool x86_code_read(struct bytes code, bool wide, struct x86_code *out) {
    struct reader r = {code.data, code.size < X86_MAX_LENGTH ? code.size : X86_MAX_LENGTH, 0};
    uint8_t byte;
    memset(out, 0, sizeof *out);
    out->wide = wide;
    if (!read_prefixes(&r, out, &byte))
        return false;
    char kind = read_opcode(&r, out, byte);
    if (kind == 'x' || kind == 'P' || gone(out))
        return false;
    bool modrm = kind == 'm' || kind == 'B' || kind == 'Z' || kind == 'g' || kind == 'G';
    if (modrm && !read_modrm(&r, out))
        return false;
    out->imm_at = (uint8_t)r.at;
    out->imm_size = immediate_size(out, kind);
    out->length = (uint8_t)(r.at + out->imm_size);
    return out->length <= r.size;
}

bool x86_is_indirect(const struct x86_code *c) {
    return c->encoding == X86_LEGACY && c->map == 0 && c->opcode == 0xff && x86_code_reg(c) >= 2 &&
           x86_code_reg(c) <= 5;
}

const char *x86_segment(const struct x86_code *c) {
    static const struct {
        uint8_t prefix;
        char name[3];
    } names[] = {{0x26, "es"}, {0x2e, "cs"}, {0x36, "ss"}, {0x3e, "ds"}, {0x64, "fs"}, {0x65, "gs"}};
    bool near = x86_is_indirect(c) && !(x86_code_reg(c) & 1); /* 3e is NOTRACK to them */
    for (size_t i = c->prefix_count; i-- > 0;)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            if (names[k].prefix == c->prefixes[i] && (!c->wide || c->prefixes[i] >= 0x64) &&
                !(near && c->prefixes[i] == 0x3e))
                return names[k].name;
    return NULL;
}
