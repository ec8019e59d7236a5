/* SPDX-License-Identifier: Apache-2.0 */
#include "view/export/visible_text.h"

#include "base/utf8.h"

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
