/* SPDX-License-Identifier: Apache-2.0 */
#include "os/perf/perf_event.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_flags(struct bytes attr, int32_t pid, int32_t cpu, int group_fd, unsigned long flags) {
    long fd = syscall(SYS_perf_event_open, attr.data, pid, cpu, group_fd, flags | PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? -errno : (int)fd;
}

static int system_open(void *ctx, struct bytes attr, int32_t pid, int32_t cpu, int group_fd) {
    (void)ctx;
    return open_flags(attr, pid, cpu, group_fd, 0);
}

static int system_open_cgroup(void *ctx, struct bytes attr, int cgroup_fd, int32_t cpu, int group_fd) {
    (void)ctx;
    return open_flags(attr, cgroup_fd, cpu, group_fd, PERF_FLAG_PID_CGROUP);
}

static int system_cgroup(void *ctx, const char *folder) {
    (void)ctx;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

static int system_control(void *ctx, int fd, enum os_perf_control what, long arg) {
    static const unsigned long REQUEST[] = {
        [OS_PERF_ENABLE] = PERF_EVENT_IOC_ENABLE,
        [OS_PERF_DISABLE] = PERF_EVENT_IOC_DISABLE,
        [OS_PERF_SET_OUTPUT] = PERF_EVENT_IOC_SET_OUTPUT,
        [OS_PERF_PAUSE_OUTPUT] = PERF_EVENT_IOC_PAUSE_OUTPUT,
    };
    (void)ctx;
    return ioctl(fd, REQUEST[what], arg) < 0 ? -errno : 0;
}

static int system_set_filter(void *ctx, int fd, const char *filter) {
    (void)ctx;
    return ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter) < 0 ? -errno : 0;
}

static int system_id(void *ctx, int fd, uint64_t *id) {
    (void)ctx;
    return ioctl(fd, PERF_EVENT_IOC_ID, id) < 0 ? -errno : 0;
}

static int system_read(void *ctx, int fd, void *p, size_t n) {
    (void)ctx;
    ssize_t got = read(fd, p, n);
    return got < 0 ? -errno : (int)got;
}

static int system_map(void *ctx, int fd, uint64_t pages, bool backward, struct os_ring *out) {
    (void)ctx;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (pages > (SIZE_MAX >> 1) / page - 1)
        return -EINVAL;
    size_t n = (size_t)(pages + 1) * page;
    /* A ring that is mapped read-only is overwritten from its end (perf_event_open(2), write_backward). */
    void *map = mmap(NULL, n, backward ? PROT_READ : PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        return -errno;
    os_ring_init(out, map, n, page);
    return 0;
}

static void system_unmap(void *ctx, struct os_ring *ring) {
    (void)ctx;
    if (ring->map)
        munmap(ring->map, ring->map_bytes);
    *ring = (struct os_ring){0};
}

static void system_close(void *ctx, int fd) {
    (void)ctx;
    close(fd);
}

const struct os_perf os_perf_system = {
    .open = system_open,
    .open_cgroup = system_open_cgroup,
    .cgroup = system_cgroup,
    .control = system_control,
    .set_filter = system_set_filter,
    .id = system_id,
    .read = system_read,
    .map = system_map,
    .unmap = system_unmap,
    .close = system_close,
};
