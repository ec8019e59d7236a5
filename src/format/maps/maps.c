/* SPDX-License-Identifier: Apache-2.0 */
#include "format/maps/maps.h"

#include "base/cursor.h"

/* Digits of a number up to a character that is none, which must be `end` and is taken too. */
static uint64_t number(struct cursor *c, unsigned base, char end) {
    uint64_t n = 0;
    size_t digits = 0;
    for (;; digits++) {
        unsigned ch = cursor_u8(c), digit = ch - '0' < 10 ? ch - '0' : (ch | 0x20) - 'a' + 10;
        if (digit >= base) {
            c->failed |= digits == 0 || ch != (uint8_t)end;
            return n;
        }
        c->failed |= n > UINT64_MAX / base;
        n = n * base + digit;
        if (!cursor_ok(c))
            return 0;
    }
}

static bool parse(struct bytes line, struct maps_entry *e) {
    struct cursor c = cursor_make(line, false);
    *e = (struct maps_entry){.start = number(&c, 16, '-')};
    e->end = number(&c, 16, ' ');
    e->read = cursor_u8(&c) == 'r';
    e->write = cursor_u8(&c) == 'w';
    e->execute = cursor_u8(&c) == 'x';
    e->shared = cursor_u8(&c) == 's';
    c.failed |= cursor_u8(&c) != ' ';
    e->offset = number(&c, 16, ' ');
    e->maj = (uint32_t)number(&c, 16, ':');
    e->min = (uint32_t)number(&c, 16, ' ');
    e->ino = number(&c, 10, ' ');
    e->name = cursor_rest(&c);
    while (e->name.size && *e->name.data == ' ')
        e->name = (struct bytes){e->name.data + 1, e->name.size - 1};
    return cursor_ok(&c) && e->start < e->end;
}

bool maps_next(struct bytes *rest, struct maps_entry *out) {
    while (rest->size) {
        const uint8_t *nl = memchr(rest->data, '\n', rest->size);
        if (!nl)
            return false;
        struct bytes line = {rest->data, (size_t)(nl - rest->data)};
        *rest = (struct bytes){nl + 1, rest->size - line.size - 1};
        if (parse(line, out))
            return true;
    }
    return false;
}

void maps_name(const struct maps_entry *e, char *room, size_t cap) {
    size_t n = 0;
    for (size_t i = 0; i < e->name.size && n + 1 < cap; i++) {
        bool newline = e->name.size - i >= 4 && memcmp(e->name.data + i, "\\012", 4) == 0;
        room[n++] = newline ? '\n' : (char)e->name.data[i];
        i += newline ? 3 : 0;
    }
    room[n] = 0;
}
