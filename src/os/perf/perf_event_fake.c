/* SPDX-License-Identifier: Apache-2.0 */
#include "os/perf/perf_event_fake.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>

enum { PAGE = 4096 };

static struct os_perf_fake_event *event_of(struct os_perf_fake *f, int fd) {
    size_t i = (size_t)(fd - OS_PERF_FAKE_FD);
    return fd >= OS_PERF_FAKE_FD && i < f->events.count && !f->events.items[i].closed ? &f->events.items[i]
                                                                                      : NULL;
}

static int fake_open(void *ctx, struct bytes attr, int32_t pid, int32_t cpu, int group_fd) {
    struct os_perf_fake *f = ctx;
    f->opens++;
    int why = f->refuse ? f->refuse(f->refuse_ctx, attr, pid, cpu) : 0;
    if (why)
        return -why;
    uint32_t members = 1;
    for (size_t i = 0; i < f->events.count && group_fd >= 0; i++)
        members += !f->events.items[i].closed &&
                   (f->events.items[i].group_fd == group_fd || OS_PERF_FAKE_FD + (int)i == group_fd);
    if (f->max_group && members > f->max_group)
        return -EINVAL;
    struct os_perf_fake_event *e = vec_push(&f->events);
    uint8_t *copy = malloc(attr.size);
    if (!e || !copy) {
        free(copy);
        return -ENOMEM;
    }
    memcpy(copy, attr.data, attr.size);
    *e = (struct os_perf_fake_event){
        .pid = pid, .cpu = cpu, .group_fd = group_fd, .output_fd = -1, .attr = copy, .attr_bytes = attr.size};
    return OS_PERF_FAKE_FD + (int)f->events.count - 1;
}

static int fake_control(void *ctx, int fd, enum os_perf_control what, long arg) {
    struct os_perf_fake_event *e = event_of(ctx, fd);
    if (!e)
        return -EBADF;
    if (what == OS_PERF_SET_OUTPUT)
        e->output_fd = (int)arg;
    else if (what == OS_PERF_ENABLE || what == OS_PERF_DISABLE)
        e->enabled = what == OS_PERF_ENABLE;
    return 0;
}

static int fake_set_filter(void *ctx, int fd, const char *filter) {
    struct os_perf_fake_event *e = event_of(ctx, fd);
    if (!e)
        return -EBADF;
    snprintf(e->filter, sizeof e->filter, "%s", filter);
    return strcmp(filter, "bad") == 0 ? -EINVAL : 0;
}

static int fake_id(void *ctx, int fd, uint64_t *id) {
    if (!event_of(ctx, fd))
        return -EBADF;
    *id = (uint64_t)(fd - OS_PERF_FAKE_FD) + 1;
    return 0;
}

static uint64_t format_of(const struct os_perf_fake_event *e) {
    struct perf_event_attr a = {0};
    memcpy(&a, e->attr, e->attr_bytes < sizeof a ? e->attr_bytes : sizeof a);
    return a.read_format;
}

/* How many, the times of the leader, and the values in the order of opening. */
static int read_group(struct os_perf_fake *f, int fd, void *p, size_t n) {
    uint64_t words[64] = {0}, count = 0;
    const struct os_perf_fake_event *leader = event_of(f, fd);
    memcpy(words + 1, leader->count + 1, 2 * sizeof *words);
    for (size_t i = 0; i < f->events.count && count < 61; i++) {
        const struct os_perf_fake_event *e = &f->events.items[i];
        if (!e->closed && (OS_PERF_FAKE_FD + (int)i == fd || e->group_fd == fd))
            words[3 + count++] = e->count[0];
    }
    words[0] = count;
    size_t size = (3 + count) * sizeof *words;
    if (size > n)
        return -ENOSPC;
    memcpy(p, words, size);
    return (int)size;
}

static int fake_read(void *ctx, int fd, void *p, size_t n) {
    struct os_perf_fake *f = ctx;
    if (!event_of(f, fd))
        return -EBADF;
    const struct os_perf_fake_event *e = event_of(f, fd);
    memset(p, 0, n);
    if (e->counts && format_of(e) & PERF_FORMAT_GROUP)
        return read_group(f, fd, p, n);
    if (e->counts) {
        memcpy(p, e->count, n < sizeof e->count ? n : sizeof e->count);
        return (int)n;
    }
    if (n >= sizeof f->read_value)
        memcpy(p, &f->read_value, sizeof f->read_value);
    return (int)n;
}

static int fake_map(void *ctx, int fd, uint64_t pages, bool backward, struct os_ring *out) {
    struct os_perf_fake *f = ctx;
    struct os_perf_fake_event *e = event_of(f, fd);
    (void)backward;
    if (!e)
        return -EBADF;
    if (f->max_pages && pages > f->max_pages)
        return -EPERM;
    size_t n = (size_t)(pages + 1) * PAGE;
    void *map = calloc(1, n);
    if (!map)
        return -ENOMEM;
    os_ring_init(out, map, n, PAGE);
    e->ring = *out;
    return 0;
}

static void fake_unmap(void *ctx, struct os_ring *ring) {
    struct os_perf_fake *f = ctx;
    for (size_t i = 0; i < f->events.count; i++)
        if (f->events.items[i].ring.map == ring->map)
            f->events.items[i].ring = (struct os_ring){0};
    free(ring->map);
    *ring = (struct os_ring){0};
}

static void fake_close(void *ctx, int fd) {
    struct os_perf_fake_event *e = event_of(ctx, fd);
    if (e)
        e->closed = true;
}

/* The folder's descriptor is a number made of its name, so that a test sees it again as an event's pid. */
static int fake_cgroup(void *ctx, const char *folder) {
    (void)ctx;
    return strstr(folder, "absent") ? -ENOENT : OS_PERF_FAKE_CGROUP + (int)strlen(folder);
}

void os_perf_fake_init(struct os_perf_fake *f) {
    *f = (struct os_perf_fake){
        .perf = {.ctx = f,
                 .open = fake_open,
                 .open_cgroup = fake_open,
                 .cgroup = fake_cgroup,
                 .control = fake_control,
                 .set_filter = fake_set_filter,
                 .id = fake_id,
                 .read = fake_read,
                 .map = fake_map,
                 .unmap = fake_unmap,
                 .close = fake_close},
    };
}

void os_perf_fake_fini(struct os_perf_fake *f) {
    for (size_t i = 0; i < f->events.count; i++)
        free(f->events.items[i].attr);
    vec_fini(&f->events);
}

bool os_perf_fake_write(struct os_perf_fake *f, int fd, struct bytes record) {
    struct os_perf_fake_event *e = event_of(f, fd);
    if (e && !e->ring.data && e->output_fd >= 0)
        e = event_of(f, e->output_fd);
    if (!e || !e->ring.data)
        return false;
    uint64_t head = *e->ring.head;
    if (head + record.size - *e->ring.tail > e->ring.data_bytes)
        return false;
    for (size_t i = 0; i < record.size; i++)
        e->ring.data[(head + i) & (e->ring.data_bytes - 1)] = record.data[i];
    __atomic_store_n(e->ring.head, head + record.size, __ATOMIC_RELEASE);
    return true;
}
