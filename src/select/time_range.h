/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which samples are wanted by their time, as people write it (--time in perf's manuals).
 *
 *   "1234.567,1234.789 1235,"   start,stop in seconds; both included; either may be missing
 *   "10%/2,10%/4"               the second and the fourth tenth of the recording
 *   "0%-10%,30%-40%"            from, to; "5%" is "0%-5%"
 *
 * A slice given in percent ends before its last instant unless that is the recording's end, so that
 * neighbouring slices share no sample (as in perf).
 */
#ifndef SONDE_SELECT_TIME_RANGE_H
#define SONDE_SELECT_TIME_RANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"

/* Both ends included. */
struct time_range {
    uint64_t first_ns, last_ns;
};

struct time_ranges {
    VEC(struct time_range) list; /* ascending, without overlaps; empty: everything counts */
};

/* True if the text has percentages, so that parsing it needs the recording's first and last time. */
bool time_ranges_relative(const char *text);

/*
 * Reads the option's text into `out` (zeroed; free with time_ranges_fini). first_ns and last_ns are the times
 * of the first and the last sample; without percents they are not used. False: ERR_USAGE or ERR_MEMORY.
 */
bool time_ranges_parse(const char *text, uint64_t first_ns, uint64_t last_ns, struct time_ranges *out,
                       struct err *err);
void time_ranges_fini(struct time_ranges *r);

static inline bool time_ranges_contain(const struct time_ranges *r, uint64_t time_ns) {
    for (size_t i = 0; i < r->list.count; i++)
        if (time_ns >= r->list.items[i].first_ns && time_ns <= r->list.items[i].last_ns)
            return true;
    return r->list.count == 0;
}

#endif
