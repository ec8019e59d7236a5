/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The perf_event_open(2) interface as a struct of functions, so that what is built on it can be tested on a
 * fake (perf_event_fake.h). All functions return a negative errno on failure.
 */
#ifndef SONDE_OS_PERF_EVENT_H
#define SONDE_OS_PERF_EVENT_H

#include "base/bytes.h"
#include "os/perf/ring.h"

enum os_perf_control { /* ioctls on an event's descriptor */
                       OS_PERF_ENABLE,
                       OS_PERF_DISABLE,
                       OS_PERF_SET_OUTPUT,  /* arg: the descriptor whose ring takes this event's records */
                       OS_PERF_PAUSE_OUTPUT /* arg: 1 pauses, 0 goes on */
};

struct os_perf {
    void *ctx;
    /* `attr`: a struct perf_event_attr in host order, its size field telling how much of it there is. pid -1:
     * all tasks; cpu -1: any; group_fd -1: no group. Returns a descriptor that closes on exec. */
    int (*open)(void *ctx, struct bytes attr, int32_t pid, int32_t cpu, int group_fd);
    int (*open_cgroup)(void *ctx, struct bytes attr, int cgroup_fd, int32_t cpu, int group_fd);
    /* A descriptor of a control group's folder, for open_cgroup. */
    int (*cgroup)(void *ctx, const char *folder);
    int (*control)(void *ctx, int fd, enum os_perf_control what, long arg);
    int (*set_filter)(void *ctx, int fd, const char *filter);
    /* The kernel's id of the event, which its samples carry. */
    int (*id)(void *ctx, int fd, uint64_t *id);
    /* What read(2) gives (read_format), at most `n` bytes: how many came. */
    int (*read)(void *ctx, int fd, void *p, size_t n);
    /* Maps a ring of `pages` data pages (a power of two), writable unless `backward`. */
    int (*map)(void *ctx, int fd, uint64_t pages, bool backward, struct os_ring *out);
    void (*unmap)(void *ctx, struct os_ring *ring);
    void (*close)(void *ctx, int fd);
};

/* The running kernel's. */
extern const struct os_perf os_perf_system;

#endif
