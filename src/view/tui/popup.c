/* SPDX-License-Identifier: Apache-2.0 */
#include "view/tui/popup.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/text/utf8.h"
#include "view/export/visible_text.h"

/* ---- opening and closing ---- */

void tui_popup_close(struct tui_popup *p) {
    for (size_t i = 0; i < p->items.count; i++)
        free(p->items.items[i].label);
    vec_fini(&p->items);
    out_fini(&p->text);
    *p = (struct tui_popup){0};
}

static void start(struct tui_popup *p, enum tui_popup_kind kind, const char *title, int purpose) {
    tui_popup_close(p);
    p->kind = kind;
    p->purpose = purpose;
    snprintf(p->title, sizeof p->title, "%s", title);
}

bool tui_popup_help(struct tui_popup *p) {
    start(p, TUI_HELP, "Help", 0);
    return true;
}

bool tui_popup_text(struct tui_popup *p, const char *title, const char *text, size_t n) {
    start(p, TUI_TEXT, title, 0);
    if (!out_init(&p->text, NULL, NULL)) {
        p->kind = TUI_NO_POPUP;
        return false;
    }
    out_mem(&p->text, text, n);
    return true;
}

void tui_popup_center(struct tui_popup *p, size_t line) {
    p->centered = true;
    p->center = line;
}

bool tui_popup_menu(struct tui_popup *p, const char *title, int purpose) {
    start(p, TUI_MENU, title, purpose);
    return true;
}

bool tui_popup_item(struct tui_popup *p, int action, const char *fmt, ...) {
    va_list args;
    char *label;
    va_start(args, fmt);
    int n = vasprintf(&label, fmt, args);
    va_end(args);
    struct tui_item *item = n < 0 ? NULL : vec_push(&p->items);
    if (item)
        *item = (struct tui_item){label, action};
    else if (n >= 0)
        free(label);
    return item;
}

bool tui_popup_input(struct tui_popup *p, const char *title, const char *hint, int purpose) {
    start(p, TUI_INPUT, title, purpose);
    p->hint = hint;
    return true;
}

/* ---- keys ---- */

static enum tui_answer input_key(struct tui_popup *p, uint32_t key) {
    if (key == TUI_KEY_ENTER)
        return TUI_ANSWERED;
    if (key == TUI_KEY_ESC || key == TUI_KEY_CTRL_C)
        return TUI_CLOSED;
    if (key == TUI_KEY_BACKSPACE) {
        while (p->length && ((unsigned char)p->input[--p->length] & 0xc0) == 0x80)
            ;
    } else if (key >= ' ' && key < TUI_KEY_UP && key != 0x7f && p->length + 4 < sizeof p->input) {
        p->length += utf8_put(key, p->input + p->length);
    }
    p->input[p->length] = '\0';
    return TUI_OPEN;
}

/* Moves through a list or a text; false: it is another key. */
static bool scroll(struct tui_popup *p, struct tui_press press, int rows) {
    int *at = p->kind == TUI_MENU ? &p->at : &p->top, page = rows > 4 ? rows - 4 : 1;
    switch (press.key) {
    case TUI_KEY_UP:
    case 'k':
        --*at;
        break;
    case TUI_KEY_DOWN:
    case 'j':
        ++*at;
        break;
    case TUI_KEY_WHEEL_UP:
        *at -= 3;
        break;
    case TUI_KEY_WHEEL_DOWN:
        *at += 3;
        break;
    case TUI_KEY_PAGE_UP:
        *at -= page;
        break;
    case TUI_KEY_PAGE_DOWN:
    case ' ':
        *at += page;
        break;
    case TUI_KEY_HOME:
        *at = 0;
        break;
    case TUI_KEY_END:
        *at = 1 << 20;
        break;
    case TUI_KEY_RESIZE:
        break;
    default:
        return false;
    }
    *at = *at < 0 ? 0 : *at;
    if (p->kind == TUI_MENU && p->at >= (int)p->items.count)
        p->at = p->items.count ? (int)p->items.count - 1 : 0;
    return true;
}

enum tui_answer tui_popup_key(struct tui_popup *p, struct tui_press press, int rows) {
    if (p->kind == TUI_INPUT)
        return input_key(p, press.key);
    if (scroll(p, press, rows))
        return TUI_OPEN;
    if (p->kind == TUI_MENU && press.key == TUI_KEY_CLICK) {
        int row = press.y - 1 + p->top;
        if (row >= 0 && row < (int)p->items.count)
            p->at = row;
        return TUI_OPEN;
    }
    if (p->kind == TUI_MENU &&
        (press.key == TUI_KEY_ENTER || press.key == TUI_KEY_RIGHT || press.key == TUI_KEY_DOUBLE_CLICK))
        return p->items.count ? TUI_ANSWERED : TUI_CLOSED;
    if (p->kind == TUI_TEXT && (press.key == TUI_KEY_CLICK || press.key == TUI_KEY_DOUBLE_CLICK))
        return TUI_OPEN;
    bool leaves = press.key == 'q' || press.key == TUI_KEY_ESC || press.key == TUI_KEY_CTRL_C ||
                  press.key == TUI_KEY_LEFT || press.key == TUI_KEY_BACKSPACE;
    return leaves || p->kind == TUI_HELP ? TUI_CLOSED : TUI_OPEN;
}

/* ---- drawing ---- */

static int clamp_top(struct tui_popup *p, int lines, int room) {
    if (p->top > lines - room)
        p->top = lines - room;
    if (p->top < 0)
        p->top = 0;
    return p->top;
}

static void draw_help(struct tui_popup *p, struct tui_surface *s) {
    enum { KEYS = 19, WIDE = 76 };
    int lines = 0, cols = s->cols < WIDE ? s->cols : WIDE;
    while (tui_help_lines[lines].keys)
        lines++;
    int rows = lines + 3 < s->rows ? lines + 3 : s->rows, room = rows - 3;
    int y = (s->rows - rows) / 2, x = (s->cols - cols) / 2;
    bool more = lines > room;
    tui_box(s, y, x, rows, cols, p->title);
    clamp_top(p, lines, room);
    for (int i = 0; i < room; i++) {
        const struct tui_help_line *l = &tui_help_lines[p->top + i];
        struct tui_style head = {TUI_NORMAL, TUI_BOLD};
        if (!*l->keys) {
            tui_str(s, y + 1 + i, x + 1, cols - 2, head, l->text);
        } else {
            tui_str(s, y + 1 + i, x + 1, KEYS, tui_style(TUI_NORMAL), l->keys);
            tui_str(s, y + 1 + i, x + 1 + KEYS, cols - KEYS - 2, tui_style(TUI_NORMAL), l->text);
        }
    }
    tui_str(s, y + rows - 2, x + 1, cols - 2, (struct tui_style){TUI_NORMAL, TUI_DIM},
            more ? "UP/DOWN/PGUP/PGDN scroll, any other key closes..." : "Press any key...");
    for (int i = 0; more && i < room; i++) {
        int at = lines > room ? (room - 1) * p->top / (lines - room) : 0;
        tui_fill(s, y + 1 + i, x + cols - 1, 1,
                 i == at   ? (s->utf8 ? 0x25c6 : '#')
                 : s->utf8 ? 0x2592
                           : ':',
                 tui_style(TUI_NORMAL));
    }
}

/* Draws one line of a text, wrapped, from screen line `at` of the popup on; returns how many it takes. */
static int draw_wrapped(struct tui_surface *s, const char *line, size_t n, int first, int at, int rows,
                        struct out *made) {
    enum { HANG = 15, MOST = 16384 }; /* where `sonde why` has its texts */
    made->len = 0;
    visible_terminal(line, n, MOST, s->utf8, made);
    int lines = 0, indent = 0;
    size_t i = 0;
    do {
        int x = indent, y = first + at + lines;
        while (i < made->len) {
            size_t len = utf8_len((const unsigned char *)made->buf + i, made->len - i);
            uint32_t c = len ? utf8_char((const unsigned char *)made->buf + i, len) : '?';
            int width = (int)visible_width(c);
            if (x + width > s->cols - 1 && x > indent)
                break;
            if (at + lines >= 0 && at + lines < rows)
                tui_fill(s, y, x, 1, c, tui_style(TUI_NORMAL));
            x += width ? width : 1;
            i += len ? len : 1;
        }
        lines++;
        indent = s->cols > 4 * HANG ? HANG : 0;
    } while (i < made->len);
    return lines;
}

/* Draws a text from its line p->top on; returns how many lines it has in all. *center: where p->center is. */
static int draw_lines(struct tui_popup *p, struct tui_surface *s, int *center) {
    struct out made;
    int lines = 0, rows = s->rows - 2;
    *center = 0;
    if (!out_init(&made, NULL, NULL))
        return 0;
    for (size_t i = 0, line_at = 0; i < p->text.len; line_at++) {
        if (line_at == p->center)
            *center = lines;
        const char *line = p->text.buf + i, *end = memchr(line, '\n', p->text.len - i);
        size_t n = end ? (size_t)(end - line) : p->text.len - i;
        lines += draw_wrapped(s, line, n, 1, lines - p->top, rows, &made);
        i += n + 1;
    }
    out_fini(&made);
    return lines;
}

static void draw_text(struct tui_popup *p, struct tui_surface *s) {
    tui_clear(s);
    int center, was = p->top, lines = draw_lines(p, s, &center);
    if (p->centered)
        p->top = center - (s->rows - 2) / 2;
    if (clamp_top(p, lines, s->rows - 2) != was) {
        tui_clear(s);
        draw_lines(p, s, &center);
    }
    p->centered = false;
    tui_fill(s, 0, 0, s->cols, ' ', tui_style(TUI_HEAD));
    tui_str(s, 0, 0, s->cols, tui_style(TUI_HEAD), p->title);
    tui_fill(s, s->rows - 1, 0, s->cols, ' ', tui_style(TUI_NORMAL));
    tui_str(s, s->rows - 1, 0, s->cols, tui_style(TUI_HEAD), "Press 'q' to exit");
    if (lines > s->rows - 2)
        tui_scrollbar(s, 1, s->rows - 2, (double)p->top / (double)(lines - s->rows + 2));
}

static void draw_menu(struct tui_popup *p, struct tui_surface *s) {
    int room = s->rows - 2;
    tui_clear(s);
    tui_fill(s, 0, 0, s->cols, ' ', tui_style(TUI_HEAD));
    tui_str(s, 0, 0, s->cols, tui_style(TUI_HEAD), p->title);
    if (p->at < p->top)
        p->top = p->at;
    if (p->at >= p->top + room)
        p->top = p->at - room + 1;
    for (int i = 0; i < room && p->top + i < (int)p->items.count; i++) {
        struct tui_style style = tui_style(p->top + i == p->at ? TUI_CURSOR : TUI_NORMAL);
        tui_fill(s, 1 + i, 0, s->cols, ' ', style);
        tui_str(s, 1 + i, 0, s->cols, style, p->items.items[p->top + i].label);
    }
    tui_str(s, s->rows - 1, 0, s->cols, tui_style(TUI_NORMAL), "ESC: exit, ENTER|->: Select option");
}

static void draw_input(struct tui_popup *p, struct tui_surface *s) {
    enum { WIDE = 68, HIGH = 9 };
    int cols = s->cols < WIDE ? s->cols : WIDE, rows = s->rows < HIGH ? s->rows : HIGH;
    int y = (s->rows - rows) / 2, x = (s->cols - cols) / 2, room = cols - 6;
    tui_box(s, y, x, rows, cols, p->title);
    tui_str(s, y + 1, x + 1, cols - 2, tui_style(TUI_NORMAL), p->hint ? p->hint : "");
    tui_box(s, y + 3, x + 2, 3, cols - 4, "");
    /* The end of what is typed is what matters. */
    size_t from = 0;
    while ((int)(p->length - from) >= room)
        from++;
    while (from < p->length && ((unsigned char)p->input[from] & 0xc0) == 0x80)
        from++;
    int used = tui_text(s, y + 4, x + 3, room, tui_style(TUI_NORMAL), p->input + from, p->length - from);
    tui_fill(s, y + 4, x + 3 + used, 1, ' ', tui_style(TUI_CURSOR));
    tui_str(s, y + rows - 2, x + 1, cols - 2, tui_style(TUI_NORMAL), "ENTER: OK, ESC: Cancel");
}

void tui_popup_draw(struct tui_popup *p, struct tui_surface *s) {
    switch (p->kind) {
    case TUI_HELP:
        draw_help(p, s);
        break;
    case TUI_TEXT:
        draw_text(p, s);
        break;
    case TUI_MENU:
        draw_menu(p, s);
        break;
    case TUI_INPUT:
        draw_input(p, s);
        break;
    case TUI_NO_POPUP:
        break;
    }
}
