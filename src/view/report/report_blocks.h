/* SPDX-License-Identifier: Apache-2.0 */
/* Basic blocks by the cycles that they took, in perf report --total-cycles's layout. */
#ifndef SONDE_VIEW_REPORT_REPORT_BLOCKS_H
#define SONDE_VIEW_REPORT_REPORT_BLOCKS_H

#include "profile/profile.h"

struct report_blocks_options {
    double percent_limit; /* of all cycles; blocks below are left out */
    bool color;
    const char *separator; /* between columns (-t); NULL: padded columns */
};

/* The table of one event, of a profile with options.blocks. False with *err: memory. */
bool report_blocks_print(const struct profile *p, const struct profile_event *e,
                         const struct report_blocks_options *o, struct out *out, struct err *err);

#endif
