/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/workload.h"

#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

double sqrtloop(void);

WORKLOAD_FUNCTION double sqrtloop(void) {
    WORKLOAD_FRAME();
    volatile double x = 1;
    while (!workload_done)
        x = sqrt(x + 2);
    return x;
}

/* In a child, so that it takes following children to see it. */
static int run(int argc, char **argv) {
    pid_t pid = fork();
    if (pid < 0)
        return 1;
    if (pid == 0)
        _exit(workload_timer(argc, argv) ? sqrtloop() < 0 : 1);
    int status;
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

const struct workload workload_sqrtloop = {"sqrtloop", "[seconds=1]", "square roots, in a child process", run,
                                           NULL};
