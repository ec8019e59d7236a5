/* SPDX-License-Identifier: Apache-2.0 */
#include "view/export/visible_text.h"

#include <stdio.h>

#include "base/text/utf8.h"

/* Whether a character is not seen where it stands, or changes how others are seen: controls, marks that turn
 * the text's direction or have no width, line separators, and what is no character. */
static bool is_hidden(uint32_t c) {
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || c == 0x61c || (c >= 0x200b && c <= 0x200f) ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
           (c >= 0xfff0 && c <= 0xfffb) || (c & 0xfffe) == 0xfffe || (c >= 0xe0000 && c <= 0xe007f);
}

static void put_char(uint32_t c, const unsigned char *p, size_t len, bool xml, struct out *out) {
    static const char *const entities[128] = {
        ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;"};
    if (is_hidden(c))
        out_printf(out, c < 0x100 ? "\\x%02x" : "\\u%04x", c);
    else if (xml && c < 128 && entities[c])
        out_str(out, entities[c]);
    else
        out_mem(out, (const char *)p, len);
}

/* Appends at most `most` characters; returns whether all are there. */
static bool put_some(const char *text, size_t n, unsigned most, bool xml, struct out *out) {
    const unsigned char *p = (const unsigned char *)text;
    for (size_t i = 0, len; i < n; i += len) {
        if (!most--)
            return false;
        len = utf8_len(p + i, n - i);
        if (len) {
            put_char(utf8_char(p + i, len), p + i, len, xml, out);
        } else {
            out_str(out, "\xef\xbf\xbd");
            len = 1;
        }
    }
    return true;
}

static void put_all(const char *text, bool xml, struct out *out) {
    if (!put_some(text, strlen(text), VISIBLE_MAX, xml, out))
        out_str(out, "...");
}

void visible_plain(const char *text, struct out *out) {
    put_all(text, false, out);
}

void visible_xml(const char *text, struct out *out) {
    put_all(text, true, out);
}

void visible_xml_cut(const char *text, unsigned most, struct out *out) {
    size_t n = strnlen(text, (size_t)4 * most + 1);
    unsigned count = 0;
    for (size_t i = 0; i < n; i++)
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    bool cut = count > most;
    put_some(text, n, cut && most > 2 ? most - 2 : most, true, out);
    if (cut)
        out_str(out, "..");
}

/* ---- terminals ---- */

/* Unicode's East_Asian_Width W and F, in blocks, and the emoji. */
static bool is_wide(uint32_t c) {
    return (c >= 0x1100 && c <= 0x115f) || (c >= 0x2e80 && c <= 0x303e) || (c >= 0x3041 && c <= 0xa4cf) ||
           (c >= 0xa960 && c <= 0xa97f) || (c >= 0xac00 && c <= 0xd7a3) || (c >= 0xf900 && c <= 0xfaff) ||
           (c >= 0xfe30 && c <= 0xfe6f) || (c >= 0xff00 && c <= 0xff60) || (c >= 0xffe0 && c <= 0xffe6) ||
           (c >= 0x1f300 && c <= 0x1faff) || (c >= 0x20000 && c <= 0x3fffd);
}

/* Marks that join the character before them: the blocks of combining ones, and variation selectors. */
static bool is_joining(uint32_t c) {
    return (c >= 0x300 && c <= 0x36f) || (c >= 0x483 && c <= 0x489) || (c >= 0x591 && c <= 0x5bd) ||
           (c >= 0x610 && c <= 0x61a) || (c >= 0x64b && c <= 0x65f) || (c >= 0x1ab0 && c <= 0x1aff) ||
           (c >= 0x1dc0 && c <= 0x1dff) || (c >= 0x20d0 && c <= 0x20ff) || (c >= 0xfe00 && c <= 0xfe0f) ||
           (c >= 0xfe20 && c <= 0xfe2f) || (c >= 0xe0100 && c <= 0xe01ef);
}

unsigned visible_width(uint32_t c) {
    return is_hidden(c) || is_joining(c) || (c >= 0xd800 && c <= 0xf8ff && !is_wide(c)) ? 0
           : is_wide(c)                                                                 ? 2
                                                                                        : 1;
}

/* Writes a character as a terminal may have it, to `to`; returns its length in bytes, *width its columns. */
static size_t terminal_char(const unsigned char *p, size_t n, bool utf8, char to[16], unsigned *width,
                            size_t *taken) {
    size_t len = utf8_len(p, n);
    uint32_t c = len ? utf8_char(p, len) : p[0];
    *taken = len ? len : 1;
    *width = len ? visible_width(c) : 0;
    if (*width && (utf8 || c < 0x80)) {
        memcpy(to, p, len);
        return len;
    }
    int made = snprintf(to, 16, !len || c < 0x100 ? "\\x%02x" : c > 0xffff ? "\\U%06x" : "\\u%04x", c);
    *width = (unsigned)made;
    return (size_t)made;
}

#define ELLIPSIS "\xe2\x80\xa6"

unsigned visible_terminal(const char *text, size_t n, unsigned columns, bool utf8, struct out *out) {
    const unsigned char *p = (const unsigned char *)text;
    size_t start = out->len, cut_len = start;
    unsigned used = 0, cut = 0, most_dots = utf8 ? 1 : 2; /* cut: where they would go */
    for (size_t i = 0, taken; i < n; i += taken) {
        char made[16];
        unsigned width;
        size_t len = terminal_char(p + i, n - i, utf8, made, &width, &taken);
        if (used + width > columns) {
            unsigned dots = columns - cut < most_dots ? columns - cut : most_dots;
            out->len = cut_len;
            if (utf8 && dots)
                out_str(out, ELLIPSIS);
            else
                out_mem(out, "..", dots);
            return cut + dots;
        }
        out_mem(out, made, len);
        used += width;
        if (used + most_dots <= columns) {
            cut = used;
            cut_len = out->len;
        }
    }
    return used;
}
