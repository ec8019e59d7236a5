/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/workload.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

void named_threads_work(unsigned loops);

struct job {
    pthread_t thread;
    unsigned number, loops;
};

WORKLOAD_FUNCTION void named_threads_work(unsigned loops) {
    WORKLOAD_FRAME();
    for (volatile unsigned i = 0; i < loops; i++)
        ;
}

static void *start(void *arg) {
    const struct job *job = arg;
    char comm[32];
    snprintf(comm, sizeof comm, "thread%u", job->number + 1);
    prctl(PR_SET_NAME, comm);
    named_threads_work(job->loops);
    return NULL;
}

static int run(int argc, char **argv) {
    unsigned threads = workload_number(argc, argv, 0, 4), loops = workload_number(argc, argv, 1, 1000000);
    struct job *jobs = threads && loops && threads <= 10000 ? calloc(threads, sizeof *jobs) : NULL;
    unsigned started = 0;
    while (jobs && started < threads) {
        jobs[started].number = started;
        jobs[started].loops = loops;
        if (pthread_create(&jobs[started].thread, NULL, start, &jobs[started]) != 0)
            break;
        started++;
    }
    for (unsigned i = 0; i < started; i++)
        pthread_join(jobs[i].thread, NULL);
    free(jobs);
    return started && started == threads ? 0 : 1;
}

const struct workload workload_named_threads = {"named_threads", "[threads=4 [loops=1000000]]",
                                                "threads that are called thread1, thread2, ...", run};
