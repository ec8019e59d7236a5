/* SPDX-License-Identifier: Apache-2.0 */
#include "states/lock/locks.h"

#include <string.h>

/* ---- types ---- */

static const struct lock_type_row {
    unsigned flags;
    const char *name, *whole;
} TYPES[] = {
    {UINT32_MAX, "unknown", "unknown"},
    {0, "semaphore", "semaphore"},
    {LOCK_SPIN, "spinlock", "spinlock"},
    {LOCK_SPIN | LOCK_READ, "rwlock:R", "rwlock"},
    {LOCK_SPIN | LOCK_WRITE, "rwlock:W", "rwlock"},
    {LOCK_READ, "rwsem:R", "rwsem"},
    {LOCK_WRITE, "rwsem:W", "rwsem"},
    {LOCK_RT, "rtmutex", "rt-mutex"},
    {LOCK_RT | LOCK_READ, "rwlock-rt:R", "rwlock-rt"},
    {LOCK_RT | LOCK_WRITE, "rwlock-rt:W", "rwlock-rt"},
    {LOCK_PERCPU | LOCK_READ, "pcpu-sem:R", "percpu-rwsem"},
    {LOCK_PERCPU | LOCK_WRITE, "pcpu-sem:W", "percpu-rwsem"},
    {LOCK_MUTEX, "mutex", "mutex"},
};
enum { TYPE_COUNT = sizeof TYPES / sizeof *TYPES };

unsigned lock_type(unsigned flags) {
    if (flags & LOCK_MUTEX)
        flags &= ~(unsigned)LOCK_SPIN; /* a mutex that spins at first */
    for (unsigned i = 1; i < TYPE_COUNT; i++)
        if (TYPES[i].flags == flags)
            return i;
    return LOCK_TYPE_UNKNOWN;
}

const char *lock_type_name(unsigned type, bool whole) {
    if (type >= TYPE_COUNT)
        type = LOCK_TYPE_UNKNOWN;
    return whole ? TYPES[type].whole : TYPES[type].name;
}

static bool same(const char *text, const char *name, size_t len) {
    return strlen(text) == len && memcmp(text, name, len) == 0;
}

uint32_t lock_types_named(const char *name, size_t len) {
    uint32_t found = 0;
    if (same("percpu-rwmem", name, len) || same("pcpu-sem", name, len)) { /* as perf-lock(1) has them */
        name = "percpu-rwsem";
        len = strlen(name);
    }
    for (unsigned i = 1; len && i < TYPE_COUNT; i++)
        if (same(TYPES[i].name, name, len) || same(TYPES[i].whole, name, len))
            found |= UINT32_C(1) << i;
    return found;
}

/* ---- waits ---- */

void locks_init(struct locks *l, locks_sink_fn *sink, void *ctx) {
    *l = (struct locks){.sink = sink, .sink_ctx = ctx};
}

void locks_fini(struct locks *l) {
    for (size_t i = 0; i < l->threads.count; i++)
        vec_fini(&l->threads.items[i].pending);
    vec_fini(&l->threads);
    hash_map_fini(&l->by_thread);
}

/* Gives up waits that were open when events were lost: the next end may belong to another wait. */
static void catch_up(struct locks *l, struct lock_thread *t) {
    if (t->losses == l->losses)
        return;
    l->faults.lost += t->pending.count;
    t->pending.count = 0;
    t->losses = l->losses;
}

/* NULL: out of memory. */
static struct lock_thread *find_thread(struct locks *l, const struct lock_event *e) {
    uint64_t key = e->tid ? e->tid : (uint64_t)1 << 32 | e->cpu;
    uint32_t index = hash_map_get(&l->by_thread, key);
    if (index == HASH_ABSENT) {
        index = (uint32_t)l->threads.count;
        if (!vec_push(&l->threads) || !hash_map_set(&l->by_thread, key, index))
            return NULL;
    }
    catch_up(l, &l->threads.items[index]);
    return &l->threads.items[index];
}

static struct lock_pending *find_pending(struct lock_thread *t, const struct lock_event *e) {
    for (size_t i = t->pending.count; i-- > 0;)
        if (t->pending.items[i].address == e->address)
            return &t->pending.items[i];
    return NULL;
}

static bool begin(struct locks *l, struct lock_thread *t, const struct lock_event *e) {
    bool lockdep = e->kind == LOCK_EVENT_CONTENDED;
    unsigned type = lockdep ? LOCK_TYPE_UNKNOWN : lock_type(e->flags);
    struct lock_pending *p = find_pending(t, e);
    if (p && p->lockdep == lockdep && p->type == type)
        return true; /* still the same wait */
    if (p || t->pending.count >= LOCK_NESTED_MAX) {
        l->faults.repeated++;
        if (!p)
            return true;
    } else if (!(p = vec_push(&t->pending))) {
        return false;
    }
    *p = (struct lock_pending){.address = e->address,
                               .since_ns = e->time_ns,
                               .group = e->group,
                               .pid = e->pid,
                               .name = e->name,
                               .site = e->site,
                               .type = type,
                               .lockdep = lockdep,
                               .ignored = e->ignored};
    return true;
}

static bool hand_on(struct locks *l, const struct lock_event *e, const struct lock_pending *p) {
    const struct lock_wait w = {.address = e->address,
                                .since_ns = p ? p->since_ns : e->time_ns,
                                .until_ns = e->time_ns,
                                .group = p ? p->group : e->group,
                                .tid = e->tid,
                                .pid = e->pid,
                                .name = p ? p->name : e->name,
                                .site = p ? p->site : e->site,
                                .type = p ? p->type : LOCK_TYPE_UNKNOWN,
                                .contended = p,
                                .acquired = e->kind != LOCK_EVENT_END};
    return l->sink(l->sink_ctx, &w);
}

static void forget(struct lock_thread *t, const struct lock_pending *p) {
    size_t i = (size_t)(p - t->pending.items);
    memmove(&t->pending.items[i], &t->pending.items[i + 1], (t->pending.count - i - 1) * sizeof *p);
    t->pending.count--;
}

static bool end(struct locks *l, struct lock_thread *t, const struct lock_event *e) {
    struct lock_pending *p = find_pending(t, e);
    bool lockdep = e->kind == LOCK_EVENT_ACQUIRED;
    if (p && p->lockdep != lockdep)
        p = NULL;
    if (!p) {
        l->faults.unbegun += !lockdep;
        return !lockdep || hand_on(l, e, NULL);
    }
    struct lock_pending done = *p;
    forget(t, p);
    if (e->time_ns < done.since_ns) {
        l->faults.backwards++;
        return true;
    }
    return done.ignored || hand_on(l, e, &done);
}

bool locks_apply(struct locks *l, const struct lock_event *e) {
    if (e->kind == LOCK_EVENT_LOST) {
        l->losses++;
        return true;
    }
    struct lock_thread *t = find_thread(l, e);
    if (!t)
        return false;
    switch (e->kind) {
    case LOCK_EVENT_BEGIN:
    case LOCK_EVENT_CONTENDED:
        return begin(l, t, e);
    case LOCK_EVENT_END:
    case LOCK_EVENT_ACQUIRED:
        return end(l, t, e);
    case LOCK_EVENT_ACQUIRE:
        /* A trylock that succeeds has only this event. */
        return !(e->flags & LOCK_ACQUIRE_TRY) || hand_on(l, e, NULL);
    default:
        return true;
    }
}

void locks_finish(struct locks *l) {
    for (size_t i = 0; i < l->threads.count; i++) {
        catch_up(l, &l->threads.items[i]);
        l->faults.unended += l->threads.items[i].pending.count;
        l->threads.items[i].pending.count = 0;
    }
}
