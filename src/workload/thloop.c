/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/workload.h"

#include <pthread.h>
#include <stddef.h>

void thloop(void);

WORKLOAD_FUNCTION void thloop(void) {
    WORKLOAD_FRAME();
    while (!workload_done)
        ;
}

static void *start(void *unused) {
    (void)unused;
    thloop();
    return NULL;
}

static int run(int argc, char **argv) {
    pthread_t thread;
    if (!workload_timer(argc, argv) || pthread_create(&thread, NULL, start, NULL) != 0)
        return 1;
    thloop();
    pthread_join(thread, NULL);
    return 0;
}

const struct workload workload_thloop = {"thloop", "[seconds=1]", "the same, in two threads", run};
