/* SPDX-License-Identifier: Apache-2.0 */
#include "object/disasm/x86/x86_vector.h"

#include "object/disasm/x86/x86_operand.h"

/* --- Which instruction --------------------------------------------------------------------------------- */

/* Which of the prefixes is part of the opcode, numbered as in VEX; 66 is of no account beside the others. */
static unsigned legacy_pp(const struct x86_code *c) {
    for (size_t i = c->prefix_count; i-- > 0;)
        if (c->prefixes[i] == 0xf2 || c->prefixes[i] == 0xf3)
            return c->prefixes[i] == 0xf2 ? 3 : 2;
    return c->size16;
}

static bool legacy_row_fits(const struct x86_vector_row *r, const struct x86_code *c) {
    return r->flags & ONLY_LEGACY && r->pp == legacy_pp(c);
}

static bool row_fits(const struct x86_vector_row *r, const struct x86_code *c) {
    bool evex = c->encoding == X86_EVEX, memory = x86_code_has_memory(c);
    if (c->encoding == X86_LEGACY && !legacy_row_fits(r, c))
        return false;
    if (c->encoding != X86_LEGACY && (r->flags & ONLY_LEGACY))
        return false;
    if (evex ? r->flags & ONLY_VEX : !(r->flags & (ONLY_VEX | ALSO_VEX | ONLY_LEGACY)))
        return false;
    if ((r->flags & REGS && memory) || (r->flags & MEM && !memory) ||
        (r->reg != REG_ANY && r->reg != x86_code_reg(c)))
        return false;
    if (r->pp == PP_PS || r->pp == PP_SS)
        return c->pp == c->w + (r->pp == PP_SS ? 2 : 0);
    return (c->encoding == X86_LEGACY || r->pp == c->pp) && (r->w >= W_ANY || r->w == c->w);
}

const struct x86_vector_row *x86_vector_find(const struct x86_code *c) {
    size_t low = 0, high = x86_vector_row_count;
    unsigned key = c->map * 256u + c->opcode;
    if (c->encoding == X86_XOP || (c->encoding == X86_LEGACY && c->map == 0))
        return NULL;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (x86_vector_rows[middle].map * 256u + x86_vector_rows[middle].opcode < key)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < x86_vector_row_count; low++) {
        const struct x86_vector_row *r = &x86_vector_rows[low];
        if (r->map * 256u + r->opcode != key)
            return NULL;
        if (row_fits(r, c))
            return r;
    }
    return NULL;
}

/* --- Its form ------------------------------------------------------------------------------------------ */

enum { XMM = 16, ZMM = 64 };

struct vector {
    const struct x86_line *l;
    const struct x86_code *c;
    const struct x86_vector_row *row;
    unsigned bytes;        /* of a vector */
    bool evex, wide;       /* wide: 64-bit code */
    bool b;                /* EVEX.b: a broadcast, or rounding */
    const char *predicate; /* of a comparison, which its name has; NULL: the immediate is printed */
};

static unsigned at_least_xmm(unsigned bytes) {
    return bytes < XMM ? XMM : bytes;
}

static unsigned element(const struct vector *v) {
    return v->row->tuple == TUPLE_HALF || !v->c->w ? 4 : 8;
}

/* Bytes in memory. */
static unsigned memory_bytes(const struct vector *v) {
    switch (v->row->tuple) {
    case TUPLE_FULL:
        return v->b ? element(v) : v->bytes;
    case TUPLE_HALF:
        return v->b ? element(v) : v->bytes / 2;
    case TUPLE_FULLMEM:
        return v->bytes;
    case TUPLE_HALFMEM:
        return v->bytes / 2;
    case TUPLE_QUARTER:
        return v->bytes / 4;
    case TUPLE_EIGHTH:
        return v->bytes / 8;
    case TUPLE_DUP:
        return v->bytes == XMM ? 8 : v->bytes;
    case TUPLE_W:
        return v->c->w ? 8 : 4;
    default:
        return 1u << (v->row->tuple - TUPLE_1);
    }
}

/* Of the register that can stand in the place of memory. */
static unsigned register_bytes(const struct vector *v) {
    switch (v->row->tuple) {
    case TUPLE_FULL:
    case TUPLE_FULLMEM:
    case TUPLE_DUP:
        return v->bytes;
    case TUPLE_HALF:
    case TUPLE_HALFMEM:
        return at_least_xmm(v->bytes / 2);
    case TUPLE_QUARTER:
    case TUPLE_EIGHTH:
        return at_least_xmm(memory_bytes(v));
    case TUPLE_32:
        return 32;
    default:
        return v->row->flags & WIDE ? v->bytes : XMM;
    }
}

static bool has_rounding(const struct vector *v) {
    return v->b && !x86_code_has_memory(v->c) && (v->row->flags & (ROUNDS | NO_EXCEPTIONS));
}

/* False: its bits contradict each other. */
static bool find_form(struct vector *v) {
    bool broadcasts = v->row->tuple == TUPLE_FULL || v->row->tuple == TUPLE_HALF;
    v->bytes = (unsigned)XMM << v->c->vector;
    if (v->evex) {
        v->b = v->c->evex_last & 0x10;
        if (v->b && x86_code_has_memory(v->c) ? !broadcasts : v->b && !has_rounding(v))
            return false;
    }
    if (has_rounding(v))
        v->bytes = ZMM; /* its bits are the mode */
    return v->bytes <= ZMM;
}

/* --- Operands ------------------------------------------------------------------------------------------ */

static void print_decimal(unsigned n, struct text *out) {
    if (n >= 10)
        text_char(out, (char)('0' + n / 10));
    text_char(out, (char)('0' + n % 10));
}

static void percent(const struct vector *v, struct text *out) {
    if (!v->l->o->intel)
        text_char(out, '%');
}

static void print_vector(const struct vector *v, unsigned number, unsigned bytes, struct text *out) {
    percent(v, out);
    text_char(out, bytes == XMM ? 'x' : bytes == ZMM ? 'z' : 'y');
    text_str(out, "mm");
    print_decimal(v->wide ? number : number & 7, out);
}

static void print_mask(const struct vector *v, unsigned number, struct text *out) {
    percent(v, out);
    text_char(out, 'k');
    print_decimal(number & 7, out);
}

static const char *general_name(unsigned number, unsigned bytes) {
    static const char wide[][4] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                   "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
    static const char narrow[][5] = {"eax", "ecx", "edx",  "ebx",  "esp",  "ebp",  "esi",  "edi",
                                     "r8d", "r9d", "r10d", "r11d", "r12d", "r13d", "r14d", "r15d"};
    return bytes == 8 ? wide[number & 15] : narrow[number & 15];
}

static void print_general(const struct vector *v, unsigned number, unsigned bytes, struct text *out) {
    percent(v, out);
    text_str(out, general_name(v->wide ? number : number & 7, v->wide ? bytes : 4));
}

static unsigned reg_number(const struct vector *v) {
    return x86_code_reg(v->c) | (v->c->rex & 4 ? 8 : 0) | (v->c->evex_high & 1 ? 16 : 0);
}

static unsigned rm_number(const struct vector *v) {
    return (v->c->modrm & 7u) | (v->c->rex & 1 ? 8 : 0) | (v->evex && v->c->rex & 2 ? 16 : 0);
}

static unsigned vvvv_number(const struct vector *v) {
    return v->c->vvvv | (v->c->evex_high & 2 ? 16 : 0);
}

/* How wide the vector of indexes is, and the other one: elements of one size, and as many. */
static unsigned index_bytes(const struct vector *v) {
    return v->c->opcode & 1 || !v->c->w ? v->bytes : at_least_xmm(v->bytes / 2);
}

static unsigned gathered_bytes(const struct vector *v) {
    return v->c->opcode & 1 && !v->c->w ? at_least_xmm(v->bytes / 2) : v->bytes;
}

static void print_size(const struct vector *v, struct text *out) {
    static const char *const names[] = {"BYTE", "WORD", "DWORD", "QWORD", "XMMWORD", "YMMWORD", "ZMMWORD"};
    unsigned bytes = v->row->flags & WIDE ? v->bytes : memory_bytes(v), at = 0;
    while (bytes >>= 1)
        at++;
    text_str(out, names[at]);
    text_str(out, v->b ? " BCST " : " PTR ");
}

/* Where Intel's syntax has {1to4} too: the size of the vector is told by nothing else. */
static bool intel_counts(const struct vector *v) {
    return v->row->flags & SIZE_XYZ || (v->row->flags & SIZE_XY && v->bytes < ZMM);
}

static void print_memory(const struct vector *v, bool vector_index, struct text *out) {
    const struct x86_code *c = v->c;
    struct x86_operand o = {.kind = X86_MEMORY, .scale = 1u << (c->sib >> 6)};
    unsigned address = v->wide && !c->address_small ? 8 : 4, mod = x86_code_mod(c);
    unsigned base = c->has_sib ? c->sib & 7u : c->modrm & 7u,
             index = (c->sib >> 3 & 7u) | (c->rex & 2 ? 8 : 0);
    struct text name = {0};
    const char *segment = x86_segment(c);
    o.segment = (struct span){segment, segment ? 2 : 0};
    if (!c->has_sib && base == 5 && mod == 0) {
        o.base = (struct span){address == 8 ? "rip" : "eip", v->wide ? 3 : 0};
    } else if (!(base == 5 && mod == 0)) {
        const char *text = general_name(v->wide ? base | (c->rex & 1 ? 8 : 0) : base, address);
        o.base = (struct span){text, strlen(text)};
    }
    if (vector_index) {
        print_vector(v, index | (c->evex_high & 2 ? 16 : 0), index_bytes(v), &name);
        o.index = (struct span){name.at + !v->l->o->intel, name.len - !v->l->o->intel};
    } else if (c->has_sib && index != 4) {
        const char *text = general_name(v->wide ? index : index & 7, address);
        o.index = (struct span){text, strlen(text)};
    }
    o.has_disp = c->disp_size > 0;
    o.value = x86_number_at(v->l->bytes + c->disp_at, c->disp_size);
    if (v->evex && c->disp_size == 1)
        o.value *= memory_bytes(v);
    struct x86_operands all = {.count = 1, .items = {o}};
    if (!vector_index)
        x86_index_mend(&all.items[0], c);
    if (v->l->o->intel && !(v->row->flags & NO_SIZE))
        print_size(v, out);
    x86_operand_print(&all.items[0], c, v->l->o->intel, out);
    if (v->b && (!v->l->o->intel || intel_counts(v))) {
        text_str(out, "{1to");
        print_decimal((v->row->tuple == TUPLE_HALF ? v->bytes / 2 : v->bytes) / element(v), out);
        text_char(out, '}');
    }
}

static void print_operand(const struct vector *v, char what, struct text *out) {
    bool memory = x86_code_has_memory(v->c), gathers = strchr(v->row->form, 'X');
    unsigned general = v->c->w ? 8 : 4;
    switch (what) {
    case 'V':
        print_vector(v, reg_number(v), gathers ? gathered_bytes(v) : v->bytes, out);
        return;
    case 'Y':
        print_vector(v, reg_number(v), at_least_xmm(v->bytes / 2), out);
        return;
    case 'v':
        print_vector(v, reg_number(v), XMM, out);
        return;
    case 'H':
        print_vector(v, vvvv_number(v), v->bytes, out);
        return;
    case 'h':
        print_vector(v, vvvv_number(v), XMM, out);
        return;
    case 'K':
        print_mask(v, reg_number(v), out);
        return;
    case 'Q':
        print_mask(v, vvvv_number(v), out);
        return;
    case 'G':
    case 'g':
        print_general(v, reg_number(v), what == 'G' ? general : 4, out);
        return;
    case 'I':
        if (!v->l->o->intel)
            text_char(out, '$');
        text_hex0x(out, v->l->bytes[v->c->imm_at]);
        return;
    default:
        break;
    }
    if (memory)
        print_memory(v, what == 'X', out);
    else if (what == 'k')
        print_mask(v, v->c->modrm, out);
    else if (what == 'E' || what == 'e')
        print_general(v, rm_number(v) & 15, what == 'E' ? general : 4, out);
    else
        print_vector(v, rm_number(v), what == 'w' ? XMM : register_bytes(v), out);
}

/* What stands behind the first operand. */
static void print_masking(const struct vector *v, struct text *out) {
    unsigned mask = v->evex ? v->c->evex_last & 7u : 0;
    if (mask) {
        text_char(out, '{');
        print_mask(v, mask, out);
        text_char(out, '}');
    }
    if (v->evex && v->c->evex_last & 0x80)
        text_str(out, "{z}");
}

static void print_rounding(const struct vector *v, struct text *out) {
    static const char *const modes[] = {"{rn-sae}", "{rd-sae}", "{ru-sae}", "{rz-sae}"};
    text_str(out, v->row->flags & ROUNDS ? modes[v->c->vector] : "{sae}");
}

/* --- The line ------------------------------------------------------------------------------------------ */

static const char *find_predicate(const struct vector *v) {
    static const char floats[][9] = {"eq",     "lt",     "le",    "unord",  "neq",    "nlt",     "nle",
                                     "ord",    "eq_uq",  "nge",   "ngt",    "false",  "neq_oq",  "ge",
                                     "gt",     "true",   "eq_os", "lt_oq",  "le_oq",  "unord_s", "neq_us",
                                     "nlt_uq", "nle_uq", "ord_s", "eq_us",  "nge_uq", "ngt_uq",  "false_os",
                                     "neq_os", "ge_oq",  "gt_oq", "true_us"};
    static const char ints[][4] = {"eq", "lt", "le", "", "neq", "nlt", "nle", ""};
    if (!(v->row->flags & (FLOAT_COMPARES | INT_COMPARES)))
        return NULL;
    unsigned number = v->l->bytes[v->c->imm_at];
    if (v->row->flags & FLOAT_COMPARES)
        return number < 32 ? floats[number] : NULL;
    return number < 8 && *ints[number] ? ints[number] : NULL;
}

static void print_name(const struct vector *v, struct text *out) {
    static const char precisions[][3] = {"ps", "pd", "ss", "sd"};
    const char *multiply = x86_is_multiply(v->c) ? x86_multiply_name(v->l->bytes[v->c->imm_at]) : NULL;
    if (v->c->encoding == X86_VEX &&
        (!strncmp(v->row->name, "vpdp", 4) || !strncmp(v->row->name, "vpmadd52", 8)))
        text_str(out, "{vex} ");
    for (const char *p = multiply ? multiply : v->row->name; *p; p++)
        if (*p == '%')
            text_str(out, precisions[v->c->pp]);
        else if (*p == '$')
            text_char(out, v->row->w == W_DQ ? (v->c->w ? 'q' : 'd') : v->c->w ? 'w' : 'b');
        else if (*p == '*')
            text_str(out, v->predicate ? v->predicate : "");
        else
            text_char(out, *p);
    if (v->l->o->intel || !x86_code_has_memory(v->c))
        return;
    if (strchr(v->row->form, 'E') && !strncmp(v->row->name, "vcvt", 4))
        text_char(out, v->c->w ? 'q' : 'l');
    if (v->row->flags & (SIZE_XY | SIZE_XYZ) && !v->b && (v->bytes < ZMM || v->row->flags & SIZE_XYZ))
        text_char(out, v->bytes == XMM ? 'x' : v->bytes == ZMM ? 'z' : 'y');
}

/* In Intel's order, one text after the other; ends[i]: where that of operand i does. */
static size_t print_parts(const struct vector *v, struct text *parts, size_t *ends) {
    bool multiply = x86_is_multiply(v->c) && x86_multiply_name(v->l->bytes[v->c->imm_at]);
    size_t count = 0, before = strlen(v->row->form);
    /* Rounding stands behind what is rounded. */
    while (before > 0 && strchr(v->l->o->intel ? "I" : "IE", v->row->form[before - 1]))
        before--;
    for (size_t i = 0;; i++) {
        if (i == before && has_rounding(v)) {
            print_rounding(v, parts);
            count -= v->l->o->intel; /* without a comma there */
            ends[count++] = parts->len;
        }
        char what = v->row->form[i];
        if (!what || (what == 'I' && (v->predicate || multiply)))
            return count;
        print_operand(v, what, parts);
        if (i == 0)
            print_masking(v, parts);
        ends[count++] = parts->len;
    }
}

bool x86_vector_text(const struct x86_line *l, struct text *out) {
    struct vector v = {.l = l, .c = l->c, .row = x86_vector_find(l->c), .evex = l->c->encoding == X86_EVEX};
    v.wide = l->c->wide;
    bool short_addresses = !v.wide && l->c->address_small && x86_code_has_memory(l->c);
    if (!v.row || short_addresses || !find_form(&v))
        return false;
    bool indexed = strchr(v.row->form, 'X'), immediate = strchr(v.row->form, 'I');
    if ((indexed && !l->c->has_sib) || (immediate && !l->c->imm_size))
        return false;
    v.predicate = find_predicate(&v);
    struct text parts = {0};
    size_t ends[8], count = print_parts(&v, &parts, ends);
    out->len = 0;
    x86_prefixes_print(l, out);
    print_name(&v, out);
    text_pad(out, 6);
    text_char(out, ' ');
    for (size_t i = 0; i < count; i++) {
        size_t at = l->o->intel ? i : count - 1 - i, start = at ? ends[at - 1] : 0;
        if (i)
            text_char(out, ',');
        text_mem(out, parts.at + start, ends[at] - start);
    }
    x86_comment_print(l, out);
    return true;
}
