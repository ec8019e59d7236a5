/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the browser share. */
#ifndef SONDE_VIEW_TUI_BROWSER_INTERNAL_H
#define SONDE_VIEW_TUI_BROWSER_INTERNAL_H

#include "view/tui/browser.h"
#include "view/tui/flame.h"
#include "view/tui/popup.h"
#include "view/tui/table.h"
#include "view/tui/times.h"

enum tui_screen { TUI_TABLE, TUI_FLAME_SCREEN, TUI_TIMES };

/* What takes longer than a key may: it is said before it is done. */
enum tui_work {
    TUI_NO_WORK,
    TUI_WORK_CHANGE,
    TUI_WORK_FLAME,
    TUI_WORK_TIMES,
    TUI_WORK_WHY,
    TUI_WORK_ANNOTATE
};

/* What a menu's item or a typed line is for. */
enum tui_purpose { TUI_FOR_EVENT, TUI_FOR_ROW, TUI_FOR_SYMBOL, TUI_FOR_LIMIT, TUI_FOR_SEARCH, TUI_FOR_DELAY };

struct tui_browser {
    const struct tui_source *source;
    uint64_t generation;
    struct tui_data d;
    struct tui_filter filter;
    struct tui_wish wish;
    VEC(uint32_t) events; /* of the profile, those with samples */
    size_t event;         /* index in it */
    struct tui_table table;
    struct tui_flame flame;
    struct tui_times times;
    enum tui_screen screen;
    struct tui_popup popup;
    enum tui_work work;
    bool verbose, headers;
    struct out selected;  /* the function under the table's cursor, for other data */
    struct tui_kept kept; /* what else of the table, of a live source */
    bool filter_changed;  /* since flame and times were made */
    bool select;          /* the function under the table's cursor, in the flame graph */
    int rows;             /* of the screen, when it was drawn last */
    char message[300];    /* for the last line; "": the hint */
};

/* Says something in the last line, until the next key. */
void tui_say(struct tui_browser *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Lists the rows anew after the filter changed. */
bool tui_refilter(struct tui_browser *b);
/* Opens another event's table. */
bool tui_open_event(struct tui_browser *b, size_t event, struct err *err);

/* Answer a key on each screen. */
enum tui_state tui_table_key(struct tui_browser *b, struct tui_press press);
enum tui_state tui_flame_key(struct tui_browser *b, struct tui_press press);
enum tui_state tui_times_key(struct tui_browser *b, struct tui_press press);
/* Keys that mean the same on all of them. False: it is another one. */
bool tui_common_key(struct tui_browser *b, uint32_t key, enum tui_state *state);
/* An item or a line was chosen in the popup. */
enum tui_state tui_answered(struct tui_browser *b);

/* Zoom, as by the keys d, t, S, and k. */
void tui_zoom(struct tui_browser *b, enum tui_filter_kind kind);
void tui_zoom_kernel(struct tui_browser *b);
/* Takes the last filter, or else the range of time, away. False: there is none. */
bool tui_zoom_out(struct tui_browser *b, enum tui_state *state);
void tui_row_menu(struct tui_browser *b);
enum tui_state tui_want_why(struct tui_browser *b);
enum tui_state tui_want_annotate(struct tui_browser *b);
/* Puts the flame graph's cursor on the function under the table's, if the table was left for it. */
void tui_select_in_flame(struct tui_browser *b);
/* Goes to a screen; the selected function stays selected. */
enum tui_state tui_go(struct tui_browser *b, enum tui_screen screen);
enum tui_state tui_want(struct tui_browser *b, enum tui_work work, const char *said);
/* Begins to change what the source has. */
enum tui_state tui_change(struct tui_browser *b);

#endif
