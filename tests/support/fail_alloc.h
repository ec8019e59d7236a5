/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fault injection for unit tests: every unit test is linked with --wrap for the allocation functions, so that
 * the n-th allocation from now on, in whichever thread, can be made to fail. Outside a fail_alloc_after
 * window nothing changes.
 */
#ifndef SONDE_TESTS_SUPPORT_FAIL_ALLOC_H
#define SONDE_TESTS_SUPPORT_FAIL_ALLOC_H

#include <stdbool.h>

/* Lets `n` allocations succeed, then fails one; the ones after it succeed again. Negative: no more faults.
 */
void fail_alloc_after(long n);

/* Whether the fault happened since the last fail_alloc_after; ends the window. */
bool fail_alloc_hit(void);

/*
 * Runs `body` with the first, second, third... allocation failing until a run has none left to fail. The body
 * must come back without a crash or leak whatever happens; the sanitizers watch.
 */
#define FAIL_EACH_ALLOC(body)                                     \
    for (long fail_at = 0, fail_more = 1; fail_more; fail_at++) { \
        fail_alloc_after(fail_at);                                \
        body;                                                     \
        fail_more = fail_alloc_hit();                             \
    }

#endif
