/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/workload.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

void test_loop(void);
void *thfunc(void *unused);

WORKLOAD_FUNCTION void test_loop(void) {
    WORKLOAD_FRAME();
    while (!workload_done)
        ;
}

WORKLOAD_FUNCTION void *thfunc(void *unused) {
    WORKLOAD_FRAME();
    test_loop();
    return unused;
}

/* The first thread is one of them. */
static int run(int argc, char **argv) {
    unsigned threads = workload_number(argc, argv, 1, 2), started = 0;
    pthread_t *others = threads && threads <= 10000 ? calloc(threads, sizeof *others) : NULL;
    if (!others || !workload_timer(argc, argv)) {
        free(others);
        return 1;
    }
    while (started + 1 < threads && pthread_create(&others[started], NULL, thfunc, NULL) == 0)
        started++;
    bool all = started + 1 == threads;
    if (all)
        test_loop();
    workload_done = 1;
    for (unsigned i = 0; i < started; i++)
        pthread_join(others[i], NULL);
    free(others);
    return all ? 0 : 1;
}

const struct workload workload_thloop = {"thloop", "[seconds=1 [threads=2]]", "the same, in several threads",
                                         run};
