/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/workload.h"

void leaf(volatile int *count);
void parent(volatile int *count);
void leafloop(void);

WORKLOAD_FUNCTION void leaf(volatile int *count) {
    WORKLOAD_FRAME();
    while (!workload_done)
        ++*count;
}

WORKLOAD_FUNCTION void parent(volatile int *count) {
    WORKLOAD_FRAME();
    leaf(count);
    ++*count; /* no tail call */
}

WORKLOAD_FUNCTION void leafloop(void) {
    WORKLOAD_FRAME();
    volatile int count = 0;
    parent(&count);
    count = 0;
}

static int run(int argc, char **argv) {
    if (!workload_timer(argc, argv))
        return 1;
    leafloop();
    return 0;
}

const struct workload workload_leafloop = {"leafloop", "[seconds=1]",
                                           "a leaf function called by leafloop, parent", run};
