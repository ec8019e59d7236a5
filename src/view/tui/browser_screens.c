/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of the flame graph and of the time axis. */
#include <stdio.h>
#include <stdlib.h>

#include "view/tui/browser_internal.h"

enum { WHEEL = 3 };

/* ---- the flame graph's keys ---- */

/* Arrows and hjkl as one of 'h', 'j', 'k', 'l', 'g', 'G'; 0: it is another key. */
static int direction(uint32_t key) {
    switch (key) {
    case TUI_KEY_UP:
    case TUI_KEY_WHEEL_UP:
    case 'k':
        return 'k';
    case TUI_KEY_DOWN:
    case TUI_KEY_WHEEL_DOWN:
    case 'j':
        return 'j';
    case TUI_KEY_LEFT:
    case 'h':
        return 'h';
    case TUI_KEY_RIGHT:
    case 'l':
        return 'l';
    case TUI_KEY_HOME:
    case 'g':
        return 'g';
    case TUI_KEY_END:
    case 'G':
        return 'G';
    default:
        return 0;
    }
}

enum tui_state tui_flame_key(struct tui_browser *b, struct tui_press press) {
    struct tui_flame *f = &b->flame;
    if (direction(press.key)) {
        tui_flame_walk(f, direction(press.key));
        return TUI_GO_ON;
    }
    switch (press.key) {
    case TUI_KEY_CLICK:
    case TUI_KEY_DOUBLE_CLICK:
        tui_flame_click(f, press.y - 1, press.x);
        if (press.key == TUI_KEY_DOUBLE_CLICK)
            tui_flame_zoom(f);
        break;
    case TUI_KEY_ENTER:
        tui_flame_zoom(f);
        break;
    case TUI_KEY_ESC:
    case TUI_KEY_BACKSPACE:
        return tui_flame_back(f) ? TUI_GO_ON : tui_go(b, TUI_TABLE);
    case 'q':
        return tui_go(b, TUI_TABLE);
    case '/':
        tui_popup_input(&b->popup, "Search", "A regex; all frames whose names match are marked.",
                        TUI_FOR_SEARCH);
        break;
    case 'n':
    case 'N':
        if (!tui_flame_next(f, press.key == 'n'))
            tui_say(b, f->searching ? "no frame matches" : "search for something first, with /");
        break;
    case 'w':
        return tui_want_why(b);
    case 'a':
        return tui_want_annotate(b);
    default:
        if (press.key > ' ' && press.key < 0x7f)
            tui_say(b, "'%c' key not associated, use '?'/F1 to see actions!", (char)press.key);
        break;
    }
    return TUI_GO_ON;
}

/* ---- the time axis' keys ---- */

static enum tui_state apply_range(struct tui_browser *b) {
    uint64_t from, to;
    if (!tui_times_range(&b->times, &from, &to)) {
        tui_say(b, "mark a range first: [ and ], or shift and arrows");
        return TUI_GO_ON;
    }
    tui_times_unmark(&b->times);
    b->filter.ranged = b->filter_changed = true;
    b->filter.from_ns = from;
    b->filter.to_ns = to;
    return tui_change(b);
}

static enum tui_state leave_range(struct tui_browser *b) {
    enum tui_state state;
    if (tui_times_unmark(&b->times))
        return TUI_GO_ON;
    if (b->filter.ranged) {
        b->filter.ranged = false;
        b->filter_changed = true;
        state = tui_change(b);
        return state;
    }
    return tui_go(b, TUI_TABLE);
}

enum tui_state tui_times_key(struct tui_browser *b, struct tui_press press) {
    struct tui_times *t = &b->times;
    int page = t->height > 1 ? t->height - 1 : 1;
    switch (press.key) {
    case TUI_KEY_UP:
    case 'k':
        tui_times_move(t, -1, 0);
        break;
    case TUI_KEY_DOWN:
    case 'j':
        tui_times_move(t, 1, 0);
        break;
    case TUI_KEY_WHEEL_UP:
    case TUI_KEY_WHEEL_DOWN:
        tui_times_move(t, press.key == TUI_KEY_WHEEL_UP ? -WHEEL : WHEEL, 0);
        break;
    case TUI_KEY_PAGE_UP:
        tui_times_move(t, -page, 0);
        break;
    case TUI_KEY_PAGE_DOWN:
    case ' ':
        tui_times_move(t, page, 0);
        break;
    case TUI_KEY_LEFT:
    case TUI_KEY_RIGHT:
    case 'l':
        tui_times_move(t, 0, press.key == TUI_KEY_LEFT ? -1 : 1);
        break;
    case TUI_KEY_HOME:
    case TUI_KEY_END:
        tui_times_move(t, 0, press.key == TUI_KEY_HOME ? -t->width : t->width);
        break;
    case TUI_KEY_SHIFT_LEFT:
    case TUI_KEY_SHIFT_RIGHT:
        tui_times_extend(t, press.key == TUI_KEY_SHIFT_LEFT ? -1 : 1);
        break;
    case '[':
    case ']':
        tui_times_mark(t, press.key == ']');
        break;
    case TUI_KEY_CLICK:
        tui_times_click(t, press.y - TUI_TIMES_HEAD, press.x - t->columns_at);
        break;
    case TUI_KEY_ENTER:
        return apply_range(b);
    case TUI_KEY_ESC:
    case TUI_KEY_BACKSPACE:
        return leave_range(b);
    case 'q':
        return tui_go(b, TUI_TABLE);
    default:
        if (press.key > ' ' && press.key < 0x7f)
            tui_say(b, "'%c' key not associated, use 'h'/'?'/F1 to see actions!", (char)press.key);
        break;
    }
    return TUI_GO_ON;
}
