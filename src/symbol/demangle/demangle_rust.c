/* SPDX-License-Identifier: Apache-2.0 */
/* Rust symbols of either mangling. The legacy one looks like a nested C++ name without parameters whose last
 * part is a hash: rustc book, "Symbol Mangling", legacy. */
#include <stdint.h>

#include "symbol/demangle/demangle_internal.h"

bool demangle_put_char(struct demangle_text *t, uint32_t c) {
    char utf8[4];
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return false;
    if (n == 1)
        utf8[0] = (char)c;
    for (size_t i = n - 1; n > 1 && i > 0; i--, c >>= 6)
        utf8[i] = (char)(0x80 | (c & 0x3f));
    if (n > 1)
        utf8[0] = (char)(0xf00 >> n | c); /* 110xxxxx, 1110xxxx, 11110xxx */
    demangle_put(t, utf8, n);
    return true;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_hex(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f');
}

/* What $...$ stands for in the legacy mangling. False: nothing known. */
static bool put_escape(struct demangle_text *t, const char *s, size_t n) {
    static const struct {
        const char *code, *text;
    } rows[] = {{"SP", "@"}, {"BP", "*"}, {"RF", "&"}, {"LT", "<"},
                {"GT", ">"}, {"LP", "("}, {"RP", ")"}, {"C", ","}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strlen(rows[i].code) == n && memcmp(rows[i].code, s, n) == 0) {
            demangle_puts(t, rows[i].text);
            return true;
        }
    if (n < 2 || n > 7 || *s != 'u')
        return false;
    uint32_t c = 0;
    for (size_t i = 1; i < n; i++) {
        if (!is_hex(s[i]))
            return false;
        c = c << 4 | (uint32_t)(is_digit(s[i]) ? s[i] - '0' : s[i] - 'a' + 10);
    }
    return c >= 0x20 && !(c >= 0x7f && c < 0xa0) && demangle_put_char(t, c);
}

/* One part of a legacy path. */
static void put_part(struct demangle_text *t, const char *s, size_t n) {
    const char *end = s + n;
    if (n >= 2 && s[0] == '_' && s[1] == '$')
        s++; /* only there so that the name does not begin with $ */
    while (s < end) {
        const char *close = *s == '$' ? memchr(s + 1, '$', (size_t)(end - s - 1)) : NULL;
        if (*s == '.') {
            bool two = end - s > 1 && s[1] == '.';
            demangle_puts(t, two ? "::" : ".");
            s += two ? 2 : 1;
        } else if (*s == '$') {
            if (!close || !put_escape(t, s + 1, (size_t)(close - s - 1)))
                break;
            s = close + 1;
        } else {
            size_t plain = 1;
            while (s + plain < end && s[plain] != '$' && s[plain] != '.')
                plain++;
            demangle_put(t, s, plain);
            s += plain;
        }
    }
    demangle_put(t, s, (size_t)(end - s));
}

/* 17h and 16 hexadecimal digits. */
static bool is_hash(const char *s, size_t n) {
    if (n != 17 || *s != 'h')
        return false;
    for (size_t i = 1; i < n; i++)
        if (!is_hex(s[i]))
            return false;
    return true;
}

/* {decimal bytes} "E" after _ZN; the last part is the hash. */
static bool legacy(const char *name, struct demangle_text *t, size_t *used) {
    const char *s = name, *last = NULL;
    size_t last_size = 0;
    while (*s != 'E') {
        size_t n = 0;
        if (!is_digit(*s))
            return false;
        while (is_digit(*s) && n < DEMANGLE_TEXT_MAX)
            n = n * 10 + (size_t)(*s++ - '0');
        if (!n || strnlen(s, n) < n)
            return false;
        if (last) {
            if (t->size)
                demangle_puts(t, "::");
            put_part(t, last, last_size);
        }
        last = s;
        last_size = n;
        s += n;
    }
    *used = (size_t)(s + 1 - name);
    return last && t->size && is_hash(last, last_size);
}

/* .llvm.HEX, which LLVM's ThinLTO adds: the symbol's text ends before it. */
static size_t size_without_llvm(const char *name) {
    const char *at = strstr(name, ".llvm.");
    size_t size = at ? (size_t)(at - name) : strlen(name);
    if (at)
        for (at += 6; *at; at++)
            if (!is_digit(*at) && !(*at >= 'A' && *at <= 'F') && *at != '@')
                return strlen(name);
    return size;
}

/* Suffixes that compilers add (.cold, .part.0) are kept as they are. */
static bool put_suffix(const char *s, size_t n, struct demangle_text *t) {
    if (n && *s != '.')
        return false;
    for (size_t i = 0; i < n; i++)
        if (s[i] <= ' ' || s[i] > '~')
            return false;
    demangle_put(t, s, n);
    return true;
}

bool demangle_rust(const char *name, struct demangle_text *t) {
    size_t size = size_without_llvm(name), used, prefix;
    if (strncmp(name, "_R", 2) == 0) {
        prefix = 2;
        if (!demangle_rust_v0(name + 2, size - 2, t, &used))
            return false;
    } else if (strncmp(name, "_ZN", 3) == 0) {
        prefix = 3;
        if (!legacy(name + 3, t, &used))
            return false;
    } else {
        return false;
    }
    used += prefix;
    return used <= size && put_suffix(name + used, size - used, t) && !t->full;
}
