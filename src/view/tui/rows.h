/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table for the browser that is no profile's: cells that its owner prints, and lines below a row that are
 * found when it is opened.
 *
 *     Baseline  Delta Abs  Object   Symbol        measures, then keys
 *   -    61.8%     +12.1%  program  [.] work      a row
 *        40.1%     +12.0%     + <- main           a line below it, at depth 0, which has others below
 */
#ifndef SONDE_VIEW_TUI_ROWS_H
#define SONDE_VIEW_TUI_ROWS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/text/out.h"
#include "base/vec.h"
#include "profile/profile.h"
#include "view/tui/surface.h"

struct tui_rows_column {
    const struct profile_column *is; /* of a key; NULL: a measure */
    const char *title;
    int width;
    bool right; /* aligned */
    /* Where there is no room, those with the largest of these numbers are left out; 0: none of these. */
    unsigned spare;
};

struct tui_below_cell {
    const char *text;
    struct tui_style style;
};

struct tui_below_line {
    uint32_t depth; /* from 0; lines at depth n + 1 follow the one that they are below */
    const char *name;
    const struct tui_below_cell *cells; /* by column, as many as there are measures */
};

/* What is below a row. */
struct tui_below {
    struct arena arena; /* of the texts and cells */
    VEC(struct tui_below_line) lines;
};
void tui_below_fini(struct tui_below *b);

struct tui_rows {
    void *ctx;
    const char *name;  /* for the menu of tables */
    const char *title; /* begins the first line, which goes on with the filters, and with: */
    const char *of;
    const char *about; /* what else is to be said of the table */
    uint64_t samples;  /* for the menu */
    const struct tui_rows_column *columns;
    size_t column_count, row_count;
    /* Appends a cell's text, and returns its style. */
    struct tui_style (*cell)(void *ctx, uint32_t row, size_t column, struct out *out);
    /* Returns a row's largest share in per cent, for the limit. */
    double (*share)(void *ctx, uint32_t row);
    /* Finds what is below a row, into `out` (zeroed; tui_below_fini in any case). False: out of memory. NULL:
     * rows have nothing below them, for the reason that `no_below` gives. */
    bool (*below)(void *ctx, uint32_t row, struct tui_below *out, struct err *err);
    const char *no_below;
};

/* Returns how wide a measure's column has to be for its title and all of its cells. */
int tui_rows_width(const struct tui_rows *r, size_t column, const char *title);

#endif
