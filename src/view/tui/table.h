/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of rows, with the call graph of each on demand. A place in it is a row and a line below it, never
 * a number of lines from the top: rows that nobody looked at have no lines yet, and there may be a million.
 */
#ifndef SONDE_VIEW_TUI_TABLE_H
#define SONDE_VIEW_TUI_TABLE_H

#include "base/hash.h"
#include "view/tui/filter.h"
#include "view/tui/source.h"
#include "view/tui/surface.h"
#include "view/tui/tree.h"

struct tui_column {
    const struct profile_column *is;   /* NULL: a measure of `own` */
    const struct tui_rows_column *own; /* NULL: of a profile */
    int width;                         /* in the current layout */
    bool dropped;                      /* in the current layout */
};

/* A row that is open. */
struct tui_row {
    uint32_t entry;
    bool touched; /* the user folded something */
    bool closed;  /* only this one, while all others are open */
    bool whole;   /* it was opened with all of its levels */
    struct tui_tree tree;
};

struct tui_place {
    uint32_t row;  /* index in `shown` */
    uint32_t line; /* 0: the row itself; else line - 1 of its tree */
};

struct tui_table {
    struct tui_data d;
    const struct profile_event *e; /* NULL: it is no profile's, but of: */
    const struct tui_rows *own;
    const struct tui_filter *filter; /* borrowed */
    VEC(struct tui_column) columns;
    VEC(uint32_t) shown;   /* entries, or rows of `own`, that the filter leaves */
    VEC(uint32_t) members; /* of the event, those that are shown */
    uint64_t shown_period; /* their own periods */
    bool all_open;
    uint8_t *levels_open; /* --hierarchy, by entry */
    VEC(struct tui_row *) rows;
    struct hash_map by_entry; /* entry -> index in rows */
    struct tui_place top, at;
    unsigned left_out; /* columns at the left that are scrolled away */
    bool headers;
    int height;      /* lines for rows, when it was drawn last */
    struct out text; /* scratch */
};

/* Zeroed at first. Shows the table of the profile's `event`, or that of d->tables, from its first row on.
 * False: out of memory. */
bool tui_table_open(struct tui_table *t, const struct tui_data *d, uint32_t event,
                    const struct tui_filter *filter, struct err *err);
void tui_table_fini(struct tui_table *t);

/* After the filter changed: lists the rows anew; the cursor stays on its row if that is left. */
bool tui_table_filter(struct tui_table *t, struct err *err);

void tui_table_move(struct tui_table *t, int64_t lines);
void tui_table_end(struct tui_table *t, bool last);

/* + - e c E C. False: there is nothing to open or close. */
enum tui_fold {
    TUI_TOGGLE_LEVEL,
    TUI_CLOSE_LEVEL,
    TUI_TOGGLE_ROW,
    TUI_CLOSE_ROW,
    TUI_OPEN_ALL,
    TUI_CLOSE_ALL
};
bool tui_table_fold(struct tui_table *t, enum tui_fold how, struct err *err);

/* Returns the entry under the cursor; UINT32_MAX: there are no rows. */
uint32_t tui_table_entry(const struct tui_table *t);
/* Returns the text of the column with one of these keys in the cursor's row ("comm", "dso"), in t->text;
 * NULL: there is no such column. */
const char *tui_table_key_text(struct tui_table *t, const char *const *names, size_t *len);
/* Returns the name of the function under the cursor, in t->text; NULL: it has none. */
const char *tui_table_function(struct tui_table *t, size_t *len);
/* Puts the cursor on the first row with that function's name, if there is one. */
bool tui_table_find(struct tui_table *t, const char *name, size_t n);
/* What a table shows, to be found again among new data: the cursor's row, and those that are open. */
struct tui_kept {
    struct out rows, at; /* texts of keys; of each row after a letter that says how it is open */
    bool all_open;
    bool first; /* the cursor is on the first row, whatever that is */
    uint32_t line, above;
    unsigned left_out;
};
/* False: out of memory. tui_kept_fini is allowed after a failure, too. */
bool tui_kept_init(struct tui_kept *k);
void tui_kept_fini(struct tui_kept *k);
/* Notes what is to be found again. False: out of memory. */
bool tui_table_keep(const struct tui_table *t, struct tui_kept *k);
/* Puts the cursor there and opens the rows, as far as they are there: their first level, or all of them. */
void tui_table_restore(struct tui_table *t, const struct tui_kept *k);

/* The lines below a row: 0 if it is closed. Builds its call graph if need be. */
uint32_t tui_table_lines(struct tui_table *t, uint32_t row);
struct tui_row *tui_table_row(struct tui_table *t, uint32_t row);

extern const char *const tui_symbol_keys[], *const tui_thread_keys[], *const tui_dso_keys[],
                                                                          *const tui_socket_keys[];

/* Draws the title, the headers and the rows on all lines but the last `below`. */
void tui_table_draw(struct tui_table *t, struct tui_surface *s, int below);
/* Puts the cursor on the row at a line of the screen. */
void tui_table_click(struct tui_table *t, int y);
/* Appends what the table would show on a screen without end. */
void tui_table_print(struct tui_table *t, struct out *out);

#endif
