/* SPDX-License-Identifier: Apache-2.0 */
#include "waits/calls.h"

#include <stdlib.h>
#include <string.h>

#include "calls/table.h"

#if defined(__x86_64__)
#define MACHINE "x86_64"
#elif defined(__aarch64__)
#define MACHINE "aarch64"
#elif defined(__riscv) && __riscv_xlen == 64
#define MACHINE "riscv64"
#elif defined(__loongarch64)
#define MACHINE "loongarch64"
#else
#define MACHINE NULL
#endif

/* By name. Calls that are not listed are taken to use their first descriptor or path argument, if they have
 * one. */
static const struct waits_call ours[] = {
    {"accept", WAITS_CALL_FILE, 0, "connections to"},
    {"accept4", WAITS_CALL_FILE, 0, "connections to"},
    {"clock_nanosleep", WAITS_CALL_SLEEP, 2, NULL},
    {"clone", WAITS_CALL_VFORK, 0, NULL},
    {"clone3", WAITS_CALL_VFORK, 0, NULL},
    {"epoll_pwait", WAITS_CALL_EPOLL, 0, NULL},
    {"epoll_pwait2", WAITS_CALL_EPOLL, 0, NULL},
    {"epoll_wait", WAITS_CALL_EPOLL, 0, NULL},
    {"fcntl", WAITS_CALL_LOCKF, 0, NULL},
    {"flock", WAITS_CALL_LOCKF, 0, NULL},
    {"futex", WAITS_CALL_FUTEX, 0, NULL},
    {"futex_waitv", WAITS_CALL_FUTEXES, 0, NULL},
    {"getdents", WAITS_CALL_FILE, 0, "list of"},
    {"getdents64", WAITS_CALL_FILE, 0, "list of"},
    {"io_uring_enter", WAITS_CALL_FILE, 0, "completions of"},
    {"msgrcv", WAITS_CALL_IPC, 0, NULL},
    {"msgsnd", WAITS_CALL_IPC, 0, NULL},
    {"nanosleep", WAITS_CALL_SLEEP, 0, NULL},
    {"pause", WAITS_CALL_SIGNAL, 0, NULL},
    {"poll", WAITS_CALL_POLL, 0, NULL},
    {"ppoll", WAITS_CALL_POLL, 0, NULL},
    {"pread64", WAITS_CALL_READ, 0, "read of"},
    {"preadv", WAITS_CALL_READ, 0, "read of"},
    {"preadv2", WAITS_CALL_READ, 0, "read of"},
    {"pselect6", WAITS_CALL_SELECT, 0, NULL},
    {"pwrite64", WAITS_CALL_WRITE, 0, "write to"},
    {"pwritev", WAITS_CALL_WRITE, 0, "write to"},
    {"pwritev2", WAITS_CALL_WRITE, 0, "write to"},
    {"read", WAITS_CALL_READ, 0, "read of"},
    {"readv", WAITS_CALL_READ, 0, "read of"},
    {"recvfrom", WAITS_CALL_READ, 0, "read of"},
    {"recvmmsg", WAITS_CALL_READ, 0, "read of"},
    {"recvmsg", WAITS_CALL_READ, 0, "read of"},
    {"rt_sigsuspend", WAITS_CALL_SIGNAL, 0, NULL},
    {"rt_sigtimedwait", WAITS_CALL_SIGNAL, 0, NULL},
    {"select", WAITS_CALL_SELECT, 0, NULL},
    {"semop", WAITS_CALL_IPC, 0, NULL},
    {"semtimedop", WAITS_CALL_IPC, 0, NULL},
    {"sendfile", WAITS_CALL_WRITE, 0, "write to"},
    {"sendfile64", WAITS_CALL_WRITE, 0, "write to"},
    {"sendmmsg", WAITS_CALL_WRITE, 0, "write to"},
    {"sendmsg", WAITS_CALL_WRITE, 0, "write to"},
    {"sendto", WAITS_CALL_WRITE, 0, "write to"},
    {"splice", WAITS_CALL_READ, 0, "splice from"},
    {"syncfs", WAITS_CALL_FILE, 0, "sync of the file system of"},
    {"tee", WAITS_CALL_READ, 0, "tee from"},
    {"vfork", WAITS_CALL_VFORK, 0, NULL},
    {"wait4", WAITS_CALL_CHILD, 0, NULL},
    {"waitid", WAITS_CALL_CHILDREN, 0, NULL},
    {"write", WAITS_CALL_WRITE, 0, "write to"},
    {"writev", WAITS_CALL_WRITE, 0, "write to"},
};

static int by_name(const void *key, const void *row) {
    return strcmp(key, ((const struct waits_call *)row)->name);
}

/* Fills `out` from what the table of all calls says about the arguments. */
static void by_arguments(const struct calls_row *row, struct waits_call *out) {
    out->kind = WAITS_CALL_OTHER;
    for (uint8_t i = 0; row && i < row->count; i++)
        if (row->args[i].kind == CALLS_FD || row->args[i].kind == CALLS_PATH) {
            out->kind = row->args[i].kind == CALLS_FD ? WAITS_CALL_FILE : WAITS_CALL_PATH;
            out->arg = i;
            return;
        }
}

bool waits_call_find(int64_t number, struct waits_call *out) {
    const struct calls_table *all = calls_table(MACHINE, false);
    const char *name = calls_table_name(all, number);
    const struct waits_call *known =
        name ? bsearch(name, ours, sizeof ours / sizeof *ours, sizeof *ours, by_name) : NULL;
    *out = known ? *known : (struct waits_call){.name = name};
    if (name && !known)
        by_arguments(calls_table_row(all, number), out);
    return name != NULL;
}
