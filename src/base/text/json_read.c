/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/json_read.h"

#include "base/text/hex.h"

enum { NESTED_MAX = 64 };

static void fail(struct json_reader *r) {
    r->failed = true;
    r->at = r->end;
}

/* Returns the next character that is no white space, 0 at the end. */
static char peek(struct json_reader *r) {
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\r' || *r->at == '\t'))
        r->at++;
    return r->at < r->end ? *r->at : 0;
}

static bool take(struct json_reader *r, char c) {
    if (r->failed || peek(r) != c || r->at == r->end)
        return false;
    r->at++;
    return true;
}

void json_enter(struct json_reader *r, char bracket) {
    if (!take(r, bracket))
        fail(r);
    r->first = true;
}

/* Returns whether something follows in these brackets. */
static bool next(struct json_reader *r, char end) {
    if (take(r, end)) {
        r->first = false; /* the outer brackets have this one */
        return false;
    }
    if (!r->first && !take(r, ','))
        fail(r);
    r->first = false;
    return !r->failed && peek(r);
}

bool json_element(struct json_reader *r) {
    return next(r, ']');
}

/* Passes a text, which begins with a quote. Returns what is between the quotes. */
static struct bytes pass_text(struct json_reader *r) {
    if (!take(r, '"')) {
        fail(r);
        return (struct bytes){0};
    }
    const char *start = r->at;
    while (r->at < r->end && *r->at != '"')
        r->at += *r->at == '\\' && r->at + 1 < r->end ? 2 : 1;
    if (r->at >= r->end) {
        fail(r);
        return (struct bytes){0};
    }
    return (struct bytes){(const uint8_t *)start, (size_t)(r->at++ - start)};
}

bool json_member(struct json_reader *r, struct bytes *key) {
    *key = (struct bytes){0};
    if (!next(r, '}'))
        return false;
    *key = pass_text(r);
    if (!take(r, ':'))
        fail(r);
    return !r->failed;
}

uint64_t json_read_number(struct json_reader *r) {
    uint64_t v = 0;
    peek(r);
    const char *start = r->at;
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++)
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, (uint64_t)(*r->at - '0'), &v))
            fail(r);
    if (r->at == start || (r->at < r->end && (*r->at == '.' || *r->at == 'e' || *r->at == 'E')))
        fail(r);
    return r->failed ? 0 : v;
}

uint64_t json_read_number_or(struct json_reader *r, uint64_t null) {
    if (peek(r) != 'n')
        return json_read_number(r);
    if (r->end - r->at >= 4 && !memcmp(r->at, "null", 4))
        r->at += 4;
    else
        fail(r);
    return null;
}

/* ---- texts ---- */

static void put_character(struct out *to, uint32_t c) {
    if (c < 0x80) {
        out_char(to, (char)c);
    } else if (c < 0x800) {
        out_char(to, (char)(0xc0 | c >> 6));
        out_char(to, (char)(0x80 | (c & 0x3f)));
    } else if (c < 0x10000) {
        out_char(to, (char)(0xe0 | c >> 12));
        out_char(to, (char)(0x80 | (c >> 6 & 0x3f)));
        out_char(to, (char)(0x80 | (c & 0x3f)));
    } else {
        out_char(to, (char)(0xf0 | c >> 18));
        out_char(to, (char)(0x80 | (c >> 12 & 0x3f)));
        out_char(to, (char)(0x80 | (c >> 6 & 0x3f)));
        out_char(to, (char)(0x80 | (c & 0x3f)));
    }
}

/* Returns the four hex digits at p, or UINT32_MAX. */
static uint32_t hex4(const uint8_t *p, const uint8_t *end) {
    uint32_t v = 0;
    if (end - p < 4)
        return UINT32_MAX;
    for (int i = 0; i < 4; i++) {
        unsigned digit = hex_digit(p[i]);
        if (digit == HEX_NONE)
            return UINT32_MAX;
        v = v << 4 | digit;
    }
    return v;
}

/* Decodes "\uXXXX" at p, after the u; of a pair of surrogates both. Returns where it ends. */
static const uint8_t *put_escape(const uint8_t *p, const uint8_t *end, struct out *to) {
    enum { REPLACEMENT = 0xfffd };
    uint32_t c = hex4(p, end);
    if (c == UINT32_MAX)
        return p;
    p += 4;
    bool high = c >= 0xd800 && c < 0xdc00, low = c >= 0xdc00 && c < 0xe000;
    uint32_t second = high && end - p >= 6 && p[0] == '\\' && p[1] == 'u' ? hex4(p + 2, end) : 0;
    if (second >= 0xdc00 && second < 0xe000) {
        put_character(to, 0x10000 + ((c - 0xd800) << 10 | (second - 0xdc00)));
        return p + 6;
    }
    put_character(to, high || low ? REPLACEMENT : c);
    return p;
}

void json_read_text(struct json_reader *r, struct out *to) {
    static const char plain[128] = {['n'] = '\n', ['t'] = '\t', ['r'] = '\r', ['b'] = '\b', ['f'] = '\f'};
    struct bytes text = pass_text(r);
    const uint8_t *p = text.data, *end = text.data ? text.data + text.size : NULL;
    size_t start = to->len;
    while (p < end) {
        const uint8_t *escape = memchr(p, '\\', (size_t)(end - p)), *stop = escape ? escape : end;
        out_mem(to, (const char *)p, (size_t)(stop - p));
        p = stop;
        if (!escape || ++p >= end)
            break;
        uint8_t c = *p++;
        if (c == 'u')
            p = put_escape(p, end, to);
        else
            out_char(to, c < 128 && plain[c] ? plain[c] : (char)c);
    }
    const char *zero = to->len > start ? memchr(to->buf + start, 0, to->len - start) : NULL;
    if (zero)
        to->len = (size_t)(zero - to->buf);
}

/* ---- what is not wanted ---- */

static void skip(struct json_reader *r, unsigned depth) {
    struct bytes key;
    char c = peek(r);
    if (depth > NESTED_MAX) {
        fail(r);
    } else if (c == '{') {
        for (json_enter(r, '{'); json_member(r, &key);)
            skip(r, depth + 1);
    } else if (c == '[') {
        for (json_enter(r, '['); json_element(r);)
            skip(r, depth + 1);
    } else if (c == '"') {
        pass_text(r);
    } else {
        const char *start = r->at;
        while (r->at < r->end && *r->at != ',' && *r->at != ']' && *r->at != '}' && *r->at > ' ')
            r->at++;
        if (r->at == start)
            fail(r);
    }
}

void json_skip(struct json_reader *r) {
    skip(r, 0);
}
