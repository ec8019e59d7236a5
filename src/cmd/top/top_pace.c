/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/top/top_pace.h"

enum {
    SHORTEST_NS = 10000000, /* may always be taken, */
    LONGEST_NS = 200000000, /* and never more than this: rings for dumps hold half a second */
    GROWTH = 8,             /* at most, from one to the next */
};

uint64_t top_pace_next(uint64_t most, const struct top_pace *last) {
    uint64_t share = last->since_ns, unwound = last->stacks - last->skipped;
    /* As long as it was not done: half of the time. */
    share = share < SHORTEST_NS ? SHORTEST_NS : share > LONGEST_NS ? LONGEST_NS : share;
    bool slow = last->took_ns > share;
    /* A few stacks tell nothing of how long many take. */
    if ((slow && unwound < TOP_PACE_LEAST) || (!slow && !last->skipped))
        return most;
    double fit = (double)unwound * (double)share / (double)(last->took_ns ? last->took_ns : 1);
    if (slow)
        return fit < TOP_PACE_LEAST ? TOP_PACE_LEAST : fit < (double)most ? (uint64_t)fit : most;
    return fit > (double)most * GROWTH ? most * GROWTH : fit > (double)most ? (uint64_t)fit : most;
}
