/* SPDX-License-Identifier: Apache-2.0 */
#include "record/rings/open.h"

#include <errno.h>
#include <stdio.h>

#include "base/log.h"
#include "events/allowed.h"
#include "os/limits.h"
#include "os/proc/host.h"
#include "os/rights.h"

/*
 * What older kernels do not know, newest first, with the release that brought it (perf_event_open(2) and the
 * kernel's log). A kernel refuses unknown bits with EINVAL and does not say which.
 */
struct newer {
    const char *what;
    uint64_t flags, read_format, sample_type;
    uint64_t instead; /* sample_type bits that older kernels have for it */
};
static const struct newer NEWER[] = {
    {"deferred callchains (Linux 6.19)", PERFDATA_ATTR_DEFER_CALLCHAIN | PERFDATA_ATTR_DEFER_OUTPUT, 0, 0, 0},
    {"counts of lost samples (Linux 6.0)", 0, PERFDATA_FORMAT_LOST, 0, 0},
    {"build-ids in map records (Linux 5.12)", PERFDATA_ATTR_BUILD_ID, 0, 0, 0},
    {"structured weights (Linux 5.12)", 0, 0, PERFDATA_SAMPLE_WEIGHT_STRUCT, PERFDATA_SAMPLE_WEIGHT},
    {"page sizes of code (Linux 5.11)", 0, 0, PERFDATA_SAMPLE_CODE_PAGE_SIZE, 0},
    {"page sizes of data (Linux 5.11)", 0, 0, PERFDATA_SAMPLE_DATA_PAGE_SIZE, 0},
    {"cgroup records (Linux 5.7)", PERFDATA_ATTR_CGROUP, 0, PERFDATA_SAMPLE_CGROUP, 0},
    {"records of BPF programs (Linux 5.1)", PERFDATA_ATTR_BPF_EVENT, 0, 0, 0},
    {"records of kernel symbols (Linux 5.1)", PERFDATA_ATTR_KSYMBOL, 0, 0, 0},
    {"namespace records (Linux 4.12)", PERFDATA_ATTR_NAMESPACES, 0, 0, 0},
    {"a choice of clocks (Linux 4.1)", PERFDATA_ATTR_USE_CLOCKID, 0, 0, 0},
};
enum { NEWER_COUNT = sizeof NEWER / sizeof *NEWER };

static void leave_out(struct perfdata_attr *a, const struct newer *n) {
    if (a->sample_type & n->sample_type)
        a->sample_type |= n->instead;
    a->flags &= ~n->flags;
    a->read_format &= ~n->read_format;
    a->sample_type &= ~n->sample_type;
    if (n->flags & PERFDATA_ATTR_USE_CLOCKID)
        a->clockid = 0;
}

static bool has(const struct perfdata_attr *a, const struct newer *n) {
    return a->flags & n->flags || a->read_format & n->read_format || a->sample_type & n->sample_type;
}

enum { SOFTWARE_BPF_OUTPUT = 10 /* PERF_COUNT_SW_BPF_OUTPUT */ };

struct attempt {
    struct record_opened *r;
    struct record_plan *c;
    uint32_t event;
    int32_t tid, cpu;
    int group_fd, cgroup_fd; /* -1: none */
};

/* What is opened instead of a tracepoint that is none: what programs write to. It belongs to no task, and
 * nothing is written before the command's execve (probes/probes.h). */
static struct perfdata_attr output_of_program(const struct perfdata_attr *a) {
    struct perfdata_attr out = *a;
    out.type = PERFDATA_TYPE_SOFTWARE;
    out.config = SOFTWARE_BPF_OUTPUT;
    if (out.flags & PERFDATA_ATTR_ENABLE_ON_EXEC)
        out.flags &= ~(PERFDATA_ATTR_DISABLED | PERFDATA_ATTR_ENABLE_ON_EXEC);
    out.flags &= ~PERFDATA_ATTR_INHERIT;
    return out;
}

static int attempt(const struct attempt *t, const struct perfdata_attr *a) {
    const struct os_perf *perf = t->r->perf;
    const struct record_event_plan *p = &t->c->events.items[t->event];
    struct writer w = writer_make(false);
    int fd = -ENOMEM;
    struct perfdata_attr real = p->probe ? output_of_program(a) : *a;
    if (p->probe_path)
        real.config1 = (uintptr_t)p->probe_path; /* uprobe_path of perf_event.h */
    perfdata_attr_encode(&real, &w);
    if (writer_ok(&w) && t->cgroup_fd >= 0)
        fd = perf->open_cgroup(perf->ctx, writer_bytes(&w), t->cgroup_fd, t->cpu, t->group_fd);
    else if (writer_ok(&w))
        fd = perf->open(perf->ctx, writer_bytes(&w), p->probe ? -1 : t->tid, t->cpu, t->group_fd);
    writer_fini(&w);
    return fd;
}

/* EINVAL: leaves out one newer thing after the other until it opens; what had to go goes from all events, so
 * that they keep one layout. -EINVAL when that was not it. */
static int without_newer(const struct attempt *t) {
    struct perfdata_attr a = t->c->events.items[t->event].attr;
    for (size_t i = 0; i < NEWER_COUNT; i++) {
        if (!has(&a, &NEWER[i]))
            continue;
        leave_out(&a, &NEWER[i]);
        int fd = attempt(t, &a);
        if (fd == -EINVAL)
            continue;
        for (size_t k = 0; k <= i; k++)
            for (size_t e = 0, said = 0; e < t->c->events.count; e++) {
                if (has(&t->c->events.items[e].attr, &NEWER[k]) && !said++)
                    log_line(LOG_INFO, "this kernel does not know %s: recording without", NEWER[k].what);
                leave_out(&t->c->events.items[e].attr, &NEWER[k]);
            }
        return fd;
    }
    return -EINVAL;
}

static void set_precise(struct perfdata_attr *a, unsigned precise) {
    a->flags = (a->flags & ~(3ull << PERFDATA_ATTR_PRECISE_IP_SHIFT)) | (uint64_t)precise
                                                                            << PERFDATA_ATTR_PRECISE_IP_SHIFT;
}

/* The highest precision that opens, for events that ask for it (the modifier P). */
static int with_precise(const struct attempt *t, struct record_event_plan *p) {
    for (unsigned precise = 3;; precise--) {
        set_precise(&p->attr, precise);
        int fd = attempt(t, &p->attr);
        if (fd >= 0 || precise == 0 || fd == -EACCES || fd == -EPERM || fd == -ESRCH)
            return fd;
    }
}

/* Without the right to see the kernel: user space only, unless the user asked for a mode. */
static int without_kernel(const struct attempt *t, struct record_event_plan *p) {
    struct perfdata_attr a = p->attr;
    if (a.flags & PERFDATA_ATTR_NAMESPACES) { /* these want CAP_PERFMON whatever the mode */
        a.flags &= ~PERFDATA_ATTR_NAMESPACES;
        int fd = attempt(t, &a);
        if (fd >= 0) {
            log_line(LOG_WARN, "namespaces are not recorded: that needs root or CAP_PERFMON");
            p->attr = a;
            return fd;
        }
    }
    if (p->mode_fixed || a.flags & PERFDATA_ATTR_EXCLUDE_KERNEL)
        return -EACCES;
    a.flags |= PERFDATA_ATTR_EXCLUDE_KERNEL | PERFDATA_ATTR_EXCLUDE_HV;
    int fd = attempt(t, &a);
    if (fd < 0)
        return fd == -EPERM ? -EACCES : fd;
    p->attr = a;
    p->mode_fixed = p->user_only = true;
    if (!t->r->user_only_said && !p->side_band)
        log_line(LOG_WARN, "only user space is recorded: to see the kernel too, "
                           "sudo sysctl kernel.perf_event_paranoid=1");
    t->r->user_only_said = true;
    return fd;
}

static int open_one(const struct attempt *t) {
    struct record_event_plan *p = &t->c->events.items[t->event];
    int fd;
    if (p->max_precise) {
        fd = with_precise(t, p);
        p->max_precise = fd < 0 && (fd == -EACCES || fd == -EPERM);
    } else {
        fd = attempt(t, &p->attr);
    }
    if (fd == -EMFILE && os_limits_raise_files())
        fd = attempt(t, &p->attr);
    if (fd == -EINVAL)
        fd = without_newer(t);
    if (fd == -EACCES || fd == -EPERM)
        fd = without_kernel(t, p);
    if (fd == -EINVAL && p->user_only)
        fd = without_newer(t);
    return fd;
}

/* What would allow it (Documentation/admin-guide/perf-security.rst), by what else may be opened. */
static const char *permission_advice(const struct attempt *t, const struct perf_target *target) {
    const struct record_event_plan *p = &t->c->events.items[t->event];
    struct perf_allowed a;
    struct os_rights rights;
    perf_allowed_find(t->r->perf, &a);
    if (a.user) {
        os_rights_read(&sysfs_system, &rights);
        return perf_allowed_nothing(&a, &rights);
    }
    if (t->tid > 0 && perf_allowed_task(t->r->perf, t->tid))
        return "no access to this process: run as root, or as its owner";
    if (p->probe)
        return "probes are for root only: run as root, or with CAP_BPF and CAP_PERFMON";
    if (p->probe_path)
        return "probes are for root only: run as root, or with CAP_PERFMON";
    if (p->off_cpu)
        return "BPF programs count it, which is not allowed: run as root, or with CAP_BPF and CAP_PERFMON";
    if (p->tracepoint)
        return "tracepoints are not allowed: run as root, or sudo sysctl kernel.perf_event_paranoid=-1";
    if (target->system_wide && a.cpus)
        return "recording whole CPUs is not allowed: run as root, or "
               "sudo sysctl kernel.perf_event_paranoid=0";
    if (a.kernel && !(p->attr.flags & PERFDATA_ATTR_EXCLUDE_KERNEL))
        return "recording the kernel is not allowed: run as root, or sudo sysctl "
               "kernel.perf_event_paranoid=1";
    return "not allowed: run as root";
}

/* One line: what, and what to do. */
static bool refused(const struct attempt *t, const struct perf_target *target, int why, struct err *err) {
    const struct record_event_plan *p = &t->c->events.items[t->event];
    const bool branches = p->attr.sample_type & PERFDATA_SAMPLE_BRANCH_STACK;
    switch (why) {
    case EACCES:
    case EPERM:
        return err_set(err, ERR_PERMISSION, p->name, "%s", permission_advice(t, target));
    case ENOENT:
    case ENODEV:
        t->r->absent = t->event;
        return err_set(err, ERR_ABSENT, p->name, "this machine does not have this event");
    case EOPNOTSUPP:
        t->r->absent = branches ? UINT32_MAX : t->event;
        return err_set(err, ERR_ABSENT, p->name, "this event cannot %s on this machine",
                       branches ? "record branches" : "be sampled");
    case EINVAL:
        return err_set(err, ERR_UNSUPPORTED, p->name,
                       "the kernel refuses this combination of event and options");
    case EMFILE:
        return err_set(err, ERR_IO, p->name, "too many open files: ulimit -n 65536");
    case EBUSY:
        return err_set(err, ERR_IO, p->name, "the counter is in use by another program");
    case ESRCH:
        return err_set(err, ERR_ABSENT, NULL, "thread %d ended before it could be recorded", (int)t->tid);
    case ENOSYS:
        return err_set(err, ERR_UNSUPPORTED, p->name, "this kernel has no perf events");
    default:
        return err_errno(err, why, p->name, "cannot open the event");
    }
}

static struct record_ring *ring_of(struct record_opened *r, int32_t cpu, int32_t tid, bool backward) {
    for (size_t i = 0; i < r->rings.count; i++)
        if (r->rings.items[i].cpu == cpu && r->rings.items[i].tid == tid &&
            r->rings.items[i].backward == backward)
            return &r->rings.items[i];
    return NULL;
}

/* Maps a new ring through `fd`; the first one tells how large they may be. */
static bool map_ring(struct record_opened *r, const struct record_ring *want, const struct record_options *o,
                     struct err *err) {
    struct record_ring *ring = vec_push(&r->rings);
    if (!ring)
        return err_memory(err, "rings");
    *ring = *want;
    uint64_t asked = r->pages;
    for (;; r->pages /= 2) {
        int why = -r->perf->map(r->perf->ctx, want->fd, r->pages, want->backward, &ring->map);
        if (why == 0)
            break;
        /* Rings that are mapped keep their size; smaller ones from here on do no harm. */
        if ((why == EPERM || why == ENOMEM) && !o->pages && r->pages > 1)
            continue;
        r->rings.count--;
        if (why == EPERM)
            return err_set(err, ERR_PERMISSION, "-m",
                           "rings of %llu pages are more than this user may lock: use a smaller -m, or "
                           "sudo sysctl kernel.perf_event_mlock_kb=%llu",
                           (unsigned long long)r->pages,
                           (unsigned long long)(r->pages + 1) * os_limits_page_bytes() / 1024);
        return err_errno(err, why, "ring", "cannot map %llu pages", (unsigned long long)r->pages);
    }
    if (r->pages != asked)
        log_line(LOG_WARN,
                 "rings have %llu pages each instead of %llu: for more, "
                 "sudo sysctl kernel.perf_event_mlock_kb=%llu",
                 (unsigned long long)r->pages, (unsigned long long)asked,
                 (unsigned long long)(asked + 1) * os_limits_page_bytes() / 1024);
    return true;
}

static bool attach(struct record_opened *r, struct record_fd *f, const struct record_ring *want,
                   const struct record_options *o, struct err *err) {
    struct record_ring *ring = ring_of(r, want->cpu, want->tid, want->backward);
    if (!ring) {
        f->ring = (uint32_t)r->rings.count;
        return map_ring(r, want, o, err);
    }
    f->ring = (uint32_t)(ring - r->rings.items);
    int why = r->perf->control(r->perf->ctx, f->fd, OS_PERF_SET_OUTPUT, ring->fd);
    return why == 0 || err_errno(err, -why, "ring", "cannot redirect an event into it");
}

static int leader_fd(const struct record_opened *r, uint32_t leader, int32_t cpu, int32_t tid) {
    for (size_t i = 0; i < r->fds.count; i++)
        if (r->fds.items[i].event == leader && r->fds.items[i].cpu == cpu && r->fds.items[i].tid == tid)
            return r->fds.items[i].fd;
    return -1;
}

static bool wants_cpu(void *ctx, uint32_t n) {
    int32_t *cpu = ctx;
    if ((uint32_t)*cpu == n)
        *cpu = -2; /* found */
    return true;
}

static bool event_on_cpu(const struct record_event_plan *p, int32_t cpu) {
    if (!p->cpus || cpu < 0)
        return true;
    int32_t seek = cpu;
    perf_target_list(p->cpus, wants_cpu, &seek);
    return seek == -2;
}

/* One event on one CPU for one thread. */
static bool open_cell(const struct attempt *t, const struct perf_target *target,
                      const struct record_options *o, struct err *err) {
    struct record_opened *r = t->r;
    int fd = open_one(t);
    if (fd == -ESRCH && target->threads.count > 1)
        return true;
    if (fd < 0)
        return refused(t, target, -fd, err);
    struct record_fd *f = vec_push(&r->fds);
    if (!f) {
        r->perf->close(r->perf->ctx, fd);
        return err_memory(err, "events");
    }
    *f = (struct record_fd){.fd = fd, .event = t->event, .cpu = t->cpu, .tid = t->tid};
    const char *filter = t->c->events.items[t->event].filter;
    int why = -r->perf->id(r->perf->ctx, fd, &f->id);
    if (why)
        return err_errno(err, why, t->c->events.items[t->event].name, "cannot read the event's id");
    if (filter && (why = -r->perf->set_filter(r->perf->ctx, fd, filter)) != 0)
        return err_errno(err, why, t->c->events.items[t->event].name, "the kernel refuses the filter '%s'",
                         filter);
    const struct record_ring want = {
        .cpu = f->cpu,
        .tid = target->per_thread ? f->tid : -1,
        .fd = fd,
        .backward = t->c->events.items[t->event].attr.flags & PERFDATA_ATTR_WRITE_BACKWARD,
    };
    return attach(r, f, &want, o, err);
}

struct opening {
    struct record_opened *r;
    struct record_plan *c;
    uint32_t event;
    int cgroup_fd;
};

/* An event on all its CPUs, for all its threads. */
static bool open_cells(const struct opening *x, const struct perf_target *t, const struct record_options *o,
                       struct err *err) {
    const struct record_event_plan *p = &x->c->events.items[x->event];
    bool all = p->side_band && !t->per_thread;
    size_t cpus = all ? t->online.count : t->cpus.count;
    for (size_t i = 0; i < cpus; i++) {
        int32_t cpu = all ? t->online.items[i] : t->cpus.items[i];
        size_t threads = p->probe ? t->threads.count != 0 : t->threads.count; /* one is for all */
        for (size_t k = 0; k < threads && event_on_cpu(p, cpu); k++) {
            int32_t tid = t->threads.items[k].tid;
            struct attempt a = {x->r, x->c, x->event, tid, cpu, -1, x->cgroup_fd};
            if (p->leader != x->event && (a.group_fd = leader_fd(x->r, p->leader, cpu, tid)) < 0)
                continue; /* the thread is gone */
            if (!open_cell(&a, t, o, err))
                return false;
        }
    }
    return true;
}

static bool open_event(struct record_opened *r, struct record_plan *c, uint32_t event,
                       const struct perf_target *t, const struct record_options *o, struct err *err) {
    const char *name = c->events.items[event].cgroup;
    char folder[4096];
    if (!name || !*name)
        return open_cells(&(struct opening){r, c, event, -1}, t, o, err);
    if (!c->cgroup_folder)
        return err_set(err, ERR_ABSENT, "-G", "no hierarchy of control groups is mounted");
    snprintf(folder, sizeof folder, "%s/%s", c->cgroup_folder, name);
    int fd = r->perf->cgroup(r->perf->ctx, folder);
    if (fd < 0)
        return err_errno(err, -fd, "-G", "there is no control group %s", folder);
    bool ok = open_cells(&(struct opening){r, c, event, fd}, t, o, err);
    r->perf->close(r->perf->ctx, fd);
    return ok;
}

/* The kernel refuses a group that would never fit into the counters (perf_event_open(2)). True: the event is
 * in one that may be taken apart, which is done. */
static bool take_apart(struct record_plan *c, uint32_t event, const struct err *why) {
    uint32_t first = c->events.items[event].leader;
    struct record_event_plan *leader = &c->events.items[first];
    if (event == first || !leader->weak || why->code == ERR_PERMISSION || why->code == ERR_MEMORY)
        return false;
    const uint64_t start = PERFDATA_ATTR_DISABLED | PERFDATA_ATTR_ENABLE_ON_EXEC;
    for (uint32_t i = first; i < c->events.count; i++) {
        struct record_event_plan *p = &c->events.items[i];
        if (p->leader != first)
            continue;
        p->attr.flags = (p->attr.flags & ~start) | (leader->attr.flags & start);
        p->leader = i;
        p->members = 1;
        p->group = NULL;
        p->weak = false;
    }
    log_line(LOG_INFO, "the group of %s does not fit: its events are recorded one by one", leader->name);
    return true;
}

/* Nothing limits what root locks; larger rings wake the recorder half as often. But with many of them the
 * memory had better be somebody else's. */
static uint64_t default_bytes(const struct perf_target *t) {
    enum { MANY = 64 };
    bool few = t->cpus.count <= MANY && t->threads.count <= MANY && t->cpus.count * t->threads.count <= MANY;
    return few && os_host_root() ? 2 * RECORD_DEFAULT_RING_BYTES : RECORD_DEFAULT_RING_BYTES;
}

bool record_open(struct record_opened *r, const struct os_perf *perf, struct record_plan *c,
                 const struct perf_target *t, const struct record_options *o, struct err *err) {
    uint64_t page = os_limits_page_bytes();
    uint64_t pages = o->pages ? o->pages : default_bytes(t) / page;
    *r = (struct record_opened){.perf = perf, .pages = pages, .absent = UINT32_MAX};
    bool ok = true;
    for (uint32_t i = 0; i < c->events.count && ok; i++) {
        ok = open_event(r, c, i, t, o, err);
        if (ok || !take_apart(c, i, err))
            continue;
        record_opened_fini(r);
        *r = (struct record_opened){.perf = perf, .pages = pages, .absent = UINT32_MAX};
        *err = ERR_INIT;
        i = UINT32_MAX; /* all over again */
        ok = true;
    }
    if (ok && r->fds.count == 0)
        ok = err_set(err, ERR_ABSENT, NULL, "all threads ended before they could be attached to");
    if (!ok)
        record_opened_fini(r);
    return ok;
}

static void enable(struct record_opened *r, const struct record_plan *c, bool on, bool side_band) {
    for (size_t i = 0; i < r->fds.count; i++) {
        const struct record_event_plan *p = &c->events.items[r->fds.items[i].event];
        if (p->leader == r->fds.items[i].event && (side_band || !p->side_band))
            r->perf->control(r->perf->ctx, r->fds.items[i].fd, on ? OS_PERF_ENABLE : OS_PERF_DISABLE, 0);
    }
}

void record_open_enable(struct record_opened *r, const struct record_plan *c, bool on) {
    enable(r, c, on, true);
}

void record_open_switch(struct record_opened *r, const struct record_plan *c, bool on) {
    enable(r, c, on, false);
}

bool record_open_enable_named(struct record_opened *r, const struct record_plan *c, const char *name,
                              bool on) {
    bool found = false;
    for (size_t i = 0; i < r->fds.count; i++) {
        if (strcmp(c->events.items[r->fds.items[i].event].name, name) != 0)
            continue;
        r->perf->control(r->perf->ctx, r->fds.items[i].fd, on ? OS_PERF_ENABLE : OS_PERF_DISABLE, 0);
        found = true;
    }
    return found;
}

/* With the modifier that the event got from us. */
static bool name_event(struct perfdata_events *events, uint32_t i, const struct record_event_plan *p) {
    char name[512];
    int n = snprintf(name, sizeof name, "%s%s", p->name,
                     !p->user_only          ? ""
                     : strchr(p->name, ':') ? "u"
                                            : ":u");
    return perfdata_events_name(events, i, name, (size_t)n < sizeof name ? (size_t)n : sizeof name - 1);
}

bool record_open_events(const struct record_opened *r, const struct record_plan *c,
                        struct perfdata_events *events) {
    for (uint32_t i = 0; i < c->events.count; i++) {
        const struct record_event_plan *p = &c->events.items[i];
        if (perfdata_events_add(events, &p->attr, NULL) == PERFDATA_NO_EVENT || !name_event(events, i, p))
            return false;
        events->list.items[i].leader = p->leader;
        events->list.items[i].group_members = p->members;
        events->list.items[i].group_name = p->group;
    }
    for (size_t i = 0; i < r->fds.count; i++)
        if (!perfdata_events_add_id(events, r->fds.items[i].event, r->fds.items[i].id))
            return false;
    return true;
}

uint64_t record_open_lost(const struct record_opened *r, const struct record_plan *c) {
    uint64_t sum = 0;
    for (size_t i = 0; i < r->fds.count; i++) {
        const struct record_fd *f = &r->fds.items[i];
        uint64_t format = c->events.items[f->event].attr.read_format, words[64];
        if (!(format & PERFDATA_FORMAT_LOST))
            continue;
        int n = r->perf->read(r->perf->ctx, f->fd, words, sizeof words);
        struct perfdata_read read;
        struct cursor cursor = cursor_make((struct bytes){(uint8_t *)words, n > 0 ? (size_t)n : 0}, false);
        /* A member of a group gives the whole group too: only the leader's answer counts. */
        if (n <= 0 || !perfdata_read_decode(&cursor, format, &read) ||
            (format & PERFDATA_FORMAT_GROUP && c->events.items[f->event].leader != f->event))
            continue;
        for (uint64_t k = 0; k < read.count; k++)
            sum += perfdata_read_at(&read, k).lost;
    }
    return sum;
}

void record_opened_fini(struct record_opened *r) {
    for (size_t i = 0; i < r->rings.count; i++)
        r->perf->unmap(r->perf->ctx, &r->rings.items[i].map);
    for (size_t i = 0; i < r->fds.count; i++)
        r->perf->close(r->perf->ctx, r->fds.items[i].fd);
    vec_fini(&r->rings);
    vec_fini(&r->fds);
}
