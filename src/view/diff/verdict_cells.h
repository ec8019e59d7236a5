/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of judged comparisons and the texts of their cells: as text, and in the browser. */
#ifndef SONDE_VIEW_DIFF_VERDICT_CELLS_H
#define SONDE_VIEW_DIFF_VERDICT_CELLS_H

#include "view/diff/verdict_view.h"

/* Measures, in the order of printing; keys come after them. */
enum {
    VERDICT_BASE,
    VERDICT_NEW,
    VERDICT_CHANGE,
    VERDICT_INTERVAL,
    VERDICT_RELATIVE,
    VERDICT_SAYS,
    VERDICT_COLUMNS
};

enum { VERDICT_TEXT = 64, VERDICT_CELL = 2 * VERDICT_TEXT + 8 };

struct verdict_column {
    const char *title;
    unsigned width;
    bool right;
};
extern const struct verdict_column verdict_columns[VERDICT_COLUMNS];

/* Puts a column's title; that of the interval has its level. */
void verdict_column_title(const struct verdict_view *v, unsigned column, char *title, size_t size);

/* What costs are counted in: "% of all samples". */
const char *verdict_unit(const struct verdict_view *v);

/* Whether a key's only value is fixed by a filter: it has no column then. */
bool verdict_is_told(const struct verdict_view *v, size_t key);

/* Puts a cell of a row; `text` has room for VERDICT_CELL bytes. */
void verdict_cell_put(const struct verdict_view *v, uint32_t row, unsigned column, char *text);
/* As verdict_cell_put, of the part of a row that came through a caller, which has `cells`: the part of its
 * cost; "" from the interval on. */
void verdict_cell_put_part(const struct verdict_view *v, uint32_t row, const struct compare_cell *cells,
                           unsigned column, char *text);

#endif
