/* SPDX-License-Identifier: Apache-2.0 */
#include "view/tui/surface.h"

#include <stdlib.h>

#include "base/text/utf8.h"
#include "view/export/visible_text.h"

enum { LARGEST = 4096 }; /* rows or columns of a terminal */

bool tui_surface_resize(struct tui_surface *s, int rows, int cols, struct err *err) {
    s->rows = rows < 1 ? 1 : rows > LARGEST ? LARGEST : rows;
    s->cols = cols < 1 ? 1 : cols > LARGEST ? LARGEST : cols;
    size_t want = (size_t)s->rows * (size_t)s->cols;
    if (!s->text.buf && !out_init(&s->text, NULL, NULL))
        return err_memory(err, "screen");
    if (want > s->cap) {
        struct tui_cell *cells = realloc(s->cells, want * sizeof *cells);
        if (!cells) {
            s->rows = s->cols = 0;
            return err_memory(err, "screen");
        }
        s->cells = cells;
        s->cap = want;
    }
    tui_clear(s);
    return true;
}

void tui_surface_fini(struct tui_surface *s) {
    free(s->cells);
    out_fini(&s->text);
    *s = (struct tui_surface){0};
}

void tui_clear(struct tui_surface *s) {
    for (int y = 0; y < s->rows; y++)
        tui_fill(s, y, 0, s->cols, ' ', tui_style(TUI_NORMAL));
}

struct tui_cell *tui_at(struct tui_surface *s, int y, int x) {
    return y >= 0 && y < s->rows && x >= 0 && x < s->cols ? &s->cells[(size_t)y * (size_t)s->cols + (size_t)x]
                                                          : NULL;
}

void tui_fill(struct tui_surface *s, int y, int x, int n, uint32_t ch, struct tui_style style) {
    for (int i = x < 0 ? -x : 0; i < n && x + i < s->cols; i++) {
        struct tui_cell *c = tui_at(s, y, x + i);
        if (c)
            *c = (struct tui_cell){ch, style};
    }
}

int tui_text(struct tui_surface *s, int y, int x, int columns, struct tui_style style, const char *text,
             size_t n) {
    if (columns > s->cols - x)
        columns = s->cols - x;
    if (columns <= 0 || x < 0 || y < 0 || y >= s->rows)
        return 0;
    s->text.len = 0;
    int used = (int)visible_terminal(text, n, (unsigned)columns, s->utf8, &s->text);
    const unsigned char *p = (const unsigned char *)s->text.buf;
    for (size_t i = 0, len; i < s->text.len; i += len) {
        len = utf8_len(p + i, s->text.len - i);
        if (!len) /* only after memory ran out */
            return used;
        uint32_t c = utf8_char(p + i, len);
        *tui_at(s, y, x++) = (struct tui_cell){c, style};
        if (visible_width(c) == 2)
            *tui_at(s, y, x++) = (struct tui_cell){0, style};
    }
    return used;
}

int tui_str(struct tui_surface *s, int y, int x, int columns, struct tui_style style, const char *text) {
    return tui_text(s, y, x, columns, style, text, strlen(text));
}

void tui_right(struct tui_surface *s, int y, int x, int columns, struct tui_style style, const char *text) {
    int n = (int)strlen(text);
    int blank = n < columns ? columns - n : 0;
    tui_str(s, y, x + blank, columns - blank, style, text);
}

void tui_box(struct tui_surface *s, int y, int x, int rows, int cols, const char *title) {
    const struct tui_style plain = tui_style(TUI_NORMAL);
    uint32_t across = s->utf8 ? 0x2500 : '-', down = s->utf8 ? 0x2502 : '|';
    static const uint32_t corners[2][4] = {{'+', '+', '+', '+'}, {0x250c, 0x2510, 0x2514, 0x2518}};
    const uint32_t *c = corners[s->utf8];
    for (int i = 0; i < rows; i++) {
        bool edge = i == 0 || i == rows - 1;
        tui_fill(s, y + i, x, cols, edge ? across : ' ', plain);
        tui_fill(s, y + i, x, 1, edge ? c[i ? 2 : 0] : down, plain);
        tui_fill(s, y + i, x + cols - 1, 1, edge ? c[i ? 3 : 1] : down, plain);
    }
    tui_str(s, y, x + 2, cols - 4, plain, title);
}

void tui_scrollbar(struct tui_surface *s, int y, int rows, double from) {
    tui_fill(s, y, s->cols - 1, 0, ' ', tui_style(TUI_NORMAL));
    int at = (int)((rows - 1) * (from < 0 ? 0 : from > 1 ? 1 : from) + 0.5);
    for (int i = 0; i < rows; i++)
        tui_fill(s, y + i, s->cols - 1, 1,
                 i == at   ? (s->utf8 ? 0x25c6 : '#')
                 : s->utf8 ? 0x2592
                           : ':',
                 tui_style(TUI_NORMAL));
}

void tui_restyle(struct tui_surface *s, int y, int x, int n, struct tui_style style) {
    for (int i = 0; i < n; i++) {
        struct tui_cell *c = tui_at(s, y, x + i);
        if (c)
            c->style = style;
    }
}
