/* SPDX-License-Identifier: Apache-2.0 */
#include "object/disasm/arm64_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "object/disasm/arm64_extra.h"
#include "object/disasm/arm64_flow.h"

static bool is_letter(char c) {
    return c >= 'a' && c <= 'z';
}

/* Other names of conditions, which objdump puts behind. */
struct condition {
    char name[3], others[3][6];
};

static const struct condition *find_condition(struct span name) {
    static const struct condition all[] = {
        {"eq", {"none"}},  {"ne", {"any"}},   {"cs", {"hs", "nlast"}}, {"cc", {"lo", "ul", "last"}},
        {"mi", {"first"}}, {"pl", {"nfrst"}}, {"hi", {"pmore"}},       {"ls", {"plast"}},
        {"ge", {"tcont"}}, {"lt", {"tstop"}}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (span_is(name, all[i].name))
            return &all[i];
    return NULL;
}

/* Capstone has two of the other names. */
static struct span usual_condition(struct span name) {
    if (span_is(name, "hs"))
        return (struct span){"cs", 2};
    return span_is(name, "lo") ? (struct span){"cc", 2} : name;
}

/* Instructions whose immediates are printed in hex; counts of bits, and places in memory, are decimal. */
static bool prints_hex(struct span name) {
    static const char names[][7] = {"add",  "adds", "and",  "ands",  "bic",    "brk", "ccmn", "ccmp",
                                    "cmn",  "cmp",  "eor",  "fccmp", "fccmpe", "hlt", "hvc",  "mov",
                                    "movi", "movk", "movn", "movz",  "mvni",   "orr", "smc",  "sub",
                                    "subs", "svc",  "tst",  "udf",   "hint"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (span_is(name, names[i]))
            return true;
    return false;
}

/* A number behind #: `#0x10`, `#-8`. What is none (`#1.0`) stays. How many bytes it takes; 0: none. */
static size_t read_number(const char *p, int64_t *value) {
    uint64_t v = 0;
    size_t n = *p == '-';
    unsigned base = p[n] == '0' && p[n + 1] == 'x' ? 16 : 10;
    size_t first = n += base == 16 ? 2 : 0;
    for (;; n++) {
        unsigned digit = p[n] >= '0' && p[n] <= '9'   ? (unsigned)(p[n] - '0')
                         : p[n] >= 'a' && p[n] <= 'f' ? (unsigned)(p[n] - 'a') + 10
                                                      : 16;
        if (digit >= base)
            break;
        v = v * base + digit;
    }
    *value = (int64_t)(*p == '-' ? -v : v);
    return n > first && p[n] != '.' ? n : 0;
}

static void print_number(int64_t value, bool hex, struct text *out) {
    char digits[24];
    text_char(out, '#');
    if (hex) {
        text_hex0x(out, (uint64_t)value);
        return;
    }
    snprintf(digits, sizeof digits, "%" PRId64, value);
    text_str(out, digits);
}

/* Behind "lsl " and the like a number counts bits. */
static bool follows_word(const char *start, const char *p) {
    return p - start >= 2 && p[-1] == ' ' && is_letter(p[-2]);
}

static void print_operands(struct span name, const char *p, struct text *out) {
    const char *start = p;
    bool hex = prints_hex(name), memory = false;
    while (*p) {
        int64_t value;
        size_t n = *p == '#' ? read_number(p + 1, &value) : 0;
        memory |= *p == '[';
        if (n) {
            bool as_hex = hex && !memory && !follows_word(start, p);
            print_number(as_hex && *start == 'w' ? value & 0xffffffff : value, as_hex, out);
            p += n + 1;
        } else {
            text_char(out, *p++);
        }
    }
}

/* The operands before the last one, which is an address. */
static void print_before_last(const char *operands, struct text *out) {
    const char *last = strrchr(operands, ',');
    if (!last)
        return;
    struct text all = {0};
    print_operands((struct span){"", 0}, operands, &all);
    for (size_t n = all.len; n-- > 0;)
        if (all.at[n] == ',') {
            text_mem(out, all.at, n);
            text_str(out, ", ");
            return;
        }
}

static uint64_t address_of(uint32_t word, const struct disasm_instruction *i) {
    int64_t immediate = (int64_t)((uint64_t)word << 40) >> 45; /* bits 5 to 23 */
    if (i->has_target)
        return i->target;
    if ((word & 0x1f000000) != 0x10000000)
        return i->address + (uint64_t)immediate * 4;
    uint64_t by_bytes = (uint64_t)immediate << 2 | (word >> 29 & 3);
    return word >> 31 ? (i->address & ~UINT64_C(0xfff)) + (by_bytes << 12) : i->address + by_bytes;
}

/* MOV of a constant, which has three encodings; false: not one, or not with that name. */
static bool read_constant(uint32_t word, const char *operands, uint64_t *value) {
    uint64_t immediate = (uint64_t)(word >> 5 & 0xffff) << 16 * (word >> 21 & 3);
    bool wide = word >> 31, shifted_zero = !(word >> 5 & 0xffff) && (word >> 21 & 3);
    switch (word & 0x7f800000) {
    case 0x52800000: /* MOVZ */
        *value = immediate;
        return !shifted_zero;
    case 0x12800000: /* MOVN */
        *value = wide ? ~immediate : ~immediate & 0xffffffff;
        return !shifted_zero && (wide || (word >> 5 & 0xffff) != 0xffff);
    case 0x32000000: { /* ORR with the zero register */
        const char *number = strrchr(operands, '#');
        int64_t v;
        if ((word >> 5 & 31) != 31 || !number || !read_number(number + 1, &v))
            return false;
        *value = wide ? (uint64_t)v : (uint64_t)v & 0xffffffff;
        return true;
    }
    default:
        return false;
    }
}

static void print_constant(uint32_t word, const char *operands, uint64_t value, struct text *out) {
    char comment[32];
    int64_t signed_value = word >> 31 ? (int64_t)value : (int32_t)value;
    text_str(out, "mov    ");
    text_mem(out, operands, strcspn(operands, ","));
    text_str(out, ", #");
    text_hex0x(out, value);
    /* objdump adds the decimal value as a comment. */
    snprintf(comment, sizeof comment, "  // #%" PRId64, signed_value);
    text_str(out, comment);
}

static bool tests_condition(struct span name) {
    static const char names[][7] = {"csel", "csinc", "csinv", "csneg", "cset",  "csetm", "cinc",
                                    "cinv", "cneg",  "ccmp",  "ccmn",  "fcsel", "fccmp", "fccmpe"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (name.n == strnlen(names[i], sizeof names[i]) && !memcmp(name.p, names[i], name.n))
            return true;
    return false;
}

static void print_condition(const struct condition *c, bool branch, struct text *out) {
    text_str(out, "  // ");
    if (!branch) {
        text_str(out, c->name);
        text_str(out, " = ");
    }
    for (size_t i = 0; i < 3 && *c->others[i]; i++) {
        text_str(out, i ? ", " : "");
        text_str(out, branch ? "b." : "");
        text_str(out, c->others[i]);
    }
}

/* The last operand, and what objdump says of it. */
static void mend_condition(struct text *out) {
    size_t at = out->len;
    while (at && out->at[at - 1] != ' ')
        at--;
    struct span name = usual_condition((struct span){out->at + at, out->len - at});
    const struct condition *c = find_condition(name);
    memmove(out->at + at, name.p, name.n);
    if (c)
        print_condition(c, false, out);
}

/* USHLL and SSHLL by 0. */
static bool extends(struct span name, const char *operands) {
    size_t n = strlen(operands);
    return (span_starts(name, "ushll") || span_starts(name, "sshll")) && n > 4 &&
           !strcmp(operands + n - 4, ", #0");
}

/* Vector moves and extensions, for which objdump has shorter names. */
static struct span other_name(struct span name, uint32_t word, const char *operands) {
    static const char names[] = "uxtl2sxtl2";
    if (extends(name, operands))
        return (struct span){names + (*name.p == 's' ? 5 : 0), name.n - 1};
    bool whole = (word & 0x70000) == 0x40000 || (word & 0xf0000) == 0x80000;
    return span_is(name, "ins") || (span_is(name, "umov") && whole) ? (struct span){"mov", 3} : name;
}

/* FMOV's constants. */
static bool print_float(const char *operands, struct text *out) {
    const char *number = strchr(operands, '#');
    char digits[40];
    if (!number)
        return false;
    text_mem(out, operands, (size_t)(number - operands));
    snprintf(digits, sizeof digits, "#%.18e", strtod(number + 1, NULL));
    text_str(out, digits);
    return true;
}

static void print_others(struct span name, const char *operands, struct text *out) {
    if (span_is(name, "fmov") && print_float(operands, out))
        return;
    print_operands(name, operands, out);
    if (extends(name, operands))
        out->len -= 4;
    if (tests_condition(name))
        mend_condition(out);
}

void arm64_text(const struct disasm_options *o, const struct disasm_instruction *i, const char *mnemonic,
                const char *operands, struct text *out) {
    uint32_t word = bytes_load32(i->bytes, BYTES_HOST_BIG);
    struct span name = {mnemonic, strlen(mnemonic)};
    const struct condition *condition = NULL;
    uint64_t value;
    if (arm64_extra(word, out))
        return;
    out->len = 0;
    if (read_constant(word, operands, &value)) {
        print_constant(word, operands, value, out);
        return;
    }
    if (span_starts(name, "b.")) {
        struct span tested = usual_condition((struct span){name.p + 2, name.n - 2});
        condition = find_condition(tested);
        text_str(out, "b.");
        text_span(out, tested);
    } else {
        text_span(out, other_name(name, word, operands));
    }
    if (!*operands)
        return;
    text_pad(out, 6);
    text_char(out, ' ');
    if (i->has_target || arm64_names_address(word)) {
        print_before_last(operands, out);
        disasm_address_print(o, address_of(word, i), out);
    } else {
        print_others(name, operands, out);
    }
    if (condition)
        print_condition(condition, true, out);
}
