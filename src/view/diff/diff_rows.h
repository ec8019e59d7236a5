/* SPDX-License-Identifier: Apache-2.0 */
/* Compared tables, plain or judged, as tables of the terminal browser (view/tui/rows.h): the rows, numbers
 * and order of the text. */
#ifndef SONDE_VIEW_DIFF_DIFF_ROWS_H
#define SONDE_VIEW_DIFF_DIFF_ROWS_H

#include "view/diff/diff_cells.h"
#include "view/diff/verdict_view.h"
#include "view/tui/rows.h"

/* A row of the browser's. */
struct diff_place {
    uint32_t row, line; /* of the comparison; of its blocks */
};

struct diff_rows {
    struct tui_rows rows;
    const struct compare *c;
    const struct compare_side *sides; /* NULL: callers are not shown */
    double least_caller;
    struct diff_cells cells;            /* unless: */
    const struct verdict_view *verdict; /* it was judged */
    VEC(struct diff_place) list;
    VEC(struct tui_rows_column) columns;
    VEC(uint32_t) keys; /* of the columns after the measures */
    size_t measures;
    struct arena arena; /* titles of columns */
    struct out title, of, about;
};

/* Makes the table of a comparison, after compare_sort, or of a judged one in `r` (zeroed; it must not be
 * moved; diff_rows_fini in any case). What is passed is borrowed. False: out of memory. */
bool diff_rows_make(struct diff_rows *r, const struct compare *c, const char *event,
                    const struct diff_view *v, struct err *err);
bool verdict_rows_make(struct diff_rows *r, const struct verdict_view *v, struct err *err);
void diff_rows_fini(struct diff_rows *r);

#endif
