/* SPDX-License-Identifier: Apache-2.0 */
/* A line of text of bounded length: what goes beyond it is dropped. */
#ifndef SONDE_OBJECT_DISASM_TEXT_H
#define SONDE_OBJECT_DISASM_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct text {
    size_t len;
    char at[512]; /* not terminated */
};

static inline void text_mem(struct text *t, const char *p, size_t n) {
    if (n && n <= sizeof t->at - t->len) {
        memcpy(t->at + t->len, p, n);
        t->len += n;
    }
}

static inline void text_str(struct text *t, const char *s) {
    text_mem(t, s, strlen(s));
}

static inline void text_char(struct text *t, char c) {
    text_mem(t, &c, 1);
}

/* Spaces up to column `n`. */
static inline void text_pad(struct text *t, size_t n) {
    while (t->len < n && t->len < sizeof t->at)
        t->at[t->len++] = ' ';
}

/* Lower-case hex, without 0x. */
static inline void text_hex(struct text *t, uint64_t v) {
    char digits[16];
    size_t n = sizeof digits;
    do
        digits[--n] = "0123456789abcdef"[v & 15];
    while (v >>= 4);
    text_mem(t, digits + n, sizeof digits - n);
}

static inline void text_hex0x(struct text *t, uint64_t v) {
    text_mem(t, "0x", 2);
    text_hex(t, v);
}

/* Part of a text. */
struct span {
    const char *p;
    size_t n;
};

static inline bool span_is(struct span s, const char *text) {
    return s.n == strlen(text) && memcmp(s.p, text, s.n) == 0;
}

static inline bool span_starts(struct span s, const char *text) {
    size_t n = strlen(text);
    return s.n >= n && memcmp(s.p, text, n) == 0;
}

static inline void text_span(struct text *t, struct span s) {
    text_mem(t, s.p, s.n);
}

struct disasm_options;
/* "401126 <main+0x10>", or "0x401126" where no symbol is known. */
void disasm_address_print(const struct disasm_options *o, uint64_t address, struct text *out);

#endif
