/* SPDX-License-Identifier: Apache-2.0 */
#include "view/tui/rows.h"

#include <string.h>

void tui_below_fini(struct tui_below *b) {
    vec_fini(&b->lines);
    arena_fini(&b->arena);
    *b = (struct tui_below){0};
}

/* Counts a text's columns; the cells of measures are ASCII but for bars. */
static int columns_of(const char *text, size_t n) {
    int columns = 0;
    for (size_t i = 0; i < n; i++)
        columns += ((unsigned char)text[i] & 0xc0) != 0x80;
    return columns;
}

int tui_rows_width(const struct tui_rows *r, size_t column, const char *title) {
    struct out text;
    int widest = columns_of(title, strlen(title));
    if (!out_init(&text, NULL, NULL))
        return widest;
    for (uint32_t i = 0; i < r->row_count; i++) {
        text.len = 0;
        r->cell(r->ctx, i, column, &text);
        int width = text.len ? columns_of(text.buf, text.len) : 0;
        widest = width > widest ? width : widest;
    }
    out_fini(&text);
    return widest;
}
