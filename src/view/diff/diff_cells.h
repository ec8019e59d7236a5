/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of compared tables and the texts of their cells: of `diff` as text, and in the browser. */
#ifndef SONDE_VIEW_DIFF_DIFF_CELLS_H
#define SONDE_VIEW_DIFF_DIFF_CELLS_H

#include "base/vec.h"
#include "view/diff/diff_view.h"

enum diff_measure {
    DIFF_BASE,
    DIFF_BASE_PERIOD,
    DIFF_NUMBER, /* what is computed */
    DIFF_BLOCK,
    DIFF_HISTOGRAM,
    DIFF_FORMULA,
    DIFF_PERIOD,
    DIFF_KEY
};

enum { DIFF_TEXT = 256, DIFF_NUMBER_WIDTH = 14, DIFF_TITLE = 48 };

struct diff_column {
    enum diff_measure what;
    uint32_t side, key;
    const struct profile_column *is; /* of a key */
    bool last;
    unsigned width;
    char title[DIFF_TITLE]; /* of a measure */
};

struct diff_cells {
    const struct compare *c; /* borrowed, as v */
    const struct diff_view *v;
    VEC(struct diff_column) columns; /* measures first */
};

/* Lists the columns of `p`, which has c and v. False: out of memory. diff_cells_fini in any case. */
bool diff_cells_make(struct diff_cells *p);
void diff_cells_fini(struct diff_cells *p);

/* Whether a row is shown. */
bool diff_cells_listed(const struct diff_cells *p, uint32_t row);
/* Returns how many lines a row has: one, or as many as it has blocks. */
uint32_t diff_cells_lines(const struct diff_cells *p, uint32_t row);

/* Puts the text of a measure of any cells like a row's, one for each side; "" for blocks, too. `text` has
 * room for DIFF_TEXT bytes. */
void diff_cells_put(const struct diff_cells *p, const struct compare_cell *cells, const struct diff_column *c,
                    char *text);
/* Returns the block of a side on a line of a row; NULL: it has fewer. */
const struct compare_block *diff_cells_block(const struct diff_cells *p, uint32_t row, uint32_t line,
                                             uint32_t side);

#endif
