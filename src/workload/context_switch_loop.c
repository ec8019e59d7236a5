/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/workload.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

int context_switch_loop_ping(int in, int out, unsigned loops);
int context_switch_loop_pong(int in, int out, unsigned loops);

/* Each blocks until the other has written: every turn is a switch. */
WORKLOAD_FUNCTION int context_switch_loop_ping(int in, int out, unsigned loops) {
    WORKLOAD_FRAME();
    char c = 0;
    while (loops--)
        if (write(out, &c, 1) != 1 || read(in, &c, 1) != 1)
            return 1;
    return 0;
}

WORKLOAD_FUNCTION int context_switch_loop_pong(int in, int out, unsigned loops) {
    WORKLOAD_FRAME();
    char c = 0;
    while (loops--)
        if (read(in, &c, 1) != 1 || write(out, &c, 1) != 1)
            return 1;
    return 0;
}

static int run(int argc, char **argv) {
    unsigned loops = workload_number(argc, argv, 0, 1000);
    int to_child[2], to_parent[2], status;
    if (!loops || pipe(to_child) != 0 || pipe(to_parent) != 0)
        return 1;
    pid_t pid = fork();
    if (pid < 0)
        return 1;
    prctl(PR_SET_NAME, pid ? "proc1" : "proc2");
    if (pid == 0)
        _exit(context_switch_loop_pong(to_child[0], to_parent[1], loops));
    int bad = context_switch_loop_ping(to_parent[0], to_child[1], loops);
    return waitpid(pid, &status, 0) == pid && status == 0 ? bad : 1;
}

const struct workload workload_context_switch_loop = {"context_switch_loop", "[loops=1000]",
                                                      "two processes that wake each other", run};
