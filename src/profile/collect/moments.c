/* SPDX-License-Identifier: Apache-2.0 */
/* The single samples, for a time axis. */
#include "profile/collect/builder.h"

/* Returns the number of a task, new or known. PROFILE_NONE: out of memory. */
static uint32_t task_of(struct profile_moments *m, uint32_t pid, uint32_t tid) {
    const struct profile_task *last = m->tasks.count ? &m->tasks.items[m->last] : NULL;
    if (last && last->pid == pid && last->tid == tid)
        return m->last;
    uint64_t hash = hash_u64((uint64_t)pid << 32 | tid);
    struct idtable_at at = idtable_first(&m->index, hash);
    for (uint32_t id; (id = idtable_next(&m->index, &at)) != IDTABLE_NONE;)
        if (m->tasks.items[id].pid == pid && m->tasks.items[id].tid == tid)
            return m->last = id;
    uint32_t id = (uint32_t)m->tasks.count;
    struct profile_task *made = vec_push(&m->tasks);
    if (!made || !idtable_add_at(&m->index, &at, hash, id))
        return PROFILE_NONE;
    *made = (struct profile_task){pid, tid};
    return m->last = id;
}

bool profile_moments_add(struct profile_moments *m, const struct profile_pending *p, uint32_t stack) {
    uint32_t task = task_of(m, p->pid, p->tid);
    struct profile_moment *x = task == PROFILE_NONE ? NULL : vec_push(&m->list);
    if (x)
        *x = (struct profile_moment){p->stack.first_ns, p->stack.period, stack, task, p->cpu};
    return x;
}

bool profile_moments_merge(struct profile_moments *to, const struct profile_moments *from,
                           const uint32_t *stacks) {
    if (!vec_reserve(&to->list, to->list.count + from->list.count + 1))
        return false;
    for (size_t i = 0; i < from->list.count; i++) {
        struct profile_moment x = from->list.items[i];
        const struct profile_task *task = &from->tasks.items[x.task];
        x.task = task_of(to, task->pid, task->tid);
        x.stack = stacks[x.stack];
        if (x.task == PROFILE_NONE)
            return false;
        to->list.items[to->list.count++] = x;
    }
    return true;
}

void profile_moments_fini(struct profile_moments *m) {
    vec_fini(&m->list);
    vec_fini(&m->tasks);
    idtable_fini(&m->index);
}

bool profile_ticks_add(profile_ticks *t, const struct profile_stack *sample, uint32_t stack) {
    if (t->count == t->cap && !vec_reserve(t, t->count + 1))
        return false;
    t->items[t->count++] = (struct profile_tick){sample->first_ns, stack, (float)sample->period};
    return true;
}

bool profile_ticks_merge(profile_ticks *to, const profile_ticks *from, const uint32_t *stacks) {
    if (!vec_reserve(to, to->count + from->count + 1))
        return false;
    for (size_t i = 0; i < from->count; i++) {
        struct profile_tick x = from->items[i];
        x.stack = stacks[x.stack];
        to->items[to->count++] = x;
    }
    return true;
}

void profile_moments_renumber(struct profile_builder *b, const uint32_t *now) {
    for (size_t i = 0; i < b->moments.list.count; i++)
        b->moments.list.items[i].stack = now[b->moments.list.items[i].stack];
    for (size_t i = 0; i < b->ticks.count; i++)
        b->ticks.items[i].stack = now[b->ticks.items[i].stack];
}
