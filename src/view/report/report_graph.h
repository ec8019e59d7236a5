/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call graph below an entry's row, in text.
 *
 *             |                          one root that has all of the entry's period: no percentage
 *             ---asm_exc_page_fault
 *                exc_page_fault
 *                |
 *                |--42.56%--handle_mm_fault      graph: of everything; fractal: of what is above
 *                |          |
 *                |           --42.05%--__handle_mm_fault
 *                |
 *                 --0.51%--access_error
 */
#ifndef SONDE_VIEW_REPORT_REPORT_GRAPH_H
#define SONDE_VIEW_REPORT_REPORT_GRAPH_H

#include "profile/profile.h"

enum report_graph_value { REPORT_GRAPH_PERCENT, REPORT_GRAPH_PERIOD, REPORT_GRAPH_COUNT };

struct report_graph_options {
    enum profile_chain_mode mode;
    enum report_graph_value value;
    unsigned print_limit; /* so many branches of a node, chains of a list; 0: all */
    bool skip_first;      /* the row itself names the first frame of a single root: not again */
    bool color;
    const char *separator; /* between a folded chain's frames */
};

/* What percentages are of, and what a single root must have to stand without one. */
struct report_graph_totals {
    uint64_t all_period;                  /* of the event */
    uint64_t entry_period, entry_samples; /* of the row */
};

/* Prints `g`, which is of an entry of `p`. True when anything was printed: in the modes graph and fractal an
 * empty line stands after it, which is here too. */
bool report_graph_print(const struct profile *p, const struct profile_graph *g,
                        const struct report_graph_options *o, const struct report_graph_totals *totals,
                        struct out *out);

#endif
