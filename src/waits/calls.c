/* SPDX-License-Identifier: Apache-2.0 */
#include "waits/calls.h"

#include <stddef.h>
#include <sys/syscall.h>

static const struct row {
    int number;
    struct waits_call call;
} rows[] = {
#define READS(n)             {__NR_##n, {#n, WAITS_CALL_READ, 0, "read of"}},
#define WRITES(n)            {__NR_##n, {#n, WAITS_CALL_WRITE, 0, "write to"}},
#define FILES(n, arg, verb)  {__NR_##n, {#n, WAITS_CALL_FILE, arg, verb}},
#define OTHERS(n, kind, arg) {__NR_##n, {#n, WAITS_CALL_##kind, arg, NULL}},
    READS(read) READS(readv) READS(pread64) READS(preadv) READS(preadv2) READS(recvfrom) READS(recvmsg)
        READS(recvmmsg) FILES(getdents64, 0, "list of") WRITES(write) WRITES(writev) WRITES(pwrite64)
            WRITES(pwritev) WRITES(pwritev2) WRITES(sendto) WRITES(sendmsg) WRITES(sendmmsg)
                WRITES(sendfile){__NR_splice, {"splice", WAITS_CALL_READ, 0, "splice from"}},
    {__NR_tee, {"tee", WAITS_CALL_READ, 0, "tee from"}},
    FILES(accept, 0, "connections to") FILES(accept4, 0, "connections to") FILES(
        connect, 0, "connect of") FILES(fsync, 0, "fsync of") FILES(fdatasync, 0, "fdatasync of")
        FILES(sync_file_range, 0, "sync of") FILES(syncfs, 0, "sync of the file system of") FILES(
            ftruncate, 0, "truncation of") FILES(fallocate, 0, "allocation of") FILES(ioctl, 0, "ioctl of")
            FILES(close, 0, "close of") FILES(io_uring_enter, 0, "completions of") OTHERS(openat, PATH, 1)
                OTHERS(unlinkat, PATH, 1) OTHERS(mkdirat, PATH, 1) OTHERS(newfstatat, PATH, 1) OTHERS(
                    statx, PATH, 1) OTHERS(flock, LOCKF, 0) OTHERS(fcntl, LOCKF, 0) OTHERS(ppoll, POLL, 0)
                    OTHERS(pselect6, SELECT, 0) OTHERS(epoll_pwait, EPOLL, 0)
#ifdef __NR_epoll_pwait2
                        OTHERS(epoll_pwait2, EPOLL, 0)
#endif
                            OTHERS(futex, FUTEX, 0)
#ifdef __NR_futex_waitv
                                OTHERS(futex_waitv, FUTEXES, 0)
#endif
                                    OTHERS(nanosleep, SLEEP, 0) OTHERS(clock_nanosleep, SLEEP, 2) OTHERS(
                                        wait4, CHILD, 0) OTHERS(waitid, CHILDREN, 0)
                                        OTHERS(rt_sigtimedwait, SIGNAL, 0) OTHERS(rt_sigsuspend, SIGNAL, 0)
                                            OTHERS(semop, IPC, 0) OTHERS(semtimedop, IPC, 0) OTHERS(
                                                msgrcv, IPC, 0) OTHERS(msgsnd, IPC, 0) OTHERS(clone, VFORK, 0)
                                                OTHERS(clone3, VFORK, 0) OTHERS(restart_syscall, OTHER,
                                                                                0) OTHERS(sync, OTHER, 0)
                                                    OTHERS(io_getevents, OTHER, 0) OTHERS(
                                                        mq_timedreceive, OTHER,
                                                        0) OTHERS(mq_timedsend, OTHER,
                                                                  0) OTHERS(exit, OTHER, 0)
                                                        OTHERS(exit_group, OTHER, 0) OTHERS(
                                                            execve,
                                                            OTHER,
                                                            0) OTHERS(mmap, OTHER,
                                                                      0) OTHERS(munmap, OTHER, 0)
                                                            OTHERS(mprotect, OTHER, 0) OTHERS(
                                                                madvise, OTHER,
                                                                0) OTHERS(msync, OTHER,
                                                                          0) OTHERS(mount, OTHER, 0)
                                                                OTHERS(umount2, OTHER,
                                                                       0) OTHERS(ptrace, OTHER,
                                                                                 0) OTHERS(bpf, OTHER, 0)
#ifdef __x86_64__ /* the old ones, which newer machines never had */
                                                                    OTHERS(poll, POLL, 0) OTHERS(
                                                                        select,
                                                                        SELECT,
                                                                        0) OTHERS(epoll_wait, EPOLL,
                                                                                  0) OTHERS(pause, SIGNAL, 0)
                                                                        OTHERS(vfork, VFORK, 0)
                                                                            FILES(getdents, 0, "list of")
                                                                                OTHERS(open, PATH, 0) OTHERS(
                                                                                    creat, PATH,
                                                                                    0) OTHERS(stat, PATH, 0)
                                                                                    OTHERS(lstat, PATH,
                                                                                           0) OTHERS(unlink,
                                                                                                     PATH, 0)
                                                                                        OTHERS(mkdir, PATH, 0)
                                                                                            OTHERS(rename,
                                                                                                   PATH, 0)
#endif
};

const struct waits_call *waits_call(int64_t number) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].number == number)
            return &rows[i].call;
    return NULL;
}
