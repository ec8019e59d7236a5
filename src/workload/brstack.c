/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/workload.h"

#include <sys/syscall.h>
#include <unistd.h>

void brstack_bar(void);
void brstack_foo(void);
void brstack_bench(unsigned i);

static volatile unsigned seen;

WORKLOAD_FUNCTION void brstack_bar(void) {
    WORKLOAD_FRAME();
    seen++;
}

WORKLOAD_FUNCTION void brstack_foo(void) {
    WORKLOAD_FRAME();
    brstack_bar();
    seen++;
}

static void (*const volatile indirect)(void) = brstack_foo;

/* Every kind of branch: conditional both ways, direct and indirect calls, returns, and now and then a system
 * call. */
WORKLOAD_FUNCTION void brstack_bench(unsigned i) {
    WORKLOAD_FRAME();
    if (i % 3 == 0)
        brstack_bar();
    if (i % 2)
        brstack_foo();
    else
        indirect();
    if (i % 1024 == 0)
        syscall(SYS_getppid);
}

static int run(int argc, char **argv) {
    unsigned loops = workload_number(argc, argv, 0, 1000000);
    for (unsigned i = 0; i < loops; i++)
        brstack_bench(i);
    return loops ? 0 : 1;
}

const struct workload workload_brstack = {"brstack", "[loops=1000000]", "branches of every kind", run};
