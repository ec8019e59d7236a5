/* SPDX-License-Identifier: Apache-2.0 */
/* Rust's symbol mangling v0: RFC 2603, with what rustc added since (rustc book, "Symbol Mangling": constants
 * of strings and structures, pattern types). Printed without crates' hashes and constants' types.
 * libiberty's rust_demangle cannot replace it: it does not know those newer constants (foo::<"abc"> stays
 * mangled), and prints constants of more than 64 bits wrongly: 0x123456789abcdef0123 as
 * 0x23456789abcdef0123_ (9 of 251,449 names in rustc and cargo). All its other names are the same. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

#include "symbol/demangle/demangle_internal.h"

enum {
    DEPTH_MAX = 500,      /* of productions within each other */
    STEPS_MAX = 1 << 20,  /* productions in all: backreferences can make a short name an endless one */
    IDENTIFIER_MAX = 256, /* characters of a decoded Unicode one */
};

struct printer {
    const char *s;
    size_t size, at;
    uint32_t depth, steps;
    uint64_t lifetimes; /* bound by the binders around */
    bool failed, quiet; /* quiet: parse only */
    struct demangle_text *text;
};

struct name {
    const char *ascii, *punycode;
    size_t ascii_size, punycode_size;
};

static bool print_path(struct printer *p, bool in_value);
static bool print_type(struct printer *p);
static bool print_const(struct printer *p, bool in_value);

/* --- Letters and numbers ------------------------------------------------------------------------------- */

static bool fail(struct printer *p) {
    p->failed = true;
    return false;
}

static void put(struct printer *p, const char *s, size_t n) {
    if (!p->quiet)
        demangle_put(p->text, s, n);
    if (p->text->full)
        p->failed = true;
}

static void puts_(struct printer *p, const char *s) {
    put(p, s, strlen(s));
}

static char peek(const struct printer *p) {
    return p->failed || p->at == p->size ? 0 : p->s[p->at];
}

static bool eat(struct printer *p, char c) {
    if (peek(p) != c)
        return false;
    p->at++;
    return true;
}

static char next(struct printer *p) {
    char c = peek(p);
    if (c)
        p->at++;
    else
        p->failed = true;
    return c;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* base-62-number = {digit} "_" */
static uint64_t base_62(struct printer *p) {
    if (eat(p, '_'))
        return 0;
    uint64_t x = 0;
    while (!p->failed && !eat(p, '_')) {
        char c = next(p);
        uint64_t digit = is_digit(c)            ? (uint64_t)(c - '0')
                         : c >= 'a' && c <= 'z' ? (uint64_t)(c - 'a' + 10)
                         : c >= 'A' && c <= 'Z' ? (uint64_t)(c - 'A' + 36)
                                                : 62;
        if (digit == 62 || __builtin_mul_overflow(x, 62, &x) || __builtin_add_overflow(x, digit, &x))
            return fail(p);
    }
    return __builtin_add_overflow(x, 1, &x) ? fail(p) : x;
}

/* 0 when the tag is not there. */
static uint64_t tagged_62(struct printer *p, char tag) {
    uint64_t x;
    if (!eat(p, tag))
        return 0;
    return __builtin_add_overflow(base_62(p), 1, &x) ? fail(p) : x;
}

/* undisambiguated-identifier = ["u"] decimal ["_"] bytes */
static struct name read_name(struct printer *p) {
    struct name n = {NULL, NULL, 0, 0};
    bool unicode = eat(p, 'u');
    size_t size = 0;
    if (!is_digit(peek(p))) {
        fail(p);
        return n;
    }
    if (!eat(p, '0'))
        while (is_digit(peek(p)) && size < p->size)
            size = size * 10 + (size_t)(next(p) - '0');
    eat(p, '_');
    if (p->failed || size > p->size - p->at) {
        fail(p);
        return n;
    }
    n.ascii = p->s + p->at;
    n.ascii_size = size;
    p->at += size;
    if (!unicode)
        return n;
    const char *split = memrchr(n.ascii, '_', size);
    n.punycode = split ? split + 1 : n.ascii;
    n.punycode_size = size - (size_t)(n.punycode - n.ascii);
    n.ascii_size = split ? (size_t)(split - n.ascii) : 0;
    if (!n.punycode_size)
        fail(p);
    return n;
}

/* --- Names --------------------------------------------------------------------------------------------- */

/* Punycode, RFC 3492 6.2, with "_" for the delimiter and the digits a-z0-9. */
static size_t decode_punycode(const struct name *n, uint32_t out[IDENTIFIER_MAX]) {
    size_t count = n->ascii_size;
    if (count > IDENTIFIER_MAX)
        return 0;
    for (size_t i = 0; i < count; i++)
        out[i] = (uint8_t)n->ascii[i];
    uint64_t at = 0, code = 128, bias = 72, damp = 700;
    for (size_t in = 0; in < n->punycode_size;) {
        uint64_t delta = 0, weight = 1;
        for (uint64_t k = 36;; k += 36) {
            uint64_t t = k <= bias ? 1 : k - bias > 26 ? 26 : k - bias;
            if (in == n->punycode_size)
                return 0;
            char c = n->punycode[in++];
            uint64_t digit = c >= 'a' && c <= 'z' ? (uint64_t)(c - 'a')
                             : is_digit(c)        ? (uint64_t)(c - '0' + 26)
                                                  : 36;
            if (digit == 36 || delta > UINT32_MAX || weight > UINT32_MAX)
                return 0;
            delta += digit * weight;
            if (digit < t)
                break;
            weight *= 36 - t;
        }
        if (count == IDENTIFIER_MAX)
            return 0;
        at += delta;
        code += at / (count + 1);
        at %= count + 1;
        if (code > 0x10ffff)
            return 0;
        memmove(out + at + 1, out + at, (count - at) * sizeof *out);
        out[at++] = (uint32_t)code;
        count++;
        delta /= damp;
        damp = 2;
        delta += delta / count;
        for (bias = 0; delta > 455; bias += 36)
            delta /= 35;
        bias += 36 * delta / (delta + 38);
    }
    return count;
}

static void print_name(struct printer *p, const struct name *n) {
    uint32_t chars[IDENTIFIER_MAX];
    if (p->failed || p->quiet)
        return;
    if (!n->punycode) {
        put(p, n->ascii, n->ascii_size);
        return;
    }
    size_t count = decode_punycode(n, chars);
    if (!count)
        fail(p);
    for (size_t i = 0; i < count && !p->failed; i++)
        if (!demangle_put_char(p->text, chars[i]) || p->text->full)
            fail(p);
}

static void print_number(struct printer *p, uint64_t v) {
    char digits[24];
    put(p, digits, (size_t)snprintf(digits, sizeof digits, "%" PRIu64, v));
}

/* 0 is an erased lifetime, 1 the one bound last. */
static void print_lifetime(struct printer *p, uint64_t index) {
    if (index > p->lifetimes) {
        fail(p);
        return;
    }
    puts_(p, "'");
    uint64_t depth = p->lifetimes - index;
    if (index == 0)
        puts_(p, "_");
    else if (depth < 26)
        put(p, &"abcdefghijklmnopqrstuvwxyz"[depth], 1);
    else {
        puts_(p, "_");
        print_number(p, depth);
    }
}

/* --- Productions --------------------------------------------------------------------------------------- */

typedef bool production(struct printer *p);

static bool enter(struct printer *p) {
    if (p->failed || ++p->depth > DEPTH_MAX || ++p->steps > STEPS_MAX)
        return fail(p);
    return true;
}

static bool leave(struct printer *p) {
    p->depth--;
    return !p->failed;
}

/* "B" has been eaten: goes on where it points, which must be before it. Not followed when quiet: that was
 * seen. */
static bool print_backref(struct printer *p, bool (*print)(struct printer *p, bool in_value), bool in_value) {
    size_t from = p->at - 1;
    uint64_t to = base_62(p);
    if (p->failed || to >= from)
        return fail(p);
    if (p->quiet)
        return true;
    size_t back = p->at;
    p->at = (size_t)to;
    bool ok = print(p, in_value);
    p->at = back;
    return ok;
}

static bool type_again(struct printer *p, bool in_value) {
    (void)in_value;
    return print_type(p);
}

/* Up to "E"; how many. */
static size_t print_list(struct printer *p, production *print, const char *separator) {
    size_t count = 0;
    while (!p->failed && !eat(p, 'E')) {
        if (count++)
            puts_(p, separator);
        print(p);
    }
    return count;
}

static bool const_in_value(struct printer *p) {
    return print_const(p, true);
}

static bool print_generic_arg(struct printer *p) {
    if (eat(p, 'L')) {
        print_lifetime(p, base_62(p));
        return !p->failed;
    }
    return eat(p, 'K') ? print_const(p, false) : print_type(p);
}

/* namespace: upper case is printed as {closure#0}, lower case (types, values) is not. */
static bool print_nested(struct printer *p, bool in_value) {
    char space = next(p);
    if (!((space >= 'A' && space <= 'Z') || (space >= 'a' && space <= 'z')))
        return fail(p);
    print_path(p, in_value);
    uint64_t disambiguator = tagged_62(p, 's');
    struct name n = read_name(p);
    bool named = n.ascii_size || n.punycode;
    if (space >= 'a') {
        if (named)
            puts_(p, "::");
        print_name(p, &n);
        return !p->failed;
    }
    puts_(p, "::{");
    if (space == 'C')
        puts_(p, "closure");
    else if (space == 'S')
        puts_(p, "shim");
    else
        put(p, &space, 1);
    if (named)
        puts_(p, ":");
    print_name(p, &n);
    puts_(p, "#");
    print_number(p, disambiguator);
    puts_(p, "}");
    return !p->failed;
}

/* <type>, <type as trait>; before which an impl's own path is, of which nothing is printed. */
static bool print_impl(struct printer *p, char tag) {
    if (tag != 'Y') {
        bool quiet = p->quiet;
        p->quiet = true;
        tagged_62(p, 's');
        print_path(p, false);
        p->quiet = quiet;
    }
    puts_(p, "<");
    print_type(p);
    if (tag != 'M') {
        puts_(p, " as ");
        print_path(p, false);
    }
    puts_(p, ">");
    return !p->failed;
}

static bool print_path(struct printer *p, bool in_value) {
    if (!enter(p))
        return false;
    char tag = next(p);
    struct name n;
    switch (tag) {
    case 'C':
        tagged_62(p, 's');
        n = read_name(p);
        print_name(p, &n);
        break;
    case 'N':
        print_nested(p, in_value);
        break;
    case 'M':
    case 'X':
    case 'Y':
        print_impl(p, tag);
        break;
    case 'I':
        print_path(p, in_value);
        puts_(p, in_value ? "::<" : "<");
        print_list(p, print_generic_arg, ", ");
        puts_(p, ">");
        break;
    case 'B':
        print_backref(p, print_path, in_value);
        break;
    default:
        fail(p);
    }
    return leave(p);
}

static const char *basic_type(char tag) {
    static const char *const names[26] = {
        "i8",   "bool", "char", "f64", "str", "f32", NULL,  "u8", "isize", "usize", NULL,  "i32", "u32",
        "i128", "u128", "_",    NULL,  NULL,  "i16", "u16", "()", "...",   NULL,    "i64", "u64", "!",
    };
    return tag >= 'a' && tag <= 'z' ? names[tag - 'a'] : NULL;
}

/* binder = "G" base-62-number: for<'a, 'b> */
static uint64_t open_binder(struct printer *p) {
    uint64_t bound = tagged_62(p, 'G'), lifetimes;
    if (p->failed || !bound)
        return 0;
    if (__builtin_add_overflow(p->lifetimes, bound, &lifetimes) || bound > DEMANGLE_TEXT_MAX) {
        fail(p);
        return 0;
    }
    puts_(p, "for<");
    for (uint64_t i = 0; i < bound && !p->failed; i++) {
        if (i)
            puts_(p, ", ");
        p->lifetimes++;
        print_lifetime(p, 1);
    }
    p->lifetimes = lifetimes;
    puts_(p, "> ");
    return bound;
}

/* fn-sig = [binder] ["U"] ["K" abi] {type} "E" type */
static bool print_function(struct printer *p) {
    uint64_t bound = open_binder(p);
    if (eat(p, 'U'))
        puts_(p, "unsafe ");
    if (eat(p, 'K')) {
        puts_(p, "extern \"");
        if (eat(p, 'C')) {
            puts_(p, "C");
        } else {
            struct name abi = read_name(p);
            if (p->failed || abi.punycode || !abi.ascii_size)
                return fail(p);
            for (size_t i = 0; i < abi.ascii_size; i++)
                put(p, abi.ascii[i] == '_' ? "-" : &abi.ascii[i], 1);
        }
        puts_(p, "\" ");
    }
    puts_(p, "fn(");
    print_list(p, print_type, ", ");
    puts_(p, ")");
    if (!eat(p, 'u')) { /* what returns () says nothing */
        puts_(p, " -> ");
        print_type(p);
    }
    p->lifetimes -= p->failed ? 0 : bound;
    return !p->failed;
}

/* A trait's path, whose generic arguments may be left open for associated types: *open says so. */
static bool print_open_path(struct printer *p, bool *open) {
    if (!enter(p))
        return false;
    if (eat(p, 'B')) {
        size_t from = p->at - 1;
        uint64_t to = base_62(p);
        size_t back = p->at;
        if (p->failed || to >= from)
            return fail(p);
        if (!p->quiet) {
            p->at = (size_t)to;
            print_open_path(p, open);
            p->at = back;
        }
    } else if (eat(p, 'I')) {
        print_path(p, false);
        puts_(p, "<");
        *open = print_list(p, print_generic_arg, ", ") || true;
    } else {
        print_path(p, false);
    }
    return leave(p);
}

/* dyn-trait = path {"p" undisambiguated-identifier type} */
static bool print_dyn_trait(struct printer *p) {
    bool open = false;
    print_open_path(p, &open);
    while (eat(p, 'p')) {
        puts_(p, open ? ", " : "<");
        open = true;
        struct name n = read_name(p);
        print_name(p, &n);
        puts_(p, " = ");
        print_type(p);
    }
    if (open)
        puts_(p, ">");
    return !p->failed;
}

static bool print_dyn(struct printer *p) {
    puts_(p, "dyn ");
    uint64_t bound = open_binder(p);
    print_list(p, print_dyn_trait, " + ");
    p->lifetimes -= p->failed ? 0 : bound;
    if (!eat(p, 'L'))
        return fail(p);
    uint64_t lifetime = base_62(p);
    if (lifetime) {
        puts_(p, " + ");
        print_lifetime(p, lifetime);
    }
    return !p->failed;
}

/* Of a pattern type: a range, alternatives, or a pointer that is not null. */
static bool print_pattern(struct printer *p) {
    if (!enter(p))
        return false;
    switch (next(p)) {
    case 'R':
        print_const(p, false);
        puts_(p, "..=");
        print_const(p, false);
        break;
    case 'O':
        print_list(p, print_pattern, " | ");
        break;
    case 'N':
        puts_(p, "!null");
        break;
    default:
        fail(p);
    }
    return leave(p);
}

static void print_reference(struct printer *p, bool mutable) {
    puts_(p, "&");
    uint64_t lifetime = eat(p, 'L') ? base_62(p) : 0;
    if (lifetime) {
        print_lifetime(p, lifetime);
        puts_(p, " ");
    }
    if (mutable)
        puts_(p, "mut ");
    print_type(p);
}

static void print_array(struct printer *p, bool sized) {
    puts_(p, "[");
    print_type(p);
    if (sized) {
        puts_(p, "; ");
        print_const(p, true);
    }
    puts_(p, "]");
}

static bool print_type(struct printer *p) {
    const char *basic = basic_type(peek(p));
    if (basic) {
        p->at++;
        puts_(p, basic);
        return !p->failed;
    }
    if (!enter(p))
        return false;
    char tag = next(p);
    switch (tag) {
    case 'R':
    case 'Q':
        print_reference(p, tag == 'Q');
        break;
    case 'P':
    case 'O':
        puts_(p, tag == 'P' ? "*const " : "*mut ");
        print_type(p);
        break;
    case 'A':
    case 'S':
        print_array(p, tag == 'A');
        break;
    case 'T':
        puts_(p, "(");
        puts_(p, print_list(p, print_type, ", ") == 1 ? ",)" : ")");
        break;
    case 'F':
        print_function(p);
        break;
    case 'D':
        print_dyn(p);
        break;
    case 'W':
        print_type(p);
        puts_(p, " is ");
        print_pattern(p);
        break;
    case 'B':
        print_backref(p, type_again, false);
        break;
    default: /* a path's tag, if any */
        p->at -= tag != 0;
        print_path(p, false);
    }
    return leave(p);
}

/* --- Constants ----------------------------------------------------------------------------------------- */

/* const-data = {hex digit} "_" */
static const char *read_hex(struct printer *p, size_t *size) {
    size_t start = p->at;
    while (is_digit(peek(p)) || (peek(p) >= 'a' && peek(p) <= 'f'))
        p->at++;
    *size = p->at - start;
    if (!eat(p, '_'))
        fail(p);
    return p->s + start;
}

static uint32_t nibble(char c) {
    return (uint32_t)(is_digit(c) ? c - '0' : c - 'a' + 10);
}

/* False when it has more than 64 bits. */
static bool hex_value(const char *hex, size_t size, uint64_t *value) {
    for (; size && *hex == '0'; size--)
        hex++;
    *value = 0;
    for (size_t i = 0; i < size && size <= 16; i++)
        *value = *value << 4 | nibble(hex[i]);
    return size <= 16;
}

static void print_unsigned(struct printer *p) {
    size_t size;
    uint64_t value;
    const char *hex = read_hex(p, &size);
    if (p->failed)
        return;
    if (hex_value(hex, size, &value)) {
        print_number(p, value);
    } else {
        puts_(p, "0x");
        put(p, hex, size);
    }
}

/* As Rust's escape_debug, but for the other kind of quote, and with all that is not ASCII escaped, as perf
 * does. */
static void print_escaped(struct printer *p, uint32_t c, char quote) {
    static const char plain[] = "\t\r\n\\", letters[] = "trn\\";
    const char *special = c && c < 128 ? strchr(plain, (int)c) : NULL;
    char text[16];
    if (p->quiet)
        return;
    if (special || c == (uint8_t)quote) {
        text[0] = '\\';
        text[1] = special ? letters[special - plain] : quote;
        put(p, text, 2);
    } else if (c == 0) {
        puts_(p, "\\0");
    } else if (c < 0x20 || c >= 0x7f) {
        put(p, text, (size_t)snprintf(text, sizeof text, "\\u{%x}", c));
    } else {
        put(p, &(char){(char)c}, 1);
    }
}

static void print_character(struct printer *p) {
    size_t size;
    uint64_t value;
    const char *hex = read_hex(p, &size);
    if (p->failed || !hex_value(hex, size, &value) || value > 0x10ffff) {
        fail(p);
        return;
    }
    puts_(p, "'");
    print_escaped(p, (uint32_t)value, '\'');
    puts_(p, "'");
}

static uint32_t hex_byte(const char *hex) {
    return nibble(hex[0]) << 4 | nibble(hex[1]);
}

/* A string's bytes, which must be UTF-8 (RFC 3629 3). */
static void print_string(struct printer *p) {
    size_t size;
    const char *hex = read_hex(p, &size);
    if (p->failed || size % 2) {
        fail(p);
        return;
    }
    puts_(p, "\"");
    for (size_t i = 0; i < size && !p->failed;) {
        uint32_t c = hex_byte(hex + i), more = c < 0x80 ? 0 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
        if ((c >= 0x80 && c < 0xc2) || c > 0xf4 || size - i < 2 * (more + 1)) {
            fail(p);
            return;
        }
        c = more ? c & (0x3f >> more) : c;
        for (i += 2; more; more--, i += 2)
            c = c << 6 | (hex_byte(hex + i) & 0x3f);
        print_escaped(p, c, '"');
    }
    puts_(p, "\"");
}

static bool print_field(struct printer *p) {
    tagged_62(p, 's');
    struct name n = read_name(p);
    print_name(p, &n);
    puts_(p, ": ");
    return print_const(p, true);
}

static void print_structure(struct printer *p) {
    print_path(p, true);
    switch (next(p)) {
    case 'U':
        break;
    case 'T':
        puts_(p, "(");
        print_list(p, const_in_value, ", ");
        puts_(p, ")");
        break;
    case 'S':
        puts_(p, " { ");
        print_list(p, print_field, ", ");
        puts_(p, " }");
        break;
    default:
        fail(p);
    }
}

/* Constants that are expressions: in braces where a generic argument stands. */
static void print_expression(struct printer *p, char tag) {
    switch (tag) {
    case 'e': /* a literal is a &str, so that a str is what it refers to */
        puts_(p, "*");
        print_string(p);
        break;
    case 'R':
    case 'Q':
        puts_(p, tag == 'Q' ? "&mut " : "&");
        print_const(p, true);
        break;
    case 'A':
        puts_(p, "[");
        print_list(p, const_in_value, ", ");
        puts_(p, "]");
        break;
    case 'T':
        puts_(p, "(");
        puts_(p, print_list(p, const_in_value, ", ") == 1 ? ",)" : ")");
        break;
    case 'V':
        print_structure(p);
        break;
    default:
        fail(p);
    }
}

static void print_bool(struct printer *p) {
    size_t size;
    uint64_t value;
    const char *hex = read_hex(p, &size);
    if (p->failed || !hex_value(hex, size, &value) || value > 1)
        fail(p);
    else
        puts_(p, value ? "true" : "false");
}

static bool print_const(struct printer *p, bool in_value) {
    if (!enter(p))
        return false;
    char tag = next(p);
    if (tag && strchr("htmyoj", tag)) {
        print_unsigned(p);
    } else if (tag && strchr("aslxni", tag)) {
        if (eat(p, 'n'))
            puts_(p, "-");
        print_unsigned(p);
    } else if (tag == 'p') {
        puts_(p, "_");
    } else if (tag == 'b') {
        print_bool(p);
    } else if (tag == 'c') {
        print_character(p);
    } else if (tag == 'R' && eat(p, 'e')) {
        print_string(p);
    } else if (tag == 'B') {
        print_backref(p, print_const, in_value);
    } else {
        puts_(p, in_value ? "" : "{");
        print_expression(p, tag);
        puts_(p, in_value ? "" : "}");
    }
    return leave(p);
}

bool demangle_rust_v0(const char *name, size_t size, struct demangle_text *t, size_t *used) {
    struct printer p = {.s = name, .size = size, .text = t};
    if (!size || *name < 'A' || *name > 'Z') /* a digit would be a later version */
        return false;
    print_path(&p, true);
    if (peek(&p) >= 'A' && peek(&p) <= 'Z') { /* the crate that instantiates it */
        p.quiet = true;
        print_path(&p, false);
    }
    *used = p.at;
    return !p.failed;
}
