/* SPDX-License-Identifier: Apache-2.0 */
/* How commands compare (count/verdict/versus.h), as a table with a verdict for each measure, and as JSON
 * (docs/JSON.md). Pure: writes to the sink it is given. */
#ifndef SONDE_VIEW_STAT_VERSUS_VIEW_H
#define SONDE_VIEW_STAT_VERSUS_VIEW_H

#include "base/text/out.h"
#include "count/verdict/versus.h"

struct versus_view {
    const struct versus *versus;
    const struct versus_measure *measures;
    const char *const *commands; /* as they were written; the first is A, the others are B, C ... */
    const bool *shells;          /* whether a shell runs them */
    double level, until;
    bool regressed; /* for JSON: what the exit status would say */
};

void versus_print_text(const struct versus_view *v, struct out *o);
void versus_print_json(const struct versus_view *v, struct out *o);

/* What is said of one measure: "B is 2.1 % faster (1.6 to 2.7 %)". `letter`: B. */
void versus_print_verdict(const struct verdict *v, const struct versus_measure *m, char letter,
                          struct out *o);

#endif
