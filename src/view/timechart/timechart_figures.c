/* SPDX-License-Identifier: Apache-2.0 */
#include "view/timechart/timechart_figures.h"

#include <inttypes.h>

unsigned timechart_level(uint64_t part, uint64_t whole) {
    if (!part || !whole)
        return 0;
    unsigned level = (unsigned)(((unsigned __int128)part * TIMECHART_LEVELS + whole - 1) / whole);
    return level > TIMECHART_LEVELS ? TIMECHART_LEVELS : level;
}

void timechart_put_level(const struct timechart *t, const void *row, timechart_level_fn *level,
                         unsigned wanted, unsigned y, unsigned height, const char *class, struct out *o) {
    bool open = false;
    for (uint32_t c = 0; c < t->columns && !o->failed;) {
        uint32_t from = c;
        while (c < t->columns &&
               level(row, c, timechart_column_ns(t, c + 1) - timechart_column_ns(t, c)) == wanted)
            c++;
        if (c == from) {
            c++;
            continue;
        }
        if (!open)
            out_printf(o, "<path class=\"%s\" d=\"", class);
        open = true;
        out_printf(o, "M%" PRIu32 " %uh%" PRIu32 "v%uh-%" PRIu32 "z", from, y, c - from, height, c - from);
    }
    if (open)
        out_str(o, "\"/>\n");
}

void timechart_put_levels(const struct timechart *t, const void *row, timechart_level_fn *level, unsigned y,
                          unsigned height, char letter, struct out *o) {
    char class[] = {letter, '1', 0};
    for (unsigned l = 1; l <= TIMECHART_LEVELS; l++, class[1]++)
        timechart_put_level(t, row, level, l, y, height, class, o);
}
