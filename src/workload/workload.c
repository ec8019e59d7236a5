/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/workload.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>

volatile int workload_done;

const struct workload *const workload_table[] = {
    &workload_noploop,
    &workload_thloop,
    &workload_leafloop,
    &workload_sqrtloop,
    &workload_brstack,
    &workload_datasym,
    &workload_inlineloop,
    &workload_traploop,
    &workload_landlock,
    &workload_context_switch_loop,
    &workload_deterministic,
    &workload_named_threads,
    &workload_callchain,
    &workload_jitdump,
    NULL,
};

int workload_run(const char *name, int argc, char **argv) {
    for (size_t i = 0; workload_table[i]; i++) {
        if (strcmp(workload_table[i]->name, name) != 0)
            continue;
        if (workload_table[i]->comm)
            prctl(PR_SET_NAME, workload_table[i]->comm);
        return workload_table[i]->run(argc, argv);
    }
    return -1;
}

unsigned workload_number(int argc, char **argv, int index, unsigned fallback) {
    if (index >= argc)
        return fallback;
    char *end;
    unsigned long v = strtoul(argv[index], &end, 10);
    if (*end == 0 && argv[index][0] != '-' && v > 0 && v <= 1000000000)
        return (unsigned)v;
    fprintf(stderr, "`%s' is not a number from 1 to 1000000000\n", argv[index]);
    return 0;
}

static void alarmed(int sig) {
    (void)sig;
    workload_done = 1;
}

bool workload_timer(int argc, char **argv) {
    char *end = NULL;
    double seconds = argc ? strtod(argv[0], &end) : 1;
    if (argc && (end == argv[0] || *end || !(seconds >= 1e-6 && seconds <= 1e9))) {
        fprintf(stderr, "`%s' is not a number of seconds from 0.000001 to 1000000000\n", argv[0]);
        return false;
    }
    struct itimerval timer = {.it_value.tv_sec = (time_t)seconds};
    timer.it_value.tv_usec = (suseconds_t)((seconds - (double)timer.it_value.tv_sec) * 1e6);
    signal(SIGALRM, alarmed);
    signal(SIGINT, alarmed);
    return setitimer(ITIMER_REAL, &timer, NULL) == 0;
}
