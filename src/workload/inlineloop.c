/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/workload.h"

void inlineloop(void);

static volatile unsigned count;

/* Two functions that exist only in the debug information. */
static inline __attribute__((always_inline)) void inlineloop_leaf(void) {
    while (!workload_done)
        count++;
}

static inline __attribute__((always_inline)) void inlineloop_middle(void) {
    inlineloop_leaf();
}

WORKLOAD_FUNCTION void inlineloop(void) {
    WORKLOAD_FRAME();
    inlineloop_middle();
}

static int run(int argc, char **argv) {
    if (!workload_timer(argc, argv))
        return 1;
    inlineloop();
    return 0;
}

const struct workload workload_inlineloop = {"inlineloop", "[seconds=1]",
                                             "inlineloop_leaf and inlineloop_middle inlined into inlineloop",
                                             run, "perf-inlineloop"};
