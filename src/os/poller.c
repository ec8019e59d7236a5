/* SPDX-License-Identifier: Apache-2.0 */
#include "os/poller.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

int os_poller_open(struct err *err) {
    int fd = epoll_create1(EPOLL_CLOEXEC);
    if (fd < 0)
        err_errno(err, errno, "epoll", "cannot wait for several descriptors");
    return fd;
}

bool os_poller_add(int poller, int fd, uint64_t tag, struct err *err) {
    struct epoll_event e = {.events = EPOLLIN, .data.u64 = tag};
    return epoll_ctl(poller, EPOLL_CTL_ADD, fd, &e) == 0 ||
           err_errno(err, errno, "epoll", "cannot wait for descriptor %d", fd);
}

void os_poller_remove(int poller, int fd) {
    epoll_ctl(poller, EPOLL_CTL_DEL, fd, NULL);
}

size_t os_poller_wait(int poller, struct os_poll_event *out, size_t max, int timeout_ms) {
    struct epoll_event events[64];
    int n = epoll_wait(poller, events, max < 64 ? (int)max : 64, timeout_ms);
    for (int i = 0; i < n; i++)
        out[i] = (struct os_poll_event){.tag = events[i].data.u64,
                                        .readable = events[i].events & EPOLLIN,
                                        .hung_up = events[i].events & (EPOLLHUP | EPOLLERR)};
    return n < 0 ? 0 : (size_t)n;
}

int os_wake_open(struct err *err) {
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fd < 0)
        err_errno(err, errno, "eventfd", "cannot wake threads");
    return fd;
}

void os_wake(int fd) {
    eventfd_write(fd, 1);
}

_Static_assert(sizeof(sigset_t) <= sizeof((struct os_signals *)0)->old, "room for a sigset_t");

bool os_signals_open(struct os_signals *s, const int *signals, struct err *err) {
    sigset_t set, old;
    sigemptyset(&set);
    for (; *signals; signals++)
        sigaddset(&set, *signals);
    if (sigprocmask(SIG_BLOCK, &set, &old) != 0)
        return err_errno(err, errno, "signals", "cannot block them");
    memcpy(s->old, &old, sizeof old);
    s->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (s->fd >= 0)
        return true;
    int why = errno;
    sigprocmask(SIG_SETMASK, &old, NULL);
    return err_errno(err, why, "signalfd", "cannot receive signals");
}

int os_signals_next(const struct os_signals *s, pid_t *from) {
    struct signalfd_siginfo info;
    if (read(s->fd, &info, sizeof info) != (ssize_t)sizeof info)
        return 0;
    if (from)
        *from = (pid_t)info.ssi_pid;
    return (int)info.ssi_signo;
}

void os_signals_close(struct os_signals *s) {
    sigset_t old;
    if (s->fd < 0)
        return;
    while (os_signals_next(s, NULL)) /* what still waits would strike as soon as it is let through */
        ;
    close(s->fd);
    s->fd = -1;
    memcpy(&old, s->old, sizeof old);
    sigprocmask(SIG_SETMASK, &old, NULL);
}

void os_close(int fd) {
    if (fd >= 0)
        close(fd);
}

static uint64_t to_ns(struct timespec t) {
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t os_clock_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return to_ns(t);
}

void os_clock_stamp(char *room, size_t cap) {
    struct timespec now;
    struct tm tm;
    char text[24] = "";
    clock_gettime(CLOCK_REALTIME, &now);
    if (localtime_r(&now.tv_sec, &tm))
        strftime(text, sizeof text, "%Y%m%d%H%M%S", &tm);
    snprintf(room, cap, "%s%02ld", text, now.tv_nsec / 10000000);
}

bool os_clock_read(int32_t clockid, uint64_t *now_ns, uint64_t *resolution_ns) {
    struct timespec now, res;
    if (clock_gettime(clockid, &now) != 0 || clock_getres(clockid, &res) != 0)
        return false;
    *now_ns = to_ns(now);
    *resolution_ns = to_ns(res);
    return true;
}
