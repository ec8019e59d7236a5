/* SPDX-License-Identifier: Apache-2.0 */
/* Sleeping until one of many descriptors has something (epoll(7)), and signals as a descriptor. */
#ifndef SONDE_OS_POLLER_H
#define SONDE_OS_POLLER_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct os_poll_event {
    uint64_t tag;
    bool readable;
    bool hung_up; /* nothing will come from it any more */
};

/* A new set; -1 and *err on failure. Close it with os_close. */
int os_poller_open(struct err *err);
bool os_poller_add(int poller, int fd, uint64_t tag, struct err *err);
void os_poller_remove(int poller, int fd);
/* Waits at most `timeout_ms` (-1: for ever); how many of `out` were filled, 0 at the timeout or a signal. */
size_t os_poller_wait(int poller, struct os_poll_event *out, size_t max, int timeout_ms);

/* A descriptor that is readable for ever once os_wake was called; -1 and *err on failure. */
int os_wake_open(struct err *err);
void os_wake(int fd);

/* Blocks the given signals (ended by 0) and delivers them through the descriptor returned; -1 and *err on
 * failure. `old` keeps what was blocked before, for os_signals_close. */
struct os_signals {
    int fd;
    unsigned char old[128]; /* a sigset_t */
};
bool os_signals_open(struct os_signals *s, const int *signals, struct err *err);
/* The next signal that has come, or 0; *from (may be NULL) gets the sender. */
int os_signals_next(const struct os_signals *s, pid_t *from);
/* Drops signals that were not taken. */
void os_signals_close(struct os_signals *s);

/* close(2), for -1 too. */
void os_close(int fd);

/* Nanoseconds of CLOCK_MONOTONIC. */
uint64_t os_clock_ns(void);

/* "2026112106520740": the local time of day, to hundredths of a second. */
void os_clock_stamp(char *room, size_t cap);

/* Nanoseconds of the given clock (clock_gettime(2)), and its resolution; false when there is no such clock.
 */
bool os_clock_read(int32_t clockid, uint64_t *now_ns, uint64_t *resolution_ns);

#endif
