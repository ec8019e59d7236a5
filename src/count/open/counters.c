/* SPDX-License-Identifier: Apache-2.0 */
#include "count/open/counters.h"

#include <errno.h>
#include <stdio.h>

#include "base/log.h"
#include "events/allowed.h"
#include "os/limits.h"

struct attempt {
    struct count_counters *c;
    struct count_plan *p;
    const struct perf_target *t;
    uint32_t event;
    int32_t tid, cpu;
    int group_fd, cgroup_fd; /* -1: none */
};

static int try(const struct attempt *a, const struct perfdata_attr *attr) {
    const struct os_perf *perf = a->c->perf;
    const char *path = a->p->events.items[a->event].probe_path;
    struct perfdata_attr with_path = *attr;
    struct writer w = writer_make(false);
    int fd = -ENOMEM;
    with_path.config1 = path ? (uintptr_t)path : attr->config1; /* uprobe_path of perf_event.h */
    perfdata_attr_encode(&with_path, &w);
    if (writer_ok(&w))
        fd = a->cgroup_fd >= 0
                 ? perf->open_cgroup(perf->ctx, writer_bytes(&w), a->cgroup_fd, a->cpu, a->group_fd)
                 : perf->open(perf->ctx, writer_bytes(&w), a->tid, a->cpu, a->group_fd);
    writer_fini(&w);
    return fd;
}

/* Without the right to see the kernel: user space only, unless the user asked for a mode. */
static int without_kernel(const struct attempt *a, struct count_plan_event *e) {
    const uint64_t kernel = PERFDATA_ATTR_EXCLUDE_KERNEL | PERFDATA_ATTR_EXCLUDE_HV;
    if (e->mode_fixed)
        return -EACCES;
    struct perfdata_attr attr = e->attr;
    attr.flags |= kernel;
    int fd = try(a, &attr);
    if (fd < 0)
        return fd == -EPERM ? -EACCES : fd;
    e->attr = attr;
    e->mode_fixed = true;
    char *name = arena_printf(&a->p->arena, strchr(e->name, ':') ? "%su" : "%s:u", e->name);
    if (name)
        e->name = a->p->shown.items[a->event].name = name;
    if (!a->c->user_only_said)
        log_line(a->p->quiet ? LOG_INFO : LOG_WARN, "only user space is counted: to see the kernel too, "
                                                    "sudo sysctl kernel.perf_event_paranoid=1");
    a->c->user_only_said = true;
    return fd;
}

static int with_precise(const struct attempt *a, struct count_plan_event *e) {
    for (uint64_t precise = 3;; precise--) {
        e->attr.flags = (e->attr.flags & ~(3ull << PERFDATA_ATTR_PRECISE_IP_SHIFT)) |
                        precise << PERFDATA_ATTR_PRECISE_IP_SHIFT;
        int fd = try(a, &e->attr);
        if (fd >= 0 || precise == 0 || fd == -EACCES || fd == -EPERM || fd == -ESRCH)
            return fd;
    }
}

static int open_one(const struct attempt *a) {
    struct count_plan_event *e = &a->p->events.items[a->event];
    int fd = e->max_precise ? with_precise(a, e) : try(a, &e->attr);
    if (fd == -EMFILE && os_limits_raise_files())
        fd = try(a, &e->attr);
    if (fd == -EACCES || fd == -EPERM)
        fd = without_kernel(a, e);
    return fd;
}

/* This machine, or its kernel, has nothing that counts it. */
static bool absent(int why) {
    return why == ENOENT || why == ENODEV || why == ENXIO || why == EOPNOTSUPP || why == EINVAL ||
           why == ENOSYS;
}

static const char *permission_advice(const struct attempt *a) {
    const struct count_plan_event *e = &a->p->events.items[a->event];
    struct perf_allowed may;
    struct os_rights rights;
    perf_allowed_find(a->c->perf, &may);
    if (may.user) {
        os_rights_read(&sysfs_system, &rights);
        return perf_allowed_nothing(&may, &rights);
    }
    if (a->tid > 0 && perf_allowed_task(a->c->perf, a->tid))
        return "no access to this process: run as root, or as its owner";
    if (e->probe_path)
        return "probes are for root only: run as root, or with CAP_PERFMON";
    if (e->attr.type == PERFDATA_TYPE_TRACEPOINT)
        return "tracepoints are not allowed: run as root, or sudo sysctl kernel.perf_event_paranoid=-1";
    if (a->t->system_wide && may.cpus)
        return "counting whole CPUs is not allowed: run as root, or sudo sysctl kernel.perf_event_paranoid=0";
    if (may.kernel && !(e->attr.flags & PERFDATA_ATTR_EXCLUDE_KERNEL))
        return "counting in the kernel is not allowed: run as root, or sudo sysctl "
               "kernel.perf_event_paranoid=1";
    return "not allowed: run as root";
}

static bool refused(const struct attempt *a, int why, struct err *err) {
    const char *name = a->p->events.items[a->event].name;
    switch (why) {
    case EACCES:
    case EPERM:
        return err_set(err, ERR_PERMISSION, name, "%s", permission_advice(a));
    case EMFILE:
        return err_set(err, ERR_IO, name, "too many open files: ulimit -n 65536");
    case EBUSY:
        return err_set(err, ERR_IO, name, "the counter is in use by another program");
    default:
        return err_errno(err, why, name, "cannot open the event");
    }
}

static int leader_fd(const struct count_counters *c, const struct count_counter *of, uint32_t leader) {
    for (size_t i = 0; i < c->list.count; i++) {
        const struct count_counter *k = &c->list.items[i];
        if (k->event == leader && k->cpu == of->cpu && k->thread == of->thread)
            return k->fd;
    }
    return -1;
}

/* One event on one CPU for one thread. */
static bool open_cell(struct attempt *a, const struct count_counter *cell, struct err *err) {
    const struct count_plan_event *e = &a->p->events.items[a->event];
    struct count_counter *k = vec_push(&a->c->list);
    if (!k)
        return err_memory(err, "counters");
    *k = *cell;
    if (a->group_fd < 0 && e->leader != a->event && (a->group_fd = leader_fd(a->c, cell, e->leader)) < 0)
        return true; /* the thread is gone */
    int fd = open_one(a);
    if (fd >= 0) {
        int why = e->filter ? -a->c->perf->set_filter(a->c->perf->ctx, fd, e->filter) : 0;
        k->fd = fd;
        return why == 0 || err_errno(err, why, e->name, "the kernel refuses the filter '%s'", e->filter);
    }
    if (fd == -ESRCH)
        return a->t->threads.count > 1 ||
               err_set(err, ERR_ABSENT, NULL, "thread %d ended before it could be counted", (int)a->tid);
    if (!absent(-fd))
        return refused(a, -fd, err);
    a->c->supported.items[a->event] = false;
    return true;
}

static bool keep_cpu(void *ctx, uint32_t n) {
    int32_t *cpu = ctx;
    if ((uint32_t)*cpu == n)
        *cpu = -2; /* found */
    return true;
}

static bool wants_cpu(const char *cpus, int32_t cpu) {
    if (!cpus || cpu < 0)
        return true;
    perf_target_list(cpus, keep_cpu, &cpu);
    return cpu == -2;
}

static bool open_cells(struct attempt *a, struct err *err) {
    const char *cpus = a->p->events.items[a->event].cpus;
    for (uint32_t i = 0; i < a->t->cpus.count; i++) {
        a->cpu = a->t->cpus.items[i];
        for (uint32_t k = 0; k < a->t->threads.count && wants_cpu(cpus, a->cpu); k++) {
            const struct count_counter cell = {.fd = -1, .event = a->event, .cpu = i, .thread = k};
            a->tid = a->t->threads.items[k].tid;
            a->group_fd = -1;
            if (!open_cell(a, &cell, err))
                return false;
            if (!a->c->supported.items[a->event])
                return true; /* nor is it elsewhere */
        }
    }
    return true;
}

/* Closes the counters of an event, as if they had never been. */
static void close_event(struct count_counters *c, uint32_t event) {
    size_t kept = 0;
    for (size_t i = 0; i < c->list.count; i++) {
        const struct count_counter *k = &c->list.items[i];
        if (k->event == event && k->fd >= 0)
            c->perf->close(c->perf->ctx, k->fd);
        if (k->event != event)
            c->list.items[kept++] = *k;
    }
    c->list.count = kept;
}

/* The first of a group's events from `from` on leads those after it. */
static void lead(struct count_plan *p, uint32_t from, uint32_t old) {
    struct count_plan_event *items = p->events.items;
    uint32_t members = 0;
    for (uint32_t i = from; i < p->events.count; i++)
        if (items[i].leader == old && i != old) {
            items[i].leader = from;
            members++;
        }
    items[from].members = members;
    items[from].attr.flags |= items[old].attr.flags & (PERFDATA_ATTR_DISABLED | PERFDATA_ATTR_ENABLE_ON_EXEC |
                                                       PERFDATA_ATTR_PINNED | PERFDATA_ATTR_EXCLUSIVE);
}

/* An event that is not supported leaves its group, which the next one leads. */
static void leave_group(struct count_plan *p, uint32_t event) {
    struct count_plan_event *items = p->events.items;
    if (items[event].leader != event) {
        items[items[event].leader].members--;
        items[event].leader = event;
        return;
    }
    for (uint32_t i = event + 1; i < p->events.count; i++)
        if (items[i].leader == event) {
            lead(p, i, event);
            break;
        }
    items[event].members = 1;
}

/* A weak group that does not fit: its events count one by one. */
static void take_apart(struct count_counters *c, struct count_plan *p, uint32_t leader) {
    struct count_plan_event *items = p->events.items;
    log_line(LOG_INFO, "the group of %s does not fit: its events are counted one by one", items[leader].name);
    for (uint32_t i = leader + 1; i < p->events.count; i++) {
        if (items[i].leader != leader)
            continue;
        close_event(c, i);
        c->supported.items[i] = true;
        items[i].leader = i;
        items[i].members = 1;
        items[i].attr.flags |=
            items[leader].attr.flags & (PERFDATA_ATTR_DISABLED | PERFDATA_ATTR_ENABLE_ON_EXEC);
    }
    items[leader].members = 1;
    items[leader].weak = false;
}

static bool open_event(struct count_counters *c, struct count_plan *p, uint32_t event,
                       const struct perf_target *t, const char *cgroup_folder, struct err *err) {
    const struct count_plan_event *e = &p->events.items[event];
    struct attempt a = {c, p, t, event, -1, -1, -1, -1};
    const char *cgroup = e->by_bpf ? NULL : count_plan_cgroup(p, event);
    if (e->tool || e->skipped)
        return true;
    if (cgroup) {
        char folder[1024];
        if (!cgroup_folder)
            return err_set(err, ERR_ABSENT, cgroup,
                           "no hierarchy of control groups is mounted: mount -t "
                           "cgroup2 none /sys/fs/cgroup");
        snprintf(folder, sizeof folder, "%s/%s", cgroup_folder, cgroup);
        if ((a.cgroup_fd = c->perf->cgroup(c->perf->ctx, folder)) < 0)
            return err_errno(err, -a.cgroup_fd, cgroup, "there is no such control group in %s",
                             cgroup_folder);
    }
    bool ok = open_cells(&a, err);
    if (a.cgroup_fd >= 0)
        c->perf->close(c->perf->ctx, a.cgroup_fd);
    return ok;
}

/* An event that another one's counters count for. */
static bool follow(struct count_counters *c, uint32_t event, uint32_t counted_by) {
    c->supported.items[event] = c->supported.items[counted_by];
    size_t n = c->list.count;
    for (size_t i = 0; i < n; i++) {
        struct count_counter *k = c->list.items[i].event == counted_by ? vec_push(&c->list) : NULL;
        if (c->list.items[i].event == counted_by && !k)
            return false;
        if (k)
            *k = (struct count_counter){
                .fd = -1, .event = event, .cpu = c->list.items[i].cpu, .thread = c->list.items[i].thread};
    }
    return true;
}

bool count_counters_init(struct count_counters *c, const struct os_perf *perf, const struct count_plan *p,
                         struct err *err) {
    *c = (struct count_counters){.perf = perf};
    for (size_t i = 0; i < p->events.count; i++) {
        bool *s = vec_push(&c->supported);
        if (!s)
            return err_memory(err, "counters");
        *s = true;
    }
    return true;
}

bool count_counters_open_one(struct count_counters *c, struct count_plan *p, const struct perf_target *t,
                             const struct count_counter *cell, int group_fd, struct err *err) {
    struct attempt a = {.c = c,
                        .p = p,
                        .t = t,
                        .event = cell->event,
                        .tid = t->threads.items[cell->thread].tid,
                        .cpu = t->cpus.items[cell->cpu],
                        .group_fd = group_fd,
                        .cgroup_fd = -1};
    return open_cell(&a, cell, err);
}

bool count_counters_open(struct count_counters *c, const struct os_perf *perf, struct count_plan *p,
                         const struct perf_target *t, const char *cgroup_folder, struct err *err) {
    if (!count_counters_init(c, perf, p, err))
        return count_counters_fini(c), false;
    for (uint32_t i = 0; i < p->events.count; i++) {
        struct count_plan_event *e = &p->events.items[i];
        if (e->counted_by != i) {
            if (!follow(c, i, e->counted_by))
                return count_counters_fini(c), err_memory(err, "counters");
            continue;
        }
        if (!open_event(c, p, i, t, cgroup_folder, err))
            return count_counters_fini(c), false;
        if (c->supported.items[i])
            continue;
        uint32_t leader = e->leader;
        if (leader != i && p->events.items[leader].weak) {
            take_apart(c, p, leader);
            i = leader; /* its members once more */
            continue;
        }
        close_event(c, i);
        leave_group(p, i);
    }
    return true;
}

void count_counters_enable(struct count_counters *c, const struct count_plan *p, bool on) {
    for (size_t i = 0; i < c->list.count; i++) {
        const struct count_counter *k = &c->list.items[i];
        if (k->fd >= 0 && p->events.items[k->event].leader == k->event)
            c->perf->control(c->perf->ctx, k->fd, on ? OS_PERF_ENABLE : OS_PERF_DISABLE, 0);
    }
}

bool count_counters_enable_named(struct count_counters *c, const struct count_plan *p, const char *name,
                                 bool on) {
    bool found = false;
    for (size_t i = 0; i < c->list.count; i++) {
        const struct count_counter *k = &c->list.items[i];
        if (strcmp(p->events.items[k->event].name, name) != 0)
            continue;
        if (k->fd >= 0)
            c->perf->control(c->perf->ctx, k->fd, on ? OS_PERF_ENABLE : OS_PERF_DISABLE, 0);
        found = true;
    }
    return found;
}

/* A group's values, from its leader `first` on: those of the same CPU follow in the order of events. */
static void read_together(struct count_counters *c, const struct count_plan *p, size_t first) {
    const struct count_counter *leader = &c->list.items[first];
    enum { HEAD = 3 }; /* how many, time enabled, time running */
    uint64_t words[HEAD + COUNT_TOGETHER_MAX] = {0};
    int n = c->perf->read(c->perf->ctx, leader->fd, words, sizeof words);
    uint64_t values = n > HEAD * 8 ? (uint64_t)n / 8 - HEAD : 0, at = 0;
    for (size_t i = first; i < c->list.count && at < values && at < words[0]; i++) {
        struct count_counter *k = &c->list.items[i];
        const struct count_plan_event *e = &p->events.items[k->event];
        if (k->fd < 0 || k->cpu != leader->cpu || !e->together || e->leader != leader->event)
            continue;
        k->now = (struct count_reading){words[HEAD + at++], words[1], words[2]};
    }
}

void count_counters_read(struct count_counters *c, const struct count_plan *p) {
    for (size_t i = 0; i < c->list.count; i++)
        c->list.items[i].before = c->list.items[i].now;
    for (size_t i = 0; i < c->list.count; i++) {
        struct count_counter *k = &c->list.items[i];
        const struct count_plan_event *e = &p->events.items[k->event];
        uint64_t words[4] = {0}; /* the last one is the id, where that is read too */
        if (k->fd < 0 || e->by_bpf || (e->together && e->leader != k->event))
            continue;
        if (e->together)
            read_together(c, p, i);
        else if (c->perf->read(c->perf->ctx, k->fd, words, sizeof words) >= 24)
            k->now = (struct count_reading){words[0], words[1], words[2]};
    }
}

void count_counters_fini(struct count_counters *c) {
    for (size_t i = 0; i < c->list.count; i++)
        if (c->list.items[i].fd >= 0)
            c->perf->close(c->perf->ctx, c->list.items[i].fd);
    vec_fini(&c->list);
    vec_fini(&c->supported);
}
