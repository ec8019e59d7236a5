/* SPDX-License-Identifier: Apache-2.0 */
#include "events/target.h"

#include <ctype.h>
#include <stdio.h>

enum { CPUS_MAX = 1 << 16 };

static bool read_number(const char **p, uint32_t *out) {
    uint64_t n = 0;
    if (!isdigit((unsigned char)**p))
        return false;
    for (; isdigit((unsigned char)**p); ++*p)
        if ((n = n * 10 + (uint64_t)(**p - '0')) > INT32_MAX)
            return false;
    *out = (uint32_t)n;
    return true;
}

bool perf_target_list(const char *text, perf_target_number_fn *fn, void *ctx) {
    for (const char *p = text;; p++) {
        uint32_t from, to;
        if (!read_number(&p, &from))
            return false;
        to = from;
        if (*p == '-' && (p++, !read_number(&p, &to)))
            return false;
        if (to < from || to - from > CPUS_MAX)
            return false;
        for (uint32_t n = from; n <= to; n++)
            if (!fn(ctx, n))
                return false;
        if (*p == '\0')
            return true;
        if (*p != ',')
            return false;
    }
}

struct int_list {
    int32_t **items;
    size_t *count, *cap;
    bool no_memory;
};

static bool add_number(void *ctx, uint32_t n) {
    struct int_list *l = ctx;
    for (size_t i = 0; i < *l->count; i++)
        if ((*l->items)[i] == (int32_t)n)
            return true;
    if (*l->count >= CPUS_MAX ||
        !vec_reserve_raw((void **)l->items, l->cap, *l->count + 1, sizeof **l->items)) {
        l->no_memory = true;
        return false;
    }
    (*l->items)[(*l->count)++] = (int32_t)n;
    return true;
}

#define INT_LIST(v) \
    { &(v)->items, &(v)->count, &(v)->cap, false }

static bool read_cpus(struct perf_target *t, const struct perf_target_options *o, const struct sysfs *sys,
                      struct arena *a, struct err *err) {
    struct int_list online = INT_LIST(&t->online), cpus = INT_LIST(&t->cpus);
    const char *text = sys->read(sys, "/sys/devices/system/cpu/online", a, err);
    if (!text)
        return false;
    if (!perf_target_list(text, add_number, &online))
        return err_set(err, ERR_BROKEN, "/sys/devices/system/cpu/online", "cannot make sense of it");
    if (!perf_target_list(o->cpus ? o->cpus : text, add_number, &cpus))
        return err_set(err, ERR_USAGE, "-C", "bad list of CPUs '%s': use numbers and ranges such as 0-2,4",
                       o->cpus ? o->cpus : text);
    for (size_t i = 0; i < t->cpus.count; i++) {
        bool there = false;
        for (size_t k = 0; k < t->online.count; k++)
            there |= t->online.items[k] == t->cpus.items[i];
        if (!there)
            return err_set(err, ERR_ABSENT, "-C", "CPU %d is not online (these are: %s)",
                           (int)t->cpus.items[i], text);
    }
    return true;
}

static bool add_thread(struct perf_target *t, int32_t pid, int32_t tid, const struct sysfs *sys,
                       struct arena *a) {
    char path[64];
    struct perf_target_thread *th = vec_push(&t->threads);
    if (!th)
        return false;
    th->tid = tid;
    th->pid = pid;
    if (tid < 0)
        return true;
    snprintf(path, sizeof path, "/proc/%d/comm", (int)tid);
    const char *comm = sys->read(sys, path, a, NULL);
    snprintf(th->comm, sizeof th->comm, "%s", comm ? comm : "");
    return true;
}

struct add_ctx {
    struct perf_target *t;
    const struct sysfs *sys;
    struct arena *arena;
    struct err *err;
    bool failed;
};

static bool add_tid(void *ctx, uint32_t tid) {
    struct add_ctx *c = ctx;
    char path[64];
    struct sysfs_names names;
    snprintf(path, sizeof path, "/proc/%u/task", tid);
    if (!c->sys->list(c->sys, path, c->arena, &names, NULL)) {
        c->failed = true;
        return err_set(c->err, ERR_ABSENT, NULL, "there is no thread %u", tid);
    }
    return add_thread(c->t, 0, (int32_t)tid, c->sys, c->arena);
}

static bool add_pid(void *ctx, uint32_t pid) {
    struct add_ctx *c = ctx;
    char path[64];
    struct sysfs_names names;
    snprintf(path, sizeof path, "/proc/%u/task", pid);
    if (!c->sys->list(c->sys, path, c->arena, &names, NULL)) {
        c->failed = true;
        return err_set(c->err, ERR_ABSENT, NULL, "there is no process %u", pid);
    }
    for (size_t i = 0; i < names.count; i++)
        if (!add_thread(c->t, (int32_t)pid, (int32_t)strtol(names.items[i], NULL, 10), c->sys, c->arena))
            return false;
    return true;
}

/* "Uid:" of /proc/PID/status, the first number being the real one (proc(5)). */
static bool belongs_to(const char *status, const char *uid) {
    const char *line = status ? strstr(status, "\nUid:") : NULL;
    return line && strtoul(line + 5, NULL, 10) == strtoul(uid, NULL, 10);
}

/* All processes of a user; NULL: of all. */
static bool add_processes(struct add_ctx *c, const char *uid) {
    struct sysfs_names names;
    if (!c->sys->list(c->sys, "/proc", c->arena, &names, c->err))
        return false;
    for (size_t i = 0; i < names.count; i++) {
        char path[64];
        if (!isdigit((unsigned char)names.items[i][0]))
            continue;
        snprintf(path, sizeof path, "/proc/%.20s/status", names.items[i]);
        if (uid && !belongs_to(c->sys->read(c->sys, path, c->arena, NULL), uid))
            continue;
        if (!add_pid(c, (uint32_t)atoi(names.items[i])) && !c->failed)
            return err_memory(c->err, "threads");
        c->failed = false; /* a process that ended meanwhile */
    }
    return c->t->threads.count ||
           (uid ? err_set(c->err, ERR_ABSENT, "-u", "no process belongs to user %s", uid)
                : err_set(c->err, ERR_ABSENT, "/proc", "it shows no processes"));
}

static bool read_threads(struct perf_target *t, const struct perf_target_options *o, const struct sysfs *sys,
                         int32_t child, struct arena *a, struct err *err) {
    struct add_ctx c = {t, sys, a, err, false};
    const char *list = o->pids ? o->pids : o->tids;
    if (o->uid || (o->all_threads && !list))
        return add_processes(&c, o->uid);
    if (list) {
        if (perf_target_list(list, o->pids ? add_pid : add_tid, &c))
            return true;
        return c.failed ? false
                        : err_set(err, ERR_USAGE, o->pids ? "-p" : "-t", "bad list of numbers '%s'", list);
    }
    t->system_wide = o->all_cpus || o->cpus || !child;
    t->exec = !t->system_wide;
    return add_thread(t, 0, t->system_wide ? -1 : child, sys, a) || err_memory(err, "threads");
}

bool perf_target_init(struct perf_target *t, const struct perf_target_options *o, const struct sysfs *sys,
                      int32_t child, struct err *err) {
    struct arena a = ARENA_INIT;
    *t = (struct perf_target){.per_thread = o->per_thread};
    bool ok = read_cpus(t, o, sys, &a, err) && read_threads(t, o, sys, child, &a, err);
    if (ok && t->per_thread && t->system_wide)
        ok = err_set(err, ERR_USAGE, "--per-thread", "needs a command, -p or -t, not -a or -C");
    if (ok && t->per_thread) {
        t->cpus.items[0] = -1;
        t->cpus.count = 1;
    }
    arena_fini(&a);
    if (!ok)
        perf_target_fini(t);
    return ok;
}

void perf_target_fini(struct perf_target *t) {
    vec_fini(&t->cpus);
    vec_fini(&t->online);
    vec_fini(&t->threads);
}
