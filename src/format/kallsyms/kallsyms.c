/* SPDX-License-Identifier: Apache-2.0 */
#include "format/kallsyms/kallsyms.h"

#include "base/text/hex.h"

static struct bytes take_line(struct bytes *rest) {
    const uint8_t *nl = memchr(rest->data, '\n', rest->size);
    struct bytes line = {rest->data, nl ? (size_t)(nl - rest->data) : rest->size};
    size_t step = line.size + (nl != NULL);
    *rest = (struct bytes){rest->data + step, rest->size - step};
    return line;
}

/* The hexadecimal digits at the start of the line: how many, 0 when there are none or too many. */
static size_t read_hex(struct bytes line, uint64_t *value) {
    size_t n = 0;
    *value = 0;
    for (; n < line.size && n < 17; n++) {
        unsigned digit = hex_digit(line.data[n]);
        if (digit == HEX_NONE)
            break;
        *value = *value << 4 | digit;
    }
    return n <= 16 ? n : 0;
}

bool kallsyms_next(struct bytes *rest, struct kallsyms_symbol *out) {
    while (rest->size) {
        struct bytes line = take_line(rest);
        *out = (struct kallsyms_symbol){0};
        size_t at = read_hex(line, &out->address);
        if (!at || at + 4 > line.size || line.data[at] != ' ' || line.data[at + 2] != ' ')
            continue;
        out->type = (char)line.data[at + 1];
        struct bytes name = {line.data + at + 3, line.size - at - 3};
        const uint8_t *tab = memchr(name.data, '\t', name.size);
        if (tab) {
            size_t size = (size_t)(name.data + name.size - tab) - 1;
            name.size = (size_t)(tab - name.data);
            if (size > 2 && tab[1] == '[' && tab[size] == ']')
                out->module = (struct bytes){tab + 2, size - 2};
        }
        out->name = name;
        return true;
    }
    return false;
}
