/* SPDX-License-Identifier: Apache-2.0 */
/* Keys, and what they do: perf report's, and those of sonde's own screens. */
#ifndef SONDE_VIEW_TUI_KEYS_H
#define SONDE_VIEW_TUI_KEYS_H

#include <stdint.h>

/* Characters are their own numbers; ^C is 3. */
enum tui_key {
    TUI_KEY_NONE = 0,
    TUI_KEY_CTRL_C = 3,
    TUI_KEY_BACKSPACE = 8,
    TUI_KEY_TAB = 9,
    TUI_KEY_ENTER = 10,
    TUI_KEY_CTRL_L = 12,
    TUI_KEY_ESC = 27,
    TUI_KEY_UP = 0x110000, /* above all characters */
    TUI_KEY_DOWN,
    TUI_KEY_LEFT,
    TUI_KEY_RIGHT,
    TUI_KEY_PAGE_UP,
    TUI_KEY_PAGE_DOWN,
    TUI_KEY_HOME,
    TUI_KEY_END,
    TUI_KEY_UNTAB,
    TUI_KEY_F1,
    TUI_KEY_SHIFT_LEFT,
    TUI_KEY_SHIFT_RIGHT,
    TUI_KEY_WHEEL_UP,
    TUI_KEY_WHEEL_DOWN,
    TUI_KEY_CLICK, /* with the place */
    TUI_KEY_DOUBLE_CLICK,
    TUI_KEY_RESIZE
};

/* What somebody pressed. */
struct tui_press {
    uint32_t key;
    int y, x; /* of clicks */
};

/* A line of the help; keys "": a heading. Ends with NULL keys. */
struct tui_help_line {
    const char *keys, *text;
};
extern const struct tui_help_line tui_help_lines[];

#endif
