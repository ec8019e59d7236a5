/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/workload.h"

void deterministic_one(unsigned times);
void deterministic_two(unsigned times);
void deterministic_four(unsigned times);

static volatile unsigned work;

static inline __attribute__((always_inline)) void turns(unsigned n) {
    for (unsigned i = 0; i < n; i++)
        work++;
}

/* The same instructions at every run, shared out 1 : 2 : 4. */
WORKLOAD_FUNCTION void deterministic_one(unsigned times) {
    WORKLOAD_FRAME();
    turns(times);
}

WORKLOAD_FUNCTION void deterministic_two(unsigned times) {
    WORKLOAD_FRAME();
    turns(2 * times);
}

WORKLOAD_FUNCTION void deterministic_four(unsigned times) {
    WORKLOAD_FRAME();
    turns(4 * times);
}

static int run(int argc, char **argv) {
    (void)argc, (void)argv;
    for (unsigned i = 0; i < 10000; i++) {
        deterministic_one(1000);
        deterministic_two(1000);
        deterministic_four(1000);
    }
    return 0;
}

const struct workload workload_deterministic = {"deterministic", "",
                                                "three functions with 1, 2 and 4 parts of the work", run};
