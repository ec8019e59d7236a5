/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call graph below a row, as text.
 *
 *             |                          one root that has all of the row's period: no percentage
 *             ---asm_exc_page_fault
 *                exc_page_fault
 *                |
 *                |--42.56%--handle_mm_fault      graph: of everything; fractal: of the node above
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
    unsigned print_limit; /* the most branches of a node, or chains of a list; 0: all */
    bool skip_first;      /* leave out the first frame of a single root, which the row already names */
    bool color;
    const char *separator; /* between a folded chain's frames */
};

/* What percentages refer to, and the period at which a single root has none. */
struct report_graph_totals {
    uint64_t all_period;                  /* of the event */
    uint64_t entry_period, entry_samples; /* of the row */
};

/* Prints `g`, the graph of a row of `p`. True if anything was printed: in the modes graph and fractal an
 * empty line follows, which is printed, too. */
bool report_graph_print(const struct profile *p, const struct profile_graph *g,
                        const struct report_graph_options *o, const struct report_graph_totals *totals,
                        struct out *out);

#endif
