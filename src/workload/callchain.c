/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/workload.h"

void callchain_leaf(void);
void callchain_c(unsigned depth);
void callchain_b(unsigned depth);
void callchain_a(unsigned depth);

static volatile unsigned count;

WORKLOAD_FUNCTION void callchain_leaf(void) {
    WORKLOAD_FRAME();
    for (unsigned i = 0; i < 1000; i++)
        count++;
}

/* a calls b calls c calls a, down to a known depth; the addition after each call keeps it from being a jump.
 */
WORKLOAD_FUNCTION void callchain_c(unsigned depth) {
    WORKLOAD_FRAME();
    if (depth)
        callchain_a(depth - 1);
    else
        callchain_leaf();
    count++;
}

WORKLOAD_FUNCTION void callchain_b(unsigned depth) {
    WORKLOAD_FRAME();
    callchain_c(depth);
    count++;
}

WORKLOAD_FUNCTION void callchain_a(unsigned depth) {
    WORKLOAD_FRAME();
    callchain_b(depth);
    count++;
}

static int run(int argc, char **argv) {
    if (!workload_timer(argc, argv))
        return 1;
    while (!workload_done)
        callchain_a(9);
    return 0;
}

const struct workload workload_callchain = {"callchain", "[seconds=1]",
                                            "callchain_leaf under ten rounds of callchain_a, _b, _c", run};
