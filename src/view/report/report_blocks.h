/* SPDX-License-Identifier: Apache-2.0 */
/* Basic blocks with the cycles they took, in the layout of perf report --total-cycles. */
#ifndef SONDE_VIEW_REPORT_REPORT_BLOCKS_H
#define SONDE_VIEW_REPORT_REPORT_BLOCKS_H

#include "profile/profile.h"

struct report_blocks_options {
    double percent_limit; /* of all cycles; blocks below it are left out */
    bool color;
    const char *separator; /* between columns (-t); NULL: padded columns */
};

/* Prints the table of one event of a profile with options.blocks. False and *err: out of memory. */
bool report_blocks_print(const struct profile *p, const struct profile_event *e,
                         const struct report_blocks_options *o, struct out *out, struct err *err);

#endif
