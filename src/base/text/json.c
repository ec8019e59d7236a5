/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text/utf8.h"

/* The characters that have an escape shorter than \\u00xx (RFC 8259, section 7). */
static const char *const short_escapes[0x60] = {
    ['"'] = "\\\"", ['\\'] = "\\\\", ['\b'] = "\\b", ['\f'] = "\\f",
    ['\n'] = "\\n", ['\r'] = "\\r",  ['\t'] = "\\t"};

static bool is_plain(unsigned char c) {
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* Does is_plain for eight characters at once: sets the top bit of each byte that is not plain. */
static uint64_t special_bytes(uint64_t x) {
    const uint64_t ones = 0x0101010101010101;
    uint64_t quote = x ^ ones * '"', escape = x ^ ones * '\\', delete = x ^ ones * 0x7f;
    uint64_t zero = ((quote - ones) & ~quote) | ((escape - ones) & ~escape) | ((delete - ones) & ~delete);
    return (zero | ((x - ones * 0x20) & ~x) | x) & ones * 0x80;
}

/* Copies a text in words, the last two of which may overlap. False: not all of it is plain, and the copy is
 * of no use. */
static inline bool copy_plain(char *to, const char *p, size_t n) {
    uint64_t x, special = 0;
    uint32_t half;
    if (n >= sizeof x) {
        for (size_t i = 0; i + sizeof x < n; i += sizeof x) {
            memcpy(&x, p + i, sizeof x);
            memcpy(to + i, &x, sizeof x);
            special |= special_bytes(x);
        }
        memcpy(&x, p + n - sizeof x, sizeof x);
        memcpy(to + n - sizeof x, &x, sizeof x);
        return !(special | special_bytes(x));
    }
    if (n >= sizeof half) {
        memcpy(&half, p, sizeof half);
        memcpy(to, &half, sizeof half);
        x = half;
        memcpy(&half, p + n - sizeof half, sizeof half);
        memcpy(to + n - sizeof half, &half, sizeof half);
        return !special_bytes(x << 32 | half);
    }
    for (size_t i = 0; i < n; i++) {
        if (!is_plain((unsigned char)p[i]))
            return false;
        to[i] = p[i];
    }
    return true;
}

/* Writes one character that is not plain, or one byte that is no character; returns how many bytes it took.
 */
static size_t put_special(struct out *o, const unsigned char *p, size_t n) {
    size_t len = utf8_len(p, n);
    const char *short_form = *p < 0x60 ? short_escapes[*p] : NULL;
    if (short_form) {
        out_str(o, short_form);
    } else if (len == 1) {
        out_str(o, "\\u");
        out_hex0(o, *p, 4);
    } else if (len) {
        out_mem(o, (const char *)p, len);
    } else {
        out_str(o, "\xef\xbf\xbd");
        return 1;
    }
    return len;
}

static void put_escaped(struct out *o, const char *p, size_t n) {
    out_char(o, '"');
    for (size_t from = 0, i = 0;; from = i) {
        while (i < n && is_plain((unsigned char)p[i]))
            i++;
        if (i > from)
            out_mem(o, p + from, i - from);
        if (i == n)
            break;
        i += put_special(o, (const unsigned char *)p + i, n - i);
    }
    out_char(o, '"');
}

static void put_text(struct out *o, const char *p, size_t n) {
    char *to = n <= OUT_ROOM_MAX - 2 ? out_room(o, n + 2) : NULL;
    if (!to || !copy_plain(to + 1, p, n)) {
        put_escaped(o, p, n);
        return;
    }
    to[0] = to[n + 1] = '"';
    o->len += n + 2;
}

static void put_line(const struct json *j) {
    out_char(j->out, '\n');
    if (j->depth > j->flush)
        out_fill(j->out, '\t', j->depth - j->flush);
}

/* Writes what precedes a value: comma, layout and key. */
static void begin(struct json *j, const char *key) {
    if (j->any)
        out_char(j->out, ',');
    j->any = true;
    if (j->tabs && j->depth)
        put_line(j);
    if (!key)
        return;
    put_text(j->out, key, strlen(key));
    out_char(j->out, ':');
    if (j->tabs)
        out_char(j->out, ' ');
}

void json_open(struct json *j, const char *key, char bracket) {
    begin(j, key);
    out_char(j->out, bracket);
    j->depth++;
    j->any = false;
}

void json_close(struct json *j, char bracket) {
    j->depth--;
    if (j->tabs)
        put_line(j);
    out_char(j->out, bracket);
    j->any = j->depth > 0;
    if (!j->any)
        out_char(j->out, '\n');
}

void json_text(struct json *j, const char *key, const char *text) {
    begin(j, key);
    put_text(j->out, text, strlen(text));
}

void json_bytes(struct json *j, const char *key, const char *p, size_t n) {
    begin(j, key);
    put_text(j->out, p, n);
}

void json_number(struct json *j, const char *key, uint64_t v) {
    begin(j, key);
    out_dec(j->out, v, 0);
}

void json_int(struct json *j, const char *key, int64_t v) {
    begin(j, key);
    out_int(j->out, v, 0);
}

void json_decimal(struct json *j, const char *key, uint64_t v, unsigned places) {
    uint64_t unit = 1;
    for (unsigned i = 0; i < places; i++)
        unit *= 10;
    begin(j, key);
    out_dec(j->out, v / unit, 0);
    if (v % unit) {
        out_char(j->out, '.');
        out_dec0(j->out, v % unit, places);
    }
}

void json_real(struct json *j, const char *key, double v) {
    char text[40];
    int digits = 15;
    if (!isfinite(v)) {
        json_null(j, key);
        return;
    }
    do
        snprintf(text, sizeof text, "%.*g", digits, v);
    while (digits++ < 17 && strtod(text, NULL) != v);
    begin(j, key);
    out_str(j->out, text);
}

void json_hex(struct json *j, const char *key, uint64_t v) {
    begin(j, key);
    out_str(j->out, "\"0x");
    out_hex(j->out, v, 0);
    out_char(j->out, '"');
}

void json_digits(struct json *j, const char *key, const uint8_t *p, size_t n) {
    begin(j, key);
    out_char(j->out, '"');
    for (size_t i = 0; i < n; i++)
        out_hex0(j->out, p[i], 2);
    out_char(j->out, '"');
}

void json_bool(struct json *j, const char *key, bool v) {
    begin(j, key);
    out_str(j->out, v ? "true" : "false");
}

void json_null(struct json *j, const char *key) {
    begin(j, key);
    out_str(j->out, "null");
}
