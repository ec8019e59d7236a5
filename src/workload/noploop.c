/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/workload.h"

void noploop(void);

/* One function has it all. */
WORKLOAD_FUNCTION void noploop(void) {
    WORKLOAD_FRAME();
    while (!workload_done)
        ;
}

static int run(int argc, char **argv) {
    if (!workload_timer(argc, argv))
        return 1;
    noploop();
    return 0;
}

const struct workload workload_noploop = {"noploop", "[seconds=1]", "does nothing, in one function", run,
                                          "perf-noploop"};
