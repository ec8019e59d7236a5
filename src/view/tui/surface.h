/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the terminal browser draws on: a grid of cells in memory. Whoever owns the terminal copies it there;
 * tests read it. Texts are made visible (view/export/visible_text.h), so that no name can do more than be
 * read.
 */
#ifndef SONDE_VIEW_TUI_SURFACE_H
#define SONDE_VIEW_TUI_SURFACE_H

#include "base/err.h"
#include "base/text/out.h"

/* Colours by what they mean; the terminal's owner knows how they look. */
enum tui_color {
    TUI_NORMAL,
    TUI_HEAD,   /* titles: white on blue */
    TUI_CURSOR, /* the selected line: black on yellow */
    TUI_TOP,    /* percentages from 5 % on: red */
    TUI_MEDIUM, /* from 0.5 % on: green */
    TUI_FOUND,  /* what a search found */
    TUI_RANGE,  /* the selected range of time */
    TUI_FLAME,  /* frames of a flame, two shades for each kind */
    TUI_FLAME_ROOT = TUI_FLAME,
    TUI_FLAME_USER = TUI_FLAME_ROOT + 2,
    TUI_FLAME_KERNEL = TUI_FLAME_USER + 2,
    TUI_FLAME_JIT = TUI_FLAME_KERNEL + 2,
    TUI_FLAME_INLINED = TUI_FLAME_JIT + 2,
    TUI_FLAME_GUEST = TUI_FLAME_INLINED + 2,
    TUI_FLAME_UNKNOWN = TUI_FLAME_GUEST + 2,
    TUI_COLORS = TUI_FLAME_UNKNOWN + 2
};

enum { TUI_BOLD = 1, TUI_DIM = 2, TUI_UNDERLINE = 4 };

struct tui_style {
    uint8_t color; /* enum tui_color */
    uint8_t flags;
};

struct tui_cell {
    uint32_t ch; /* 0: the right half of a wide character */
    struct tui_style style;
};

struct tui_surface {
    int rows, cols;
    bool utf8;    /* characters beyond ASCII can be shown */
    bool colored; /* without colours the cursor and flames need other signs */
    struct tui_cell *cells;
    size_t cap;
    struct out text; /* scratch */
};

/* Zeroed at first; sets the size and clears. False: out of memory. Freed with tui_surface_fini. */
bool tui_surface_resize(struct tui_surface *s, int rows, int cols, struct err *err);
void tui_surface_fini(struct tui_surface *s);
void tui_clear(struct tui_surface *s);

/* What lies beyond the edges is left out, in all of these. */
struct tui_cell *tui_at(struct tui_surface *s, int y, int x); /* NULL: beyond */
void tui_fill(struct tui_surface *s, int y, int x, int n, uint32_t ch, struct tui_style style);
/* Writes a text of `n` bytes in at most `columns` columns; returns how many it took. */
int tui_text(struct tui_surface *s, int y, int x, int columns, struct tui_style style, const char *text,
             size_t n);
int tui_str(struct tui_surface *s, int y, int x, int columns, struct tui_style style, const char *text);
/* As tui_str, aligned to the right of `columns`. */
void tui_right(struct tui_surface *s, int y, int x, int columns, struct tui_style style, const char *text);
/* A frame with a title around an area that is cleared. */
void tui_box(struct tui_surface *s, int y, int x, int rows, int cols, const char *title);
/* The bar at the right edge of a list: the part [from, from + shown) of `total`. */
void tui_scrollbar(struct tui_surface *s, int y, int rows, double from);

/* Gives each cell of a line the same style. */
void tui_restyle(struct tui_surface *s, int y, int x, int n, struct tui_style style);

static inline struct tui_style tui_style(enum tui_color color) {
    return (struct tui_style){(uint8_t)color, 0};
}

#endif
