/* SPDX-License-Identifier: Apache-2.0 */
#include "states/print_names.h"

#include "base/text/hex.h"

static const uint8_t *find(struct bytes in, const char *text) {
    return in.size ? memmem(in.data, in.size, text, strlen(text)) : NULL;
}

static struct bytes after(struct bytes b, const uint8_t *at, size_t n) {
    size_t skip = (size_t)(at - b.data) + n;
    return (struct bytes){b.data + skip, b.size - skip};
}

/* A number as C has it, decimal or hexadecimal, after blanks. False: there is none. */
static bool take_number(struct bytes *b, uint64_t *out) {
    while (b->size && (*b->data == ' ' || *b->data == '\t'))
        *b = after(*b, b->data, 1);
    unsigned base = b->size > 2 && b->data[0] == '0' && b->data[1] == 'x' ? 16 : 10;
    if (base == 16)
        *b = after(*b, b->data, 2);
    size_t digits = 0;
    for (*out = 0; b->size; digits++, *b = after(*b, b->data, 1)) {
        unsigned digit = hex_digit(*b->data);
        if (digit >= base)
            break;
        *out = *out * base + digit;
    }
    return digits > 0;
}

size_t print_names_read(struct bytes format, const char *call, struct print_name *out, size_t max) {
    const uint8_t *at = find(format, "print fmt:");
    size_t count = 0;
    if (!at || !(at = find(format = after(format, at, 0), call)))
        return 0;
    struct bytes rest = after(format, at, 0);
    while (count < max && (at = find(rest, "{"))) {
        rest = after(rest, at, 1);
        if (!take_number(&rest, &out[count].number) || !(at = find(rest, "\"")) ||
            at + 1 >= rest.data + rest.size)
            break;
        rest = after(rest, at, 1);
        const uint8_t *end = find(rest, "\"");
        out[count].text = (struct bytes){rest.data, end ? (size_t)(end - rest.data) : rest.size};
        rest = after(rest, rest.data, out[count++].text.size);
    }
    return count;
}
