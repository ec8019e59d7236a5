/* SPDX-License-Identifier: Apache-2.0 */
/* A perf_event_open(2) for tests: rings in ordinary memory, refusals as the test asks. */
#ifndef SONDE_OS_PERF_EVENT_FAKE_H
#define SONDE_OS_PERF_EVENT_FAKE_H

#include "base/vec.h"
#include "os/perf/perf_event.h"

struct os_perf_fake_event {
    bool closed, enabled;
    int32_t pid, cpu;
    int group_fd, output_fd; /* -1: none */
    uint8_t *attr;           /* owned copy */
    size_t attr_bytes;
    struct os_ring ring; /* of the event that was mapped */
    char filter[64];
    /* read gives `count`: value, time enabled, time running, in nanoseconds; with PERF_FORMAT_GROUP the
     * group's */
    bool counts;
    uint64_t count[3];
};

struct os_perf_fake {
    struct os_perf perf;                   /* hand this on; ctx is the fake */
    VEC(struct os_perf_fake_event) events; /* descriptor i + OS_PERF_FAKE_FD is items[i], id i + 1 */
    /* The errno to refuse an open with, 0 to allow it. NULL: allow all. */
    int (*refuse)(void *ctx, struct bytes attr, int32_t pid, int32_t cpu);
    void *refuse_ctx;
    uint32_t max_group;  /* a group of more events is refused with EINVAL; 0: no limit */
    uint64_t max_pages;  /* a ring larger than this is refused with EPERM; 0: no limit */
    uint64_t read_value; /* the first word that read gives; the others are 0 */
    uint32_t opens;      /* tried */
};

enum { OS_PERF_FAKE_FD = 1000, OS_PERF_FAKE_CGROUP = 500 /* plus the length of the folder's path */ };

void os_perf_fake_init(struct os_perf_fake *f);
void os_perf_fake_fini(struct os_perf_fake *f);

/* Does as the kernel does when it has written `record` for the event (into its own ring or its output's):
 * false when the ring has no room, nothing is written then. */
bool os_perf_fake_write(struct os_perf_fake *f, int fd, struct bytes record);

#endif
