/* SPDX-License-Identifier: Apache-2.0 */
/* What lies over a screen until it is answered: the help, a text, a menu, a line to type. */
#ifndef SONDE_VIEW_TUI_POPUP_H
#define SONDE_VIEW_TUI_POPUP_H

#include "base/vec.h"
#include "view/tui/keys.h"
#include "view/tui/surface.h"

enum tui_popup_kind { TUI_NO_POPUP, TUI_HELP, TUI_TEXT, TUI_MENU, TUI_INPUT };

struct tui_item {
    char *label; /* owned */
    int action;
};

struct tui_popup {
    enum tui_popup_kind kind;
    char title[128];
    const char *hint; /* input: what to type */
    struct out text;  /* lines of TUI_TEXT */
    bool centered;    /* `center` is to be shown in the middle when it is drawn next */
    size_t center;    /* a line of the text, from 0 */
    VEC(struct tui_item) items;
    int at, top; /* item; first line that is shown */
    char input[256];
    size_t length; /* of input, in bytes */
    int purpose;   /* the opener's */
};

/* Zeroed at first. Each replaces what was open. False: out of memory. */
bool tui_popup_help(struct tui_popup *p);
bool tui_popup_text(struct tui_popup *p, const char *title, const char *text, size_t n);
/* Shows a line of the text, counted from 0, in the middle at first. */
void tui_popup_center(struct tui_popup *p, size_t line);
bool tui_popup_menu(struct tui_popup *p, const char *title, int purpose);
bool tui_popup_item(struct tui_popup *p, int action, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
bool tui_popup_input(struct tui_popup *p, const char *title, const char *hint, int purpose);
void tui_popup_close(struct tui_popup *p);

/* Takes a key. TUI_ANSWERED: an item (at) or a line (input) was chosen; the popup is still there. */
enum tui_answer { TUI_OPEN, TUI_ANSWERED, TUI_CLOSED };
enum tui_answer tui_popup_key(struct tui_popup *p, struct tui_press press, int rows);

void tui_popup_draw(struct tui_popup *p, struct tui_surface *s);

#endif
