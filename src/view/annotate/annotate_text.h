/* SPDX-License-Identifier: Apache-2.0 */
/* An annotated function as text, in the layout of perf annotate --stdio (perf 7.2, observed). */
#ifndef SONDE_VIEW_ANNOTATE_ANNOTATE_TEXT_H
#define SONDE_VIEW_ANNOTATE_ANNOTATE_TEXT_H

#include "annotate/listing.h"
#include "annotate/sources.h"
#include "base/text/out.h"

/* What a percentage is of: the function's samples or all that count; by period or by number. */
enum annotate_percent {
    ANNOTATE_LOCAL_PERIOD,
    ANNOTATE_GLOBAL_PERIOD,
    ANNOTATE_LOCAL_HITS,
    ANNOTATE_GLOBAL_HITS
};
/* The name of the option's value: "local-period"; NULL after the last one. */
const char *annotate_percent_name(unsigned percent);

enum annotate_column { ANNOTATE_PERCENT, ANNOTATE_SAMPLES, ANNOTATE_PERIOD };

/* All borrowed. */
struct annotate_text_options {
    enum annotate_percent percent;
    enum annotate_column column; /* what stands before instructions; the lines' summary has percentages */
    bool source;                 /* with lines of source text, from `sources` */
    bool raw;                    /* with the instructions' bytes */
    bool line_summary;           /* -l: before it the lines that were hit, and lines whose text is absent */
    bool full_paths;             /* -P */
    bool inlines;                /* which inlined functions instructions are from, and what these cost */
    bool jump;                   /* the hottest line first, each line with the instructions that were hit */
    bool color;
    bool hide_empty; /* no columns for events without samples */
    struct annotate_sources *sources;
    const struct model *model;
    const struct annotate_sums *totals; /* by event of the listing: of all samples that count */
    const char *event;                  /* the events' name, or the group's */
    const char *object_path;            /* the object's file as its title shows it with full paths */
    const char *object;                 /* and without */
    const char *function;
};

/* Prints the listing. *hottest (may be NULL) becomes the number of the line of text, from 0, with the
 * instruction that was hit most. False: out of memory. */
bool annotate_text_print(const struct annotate_listing *l, const struct annotate_text_options *o,
                         struct out *out, uint64_t *hottest, struct err *err);

#endif
