/* SPDX-License-Identifier: Apache-2.0 */
#include "format/perfmap/perfmap.h"

#include "base/text/hex.h"

static struct bytes take_line(struct bytes *rest) {
    const uint8_t *nl = memchr(rest->data, '\n', rest->size);
    struct bytes line = {rest->data, nl ? (size_t)(nl - rest->data) : rest->size};
    size_t step = line.size + (nl != NULL);
    *rest = (struct bytes){rest->data + step, rest->size - step};
    if (line.size && line.data[line.size - 1] == '\r')
        line.size--;
    return line;
}

static bool is_blank(uint8_t c) {
    return c == ' ' || c == '\t';
}

/* A number and the blanks after it, taken off the line. */
static bool take_hex(struct bytes *line, uint64_t *value) {
    size_t at = line->size > 2 && line->data[0] == '0' && (line->data[1] | 0x20) == 'x' ? 2 : 0, first = at;
    *value = 0;
    for (; at < line->size && at < first + 17; at++) {
        unsigned digit = hex_digit(line->data[at]);
        if (digit == HEX_NONE)
            break;
        *value = *value << 4 | digit;
    }
    if (at == first || at > first + 16 || at == line->size || !is_blank(line->data[at]))
        return false;
    while (at < line->size && is_blank(line->data[at]))
        at++;
    *line = (struct bytes){line->data + at, line->size - at};
    return true;
}

bool perfmap_next(struct bytes *rest, struct perfmap_symbol *out) {
    while (rest->size) {
        struct bytes line = take_line(rest);
        if (take_hex(&line, &out->start) && take_hex(&line, &out->size) && line.size) {
            out->name = line;
            return true;
        }
    }
    return false;
}
