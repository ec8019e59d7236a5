/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of several recordings side by side: rows that stand for the same code are one row.
 *
 *   side 0 (base)   side 1           compared
 *   hash     97     hash     94      hash      97   94     equal names
 *   mix.isra 98     mix      104     mix       98   104    one function, renamed by the compiler: noted
 *   gone      5                      gone       5    -
 *                   added    11      added      -   11
 *
 * Rows are matched by the texts of their keys, as the addresses of another build say nothing. See match.c for
 * when names that differ are the same.
 */
#ifndef SONDE_PROFILE_COMPARE_COMPARE_H
#define SONDE_PROFILE_COMPARE_COMPARE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "format/perfdata/header/feature.h"
#include "profile/profile.h"

/* One recording's table of an event; all borrowed. event NULL: it has no such event. */
struct compare_side {
    const struct profile *profile;
    const struct profile_event *event;
    const struct perfdata_texts *command; /* what made it, word by word; NULL: not known */
};

/* What one side has of a row. */
struct compare_cell {
    uint64_t period, samples;
    bool there;
};

struct compare_row {
    const char *const *texts; /* of the keys, in their order */
    const char *note;         /* which other names were added up here, "a (base), b"; NULL: none */
};

/* An object in which a side has samples but no names, while other sides have names. */
struct compare_nameless {
    const char *object; /* in the arena */
    uint32_t side;
};

struct compare {
    struct arena arena;
    uint32_t sides;
    VEC(const struct profile_column *) keys; /* the shown ones, of side 0 */
    VEC(uint32_t) widths;                    /* by key, as report has them */
    VEC(struct compare_row) rows;
    VEC(struct compare_cell) cells; /* [row * sides + side] */
    VEC(uint64_t) totals;           /* by side: what its percentages are of */
    VEC(uint32_t) order;            /* the rows in the order of printing: compare_sort */
    const char **programs;          /* by side: file names of what is taken to be one program (program.h);
                                       NULL: there is no such thing */
    VEC(struct compare_nameless) nameless;
    uint32_t **row_of;       /* by side, by entry of its table: the row */
    uint32_t **row_of_stack; /* after compare_inlined, by side, by stack sample: the row, or COMPARE_NO_ROW;
                                NULL: of a side, or of all, as in row_of */
};

struct compare_options {
    bool fold; /* match what compilers renamed, other versions of a library, and the program of each side */
    bool functions; /* rows are objects and symbols, whatever else the profiles' keys are */
};

/* Matches the rows of `count` sides, at least one with an event, into `out` (zeroed; compare_fini in any
 * case). The profiles have the same keys, are not hierarchies, and live as long as `out`. False: out of
 * memory. */
bool compare_make(const struct compare_side *sides, uint32_t count, const struct compare_options *o,
                  struct compare *out, struct err *err);
void compare_fini(struct compare *c);

/* Returns "wa and wb are taken to be the same program", allocated in the comparison; NULL: there are no such
 * names, or out of memory. */
const char *compare_programs_text(struct compare *c);

enum { COMPARE_NO_ROW = UINT32_MAX };

/* Counts functions that some side lacks where they are inlined (inlined.c), if keys are functions and objects
 * alone. The profiles have options.own_inlines. False: out of memory. */
bool compare_inlined(struct compare *c, const struct compare_side *sides, struct err *err);

static inline const struct compare_cell *compare_cell_at(const struct compare *c, uint32_t row,
                                                         uint32_t side) {
    return &c->cells.items[(size_t)row * c->sides + side];
}

/* ---- what is computed of a row (perf-diff(1), COMPARISON METHODS) ---- */

enum compare_method { COMPARE_DELTA_ABS, COMPARE_DELTA, COMPARE_RATIO, COMPARE_WDIFF };

struct compare_computation {
    enum compare_method method;
    int64_t base_weight, new_weight; /* of COMPARE_WDIFF */
};

/* A row's share of its side, in per cent; 0 if it is not there. */
double compare_percent(const struct compare *c, uint32_t row, uint32_t side);
/* What is computed of any cells like a row's: one for each side. As compare_compute. */
bool compare_compute_cells(const struct compare *c, const struct compare_computation *how,
                           const struct compare_cell *cells, uint32_t side, double *number);
/* The computed number of a side > 0. False: there is none, for want of a base or of the row itself (delta
 * needs the latter only). */
bool compare_compute(const struct compare *c, const struct compare_computation *how, uint32_t row,
                     uint32_t side, double *number);

/* Fills c->order, largest first: by the computed number of side `by` (0: by the base's share), then by the
 * base, then by the sides in their order, then by the keys' texts. False: out of memory. */
bool compare_sort(struct compare *c, const struct compare_computation *how, uint32_t by, struct err *err);

/* ---- callers ---- */

/* One caller of a row, of one of its callers, and so on. */
struct compare_caller {
    const char *text; /* lives until the next row's are found */
    uint32_t depth;   /* from 0; callers at depth n + 1 follow what they called at depth n */
    uint32_t cells;   /* in compare_callers.cells: one for each side */
};

struct compare_callers {
    struct arena arena;
    VEC(struct compare_caller) list;
    VEC(struct compare_cell) cells;
};

/* Finds who called a row, on all sides, into `out` (zeroed at first, refilled as often as wanted;
 * compare_callers_fini): callers in the order of how much they changed between the sides. The profiles have
 * graphs of callers first (PROFILE_CALLEE), not cut by a limit. Callers whose share is below `least` per cent
 * on all sides are left out. False: out of memory. */
bool compare_callers_find(const struct compare *c, const struct compare_side *sides, uint32_t row,
                          double least, struct compare_callers *out, struct err *err);
void compare_callers_fini(struct compare_callers *k);

#endif
