/* SPDX-License-Identifier: Apache-2.0 */
#include "format/tracefs/print_check.h"

#include "base/text/hex.h"

enum {
    DEPTH_MAX = 60,
    INDEX_MAX = PRINT_CHECK_LENGTH_MAX / 8,
    DIGITS_MAX = 4, /* of a width or a precision */
    ELEMENT_MAX = 8,
    ARGUMENTS_MAX = 64,
};

enum token_kind { END, WORD, NUMBER, LETTER, TEXT, SIGN };

struct token {
    enum token_kind kind;
    struct bytes text; /* of a TEXT: without the quotes */
};

/* What an expression is worth: where a number is needed, nothing else will do. */
enum worth { BAD, NUMERIC, TEXTUAL, ARRAY };

struct parser {
    struct print_check *c;
    struct bytes rest; /* after `now` */
    struct token now;
    unsigned depth;
};

static bool is_letter(uint8_t c) {
    return c == '_' || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}
static bool is_digit(uint8_t c) {
    return c >= '0' && c <= '9';
}
static bool is_space(uint8_t c) {
    return c == ' ' || c == '\t' || c == '\n';
}

static bool text_is(struct bytes b, const char *s) {
    return b.size == strlen(s) && memcmp(b.data, s, b.size) == 0;
}

/* How many bytes of `b` the operator or bracket at its start takes; 0: there is none. */
static size_t sign_size(struct bytes b) {
    static const char *const SIGNS[] = {"<<", ">>", "->", "<=", ">=", "==", "!=", "&&", "||"};
    for (size_t i = 0; i < sizeof SIGNS / sizeof *SIGNS; i++)
        if (b.size >= 2 && memcmp(b.data, SIGNS[i], 2) == 0)
            return 2;
    return b.data[0] && strchr("+-*/%&|^!~<>?:,(){}[]", b.data[0]) ? 1 : 0;
}

/* Steps to the next token; what is no token ends the text with a SIGN of no size, which nothing accepts. */
static void step(struct parser *p) {
    struct bytes b = p->rest;
    size_t skip = 0, n = 0;
    if (!b.size) {
        p->now = (struct token){END, b};
        return;
    }
    while (skip < b.size && is_space(b.data[skip]))
        skip++;
    b = (struct bytes){b.data + skip, b.size - skip};
    if (!b.size) {
        p->now = (struct token){END, b};
        p->rest = b;
        return;
    }
    enum token_kind kind;
    if (b.data[0] == '"') {
        for (n = 1; n < b.size && b.data[n] != '"' && b.data[n]; n++)
            n += b.data[n] == '\\';
        kind = TEXT;
        if (n >= b.size || memchr(b.data, 0, n + 1))
            n = 0;
    } else if (b.size >= 3 && b.data[0] == '\'' && b.data[1] != '\\' && b.data[2] == '\'') {
        kind = LETTER;
        n = 3;
    } else if (is_letter(b.data[0]) || is_digit(b.data[0])) {
        while (n < b.size && (is_letter(b.data[n]) || is_digit(b.data[n])))
            n++;
        kind = is_digit(b.data[0]) ? NUMBER : WORD;
    } else {
        n = sign_size(b);
        kind = SIGN;
    }
    if (!n) {
        p->now = (struct token){SIGN, {NULL, 0}};
        p->rest = (struct bytes){NULL, 0};
        return;
    }
    p->now = (struct token){kind, {b.data, n}};
    if (kind == TEXT) {
        p->now.text = (struct bytes){b.data + 1, n - 1};
        n++;
    }
    p->rest = (struct bytes){b.data + n, b.size - n};
}

static bool at_sign(const struct parser *p, const char *sign) {
    return p->now.kind == SIGN && text_is(p->now.text, sign);
}

static bool accept(struct parser *p, const char *sign) {
    if (!at_sign(p, sign))
        return false;
    step(p);
    return true;
}

/* 123, 0x12, 010, each with or without U and L. */
static bool number_value(struct bytes text, uint64_t *value) {
    size_t n = text.size;
    while (n > 1 && ((text.data[n - 1] | 0x20) == 'u' || (text.data[n - 1] | 0x20) == 'l'))
        n--;
    unsigned base = n > 1 && text.data[0] == '0' ? 8 : 10;
    size_t i = 0;
    if (n > 2 && text.data[0] == '0' && (text.data[1] | 0x20) == 'x') {
        base = 16;
        i = 2;
    }
    *value = 0;
    for (; i < n; i++) {
        unsigned digit = hex_digit(text.data[i]);
        if (digit >= base || *value > UINT64_MAX >> 4)
            return false;
        *value = *value * base + digit;
    }
    return true;
}

static bool accept_number(struct parser *p, uint64_t *value) {
    if (p->now.kind != NUMBER || !number_value(p->now.text, value))
        return false;
    step(p);
    return true;
}

/* One text, or several that are to be joined. */
static bool accept_text(struct parser *p) {
    bool any = p->now.kind == TEXT;
    while (p->now.kind == TEXT)
        step(p);
    return any;
}

static const struct tracing_field *accept_field(struct parser *p, uint32_t *index) {
    if (p->now.kind != WORD)
        return NULL;
    for (size_t i = 0; i < p->c->field_count; i++) {
        if (!bytes_equal(p->c->fields[i].name, p->now.text))
            continue;
        step(p);
        *index = (uint32_t)i;
        return &p->c->fields[i];
    }
    return NULL;
}

bool print_check_is_dynamic(const struct tracing_field *field) {
    static const char *const MARKS[] = {"__data_loc ", "__rel_loc "};
    for (size_t i = 0; i < 2; i++)
        if (field->declaration.size > strlen(MARKS[i]) &&
            memcmp(field->declaration.data, MARKS[i], strlen(MARKS[i])) == 0)
            return true;
    return false;
}

static bool is_scalar(const struct tracing_field *f) {
    return !print_check_is_dynamic(f) && f->declaration.size &&
           f->declaration.data[f->declaration.size - 1] != ']' &&
           (f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8);
}

static enum worth expression(struct parser *p);
static enum worth unary(struct parser *p);

static bool numeric(struct parser *p) {
    return expression(p) == NUMERIC;
}

/* { value , "text" } , ... up to the closing parenthesis. Some lists end in { -1, ((void *)0) }. */
static bool pairs(struct parser *p) {
    while (accept(p, ",")) {
        if (!accept(p, "{") || !numeric(p) || !accept(p, ",") || (!accept_text(p) && !numeric(p)) ||
            !accept(p, "}"))
            return false;
    }
    return accept(p, ")");
}

/* ( FIELD ) with a dynamic field */
static bool dynamic_argument(struct parser *p) {
    uint32_t index;
    const struct tracing_field *f = accept(p, "(") ? accept_field(p, &index) : NULL;
    return f && print_check_is_dynamic(f) && f->size == 4 && accept(p, ")");
}

/* A number, a field of the record (whose value then must be small), the length of a dynamic array; each may
 * be divided by a number or a size. */
static bool length(struct parser *p) {
    uint64_t value;
    uint32_t index;
    bool ok;
    while (p->now.kind == SIGN && accept(p, "("))
        if (++p->depth > DEPTH_MAX)
            return false;
    if (p->now.kind == NUMBER) {
        ok = accept_number(p, &value) && value <= PRINT_CHECK_LENGTH_MAX;
    } else if (p->now.kind == WORD && text_is(p->now.text, "REC")) {
        step(p);
        const struct tracing_field *f = accept(p, "->") ? accept_field(p, &index) : NULL;
        ok = f && is_scalar(f) && p->c->length_count < sizeof p->c->lengths / sizeof *p->c->lengths;
        if (ok)
            p->c->lengths[p->c->length_count++] = index;
    } else {
        ok = p->now.kind == WORD && (text_is(p->now.text, "__get_dynamic_array_len") ||
                                     text_is(p->now.text, "__get_rel_dynamic_array_len"));
        step(p);
        ok = ok && dynamic_argument(p);
    }
    return ok;
}

static bool type(struct parser *p) {
    size_t words = 0;
    while (p->now.kind == WORD && !text_is(p->now.text, "REC")) {
        words++;
        step(p);
    }
    while (accept(p, "*"))
        words += words > 0;
    return words > 0;
}

/* A word that only types begin with, so that "(u64)" is a cast and "(x)" is not. */
static bool begins_type(struct bytes word) {
    static const char *const WORDS[] = {"unsigned", "signed", "char",  "short", "int",   "long",  "void",
                                        "const",    "struct", "enum",  "uint",  "bool",  "u8",    "u16",
                                        "u32",      "u64",    "s8",    "s16",   "s32",   "s64",   "__u8",
                                        "__u16",    "__u32",  "__u64", "__s8",  "__s16", "__s32", "__s64"};
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (text_is(word, WORDS[i]))
            return true;
    return word.size > 2 && word.data[word.size - 2] == '_' && word.data[word.size - 1] == 't';
}

static bool array_argument(struct parser *p) {
    enum worth w = expression(p);
    return w == ARRAY;
}

static enum worth print_array(struct parser *p) {
    uint64_t element;
    if (!array_argument(p) || !accept(p, ",") || !length(p) || !accept(p, ",") || !accept_number(p, &element))
        return BAD;
    return element && element <= ELEMENT_MAX && accept(p, ")") ? TEXTUAL : BAD;
}

static enum worth print_hex(struct parser *p) {
    return array_argument(p) && accept(p, ",") && length(p) && accept(p, ")") ? TEXTUAL : BAD;
}

static enum worth print_flags(struct parser *p) {
    return numeric(p) && accept(p, ",") && accept_text(p) && pairs(p) ? TEXTUAL : BAD;
}

static enum worth print_symbolic(struct parser *p) {
    return numeric(p) && pairs(p) ? TEXTUAL : BAD;
}

static enum worth builtin_expect(struct parser *p) {
    return numeric(p) && accept(p, ",") && numeric(p) && accept(p, ")") ? NUMERIC : BAD;
}

static enum worth size_of(struct parser *p) {
    return type(p) && accept(p, ")") ? NUMERIC : BAD;
}

/* What may be called, each after its opening parenthesis; `get` takes a dynamic field. */
static const struct {
    const char *name;
    enum worth (*read)(struct parser *p);
    enum worth get;
} CALLS[] = {
    {"__print_flags", print_flags, BAD},
    {"__print_symbolic", print_symbolic, BAD},
    {"__print_hex", print_hex, BAD},
    {"__print_hex_str", print_hex, BAD},
    {"__print_array", print_array, BAD},
    {"__builtin_expect", builtin_expect, BAD},
    {"sizeof", size_of, BAD},
    {"__get_str", NULL, TEXTUAL},
    {"__get_rel_str", NULL, TEXTUAL},
    {"__get_bitmask", NULL, TEXTUAL},
    {"__get_rel_bitmask", NULL, TEXTUAL},
    {"__get_cpumask", NULL, TEXTUAL},
    {"__get_rel_cpumask", NULL, TEXTUAL},
    {"__get_dynamic_array", NULL, ARRAY},
    {"__get_rel_dynamic_array", NULL, ARRAY},
    {"__get_dynamic_array_len", NULL, NUMERIC},
    {"__get_rel_dynamic_array_len", NULL, NUMERIC},
};

static enum worth word(struct parser *p) {
    struct bytes name = p->now.text;
    uint32_t index;
    uint64_t value;
    step(p);
    if (text_is(name, "REC")) {
        const struct tracing_field *f = accept(p, "->") ? accept_field(p, &index) : NULL;
        if (!f)
            return BAD;
        if (!accept(p, "["))
            return is_scalar(f) ? NUMERIC : ARRAY;
        return !is_scalar(f) && accept_number(p, &value) && value <= INDEX_MAX && accept(p, "]") ? NUMERIC
                                                                                                 : BAD;
    }
    for (size_t i = 0; i < sizeof CALLS / sizeof *CALLS; i++) {
        if (!text_is(name, CALLS[i].name))
            continue;
        if (!CALLS[i].read)
            return dynamic_argument(p) ? CALLS[i].get : BAD;
        return accept(p, "(") ? CALLS[i].read(p) : BAD;
    }
    return at_sign(p, "(") ? BAD : NUMERIC; /* a constant's name, for the library to make nothing of */
}

static enum worth primary(struct parser *p) {
    uint64_t value;
    switch (p->now.kind) {
    case NUMBER:
        return accept_number(p, &value) ? NUMERIC : BAD;
    case LETTER:
        step(p);
        return NUMERIC;
    case TEXT:
        return accept_text(p) ? TEXTUAL : BAD;
    case WORD:
        return word(p);
    default:
        break;
    }
    if (!accept(p, "("))
        return BAD;
    if (p->now.kind == WORD && begins_type(p->now.text)) {
        if (!type(p) || !accept(p, ")"))
            return BAD;
        return unary(p); /* a cast */
    }
    enum worth w = expression(p);
    return accept(p, ")") ? w : BAD;
}

static enum worth unary(struct parser *p) {
    if (++p->depth > DEPTH_MAX)
        return BAD;
    enum worth w;
    if (at_sign(p, "!") || at_sign(p, "~") || at_sign(p, "-") || at_sign(p, "+")) {
        step(p);
        w = unary(p) == NUMERIC ? NUMERIC : BAD;
    } else {
        w = primary(p);
    }
    p->depth--;
    return w;
}

static bool at_operator(const struct parser *p) {
    static const char *const OPERATORS[] = {"+",  "-", "*", "/",  "%",  "&",  "|",  "^",  "<<",
                                            ">>", "<", ">", "<=", ">=", "==", "!=", "&&", "||"};
    for (size_t i = 0; i < sizeof OPERATORS / sizeof *OPERATORS; i++)
        if (at_sign(p, OPERATORS[i]))
            return true;
    return false;
}

/* The operand of / and %: a number other than 0. */
static bool divisor(struct parser *p) {
    uint64_t value;
    if (accept_number(p, &value))
        return value != 0;
    bool inside = accept(p, "(");
    return inside && accept_number(p, &value) && value != 0 && accept(p, ")");
}

static enum worth binary(struct parser *p) {
    enum worth w = unary(p);
    for (unsigned n = 0; w != BAD && at_operator(p); n++) {
        bool divides = at_sign(p, "/") || at_sign(p, "%");
        step(p);
        bool ok = w == NUMERIC && n < DEPTH_MAX && (divides ? divisor(p) : unary(p) == NUMERIC);
        w = ok ? NUMERIC : BAD;
    }
    return w;
}

static enum worth expression(struct parser *p) {
    if (++p->depth > DEPTH_MAX)
        return BAD;
    enum worth w = binary(p);
    if (w != BAD && accept(p, "?")) {
        enum worth yes = w == NUMERIC ? expression(p) : BAD;
        enum worth no = yes != BAD && accept(p, ":") ? expression(p) : BAD;
        w = no == BAD ? BAD : yes == no ? yes : TEXTUAL;
    }
    p->depth--;
    return w;
}

/* Digits or * at `*at`, at most DIGITS_MAX of them; *stars counts the latter. */
static bool width(struct bytes text, size_t *at, size_t *stars) {
    size_t start = *at;
    if (*at < text.size && text.data[*at] == '*') {
        ++*stars;
        ++*at;
        return true;
    }
    while (*at < text.size && is_digit(text.data[*at]))
        ++*at;
    return *at - start <= DIGITS_MAX;
}

/* Adds the arguments that a format text takes to *count; false when it has a conversion that is not known. */
static bool conversions(struct bytes text, size_t *count) {
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] != '%')
            continue;
        if (++i < text.size && text.data[i] == '%')
            continue;
        size_t stars = 0, precision_stars = 0;
        while (i < text.size && text.data[i] && strchr("-+ #0", text.data[i]))
            i++;
        if (!width(text, &i, &stars))
            return false;
        if (i < text.size && text.data[i] == '.') {
            i++;
            if (!width(text, &i, &precision_stars))
                return false;
        }
        while (i < text.size && text.data[i] && strchr("hlLzt", text.data[i]))
            i++;
        if (i >= text.size || !text.data[i] || !strchr("diuxXoscp", text.data[i]))
            return false;
        /* A width from an argument is for bitmaps, a precision from one for texts. */
        if ((stars && text.data[i] != 'p') || (precision_stars && text.data[i] != 's'))
            return false;
        *count += 1 + stars + precision_stars;
    }
    return true;
}

bool print_check_ok(struct print_check *c, struct bytes print) {
    struct parser p = {.c = c, .rest = print};
    size_t wanted = 0, given = 0;
    c->length_count = 0;
    step(&p);
    if (p.now.kind != TEXT)
        return false;
    for (; p.now.kind == TEXT; step(&p))
        if (!conversions(p.now.text, &wanted) || wanted > ARGUMENTS_MAX)
            return false;
    while (accept(&p, ",")) {
        if (expression(&p) == BAD)
            return false;
        given++;
    }
    return p.now.kind == END && given >= wanted && given <= ARGUMENTS_MAX;
}

bool print_check_declaration(struct bytes declaration) {
    bool inside = false;
    for (size_t i = 0; i < declaration.size; i++) {
        uint8_t c = declaration.data[i];
        if (c == '[' && !inside)
            inside = true;
        else if (c == ']' && inside)
            inside = false;
        else if (!is_letter(c) && !is_digit(c) && (inside || (c != ' ' && c != '*')))
            return false;
    }
    return declaration.size && !inside && is_letter(declaration.data[0]);
}
