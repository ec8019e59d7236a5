/* SPDX-License-Identifier: Apache-2.0 */
/* Compared tables (profile/compare/) as text, in the layout of perf diff. */
#ifndef SONDE_VIEW_DIFF_DIFF_VIEW_H
#define SONDE_VIEW_DIFF_DIFF_VIEW_H

#include "base/text/out.h"
#include "profile/compare/blocks.h"
#include "profile/compare/compare.h"
#include "profile/compare/streams.h"

struct diff_view {
    const char *const *files; /* by side */
    struct compare_computation how;
    bool baseline_only;               /* only rows that the base and another side have */
    bool periods;                     /* columns with the periods */
    bool formulas;                    /* and the formulas behind the numbers */
    bool quiet;                       /* no titles */
    bool verbose;                     /* list the files even if there are only two sides */
    const struct compare_side *sides; /* to show the callers of rows: what was compared; NULL: no callers */
    double least_caller;              /* the share in per cent below which callers are left out */
    const struct compare_blocks *blocks; /* show these, not what is computed; NULL: there are none */
    bool histogram;                      /* and how much they vary */
    bool notes;                          /* say below the table which names were added up */
    const char *programs;                /* say which names are taken for one program; NULL: none differ */
    const char *separator;               /* between columns (-t); NULL: padded columns */
    const char *only_comm, *only_dso, *only_symbol; /* as in report_text_options */
};

/* Prints the table of one event, after compare_sort. False and *err: out of memory. */
bool diff_text_print(const struct compare *c, const char *event, const struct diff_view *v, struct out *out,
                     struct err *err);

/* Prints what diff_text_print says above and below the table, with the files in any case. */
void diff_text_about(const struct compare *c, const char *event, const struct diff_view *v, struct out *out);

/* Prints matched streams of branches. */
void streams_text_print(const struct compare_streams *s, struct out *out);

#endif
