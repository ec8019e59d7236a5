/* SPDX-License-Identifier: Apache-2.0 */
/* The single samples, for a time axis, and for slices of time. */
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

/* ---- ticks ---- */

/* Lists the periods one by one, from the first that is another on. False: out of memory. */
static bool list_periods(struct profile_ticks *t) {
    if (!vec_reserve(&t->periods, t->stacks.cap))
        return false;
    while (t->periods.count < t->stacks.count)
        t->periods.items[t->periods.count++] = t->period;
    return true;
}

static bool begin_span(struct profile_ticks *t, uint64_t ns, size_t first) {
    struct profile_tick_span *span = vec_push(&t->spans);
    if (span)
        *span = (struct profile_tick_span){ns, first};
    return span;
}

bool profile_ticks_add(struct profile_ticks *t, const struct profile_stack *sample, uint32_t stack) {
    uint64_t ns = sample->first_ns;
    float period = (float)sample->period;
    size_t at = t->stacks.count;
    if (!at) {
        t->period = period;
        t->first_ns = t->last_ns = ns;
    }
    if (!t->spans.count || ns - t->spans.items[t->spans.count - 1].ns >= PROFILE_TICK_NS) {
        if (!begin_span(t, ns, at))
            return false;
    }
    if ((at == t->stacks.cap && !vec_reserve(&t->stacks, at + 1)) ||
        (period != t->period && !t->periods.count && !list_periods(t)))
        return false;
    t->first_ns = ns < t->first_ns ? ns : t->first_ns;
    t->last_ns = ns > t->last_ns ? ns : t->last_ns;
    t->stacks.items[t->stacks.count++] = stack;
    if (!t->periods.count && period == t->period)
        return true;
    if (t->periods.count == t->periods.cap && !vec_reserve(&t->periods, t->periods.count + 1))
        return false;
    t->periods.items[t->periods.count++] = period;
    return true;
}

bool profile_ticks_merge(struct profile_ticks *to, const struct profile_ticks *from, const uint32_t *stacks) {
    size_t had = to->stacks.count, n = from->stacks.count;
    if (!n)
        return true;
    if (!had) {
        to->period = from->period;
        to->first_ns = from->first_ns;
        to->last_ns = from->last_ns;
    }
    bool differ = to->periods.count || from->periods.count || to->period != from->period;
    if (!vec_reserve(&to->stacks, had + n) || !vec_reserve(&to->spans, to->spans.count + from->spans.count) ||
        (differ && (!list_periods(to) || !vec_reserve(&to->periods, had + n))))
        return false;
    to->first_ns = from->first_ns < to->first_ns ? from->first_ns : to->first_ns;
    to->last_ns = from->last_ns > to->last_ns ? from->last_ns : to->last_ns;
    for (size_t i = 0; i < from->spans.count; i++)
        to->spans.items[to->spans.count++] =
            (struct profile_tick_span){from->spans.items[i].ns, had + from->spans.items[i].first};
    for (size_t i = 0; i < n; i++)
        to->stacks.items[had + i] = stacks[from->stacks.items[i]];
    to->stacks.count = had + n;
    for (size_t i = 0; differ && i < n; i++)
        to->periods.items[to->periods.count++] = from->periods.count ? from->periods.items[i] : from->period;
    return true;
}

void profile_ticks_fini(struct profile_ticks *t) {
    vec_fini(&t->stacks);
    vec_fini(&t->periods);
    vec_fini(&t->spans);
}

void profile_moments_renumber(struct profile_builder *b, const uint32_t *now) {
    for (size_t i = 0; i < b->moments.list.count; i++)
        b->moments.list.items[i].stack = now[b->moments.list.items[i].stack];
    for (size_t i = 0; i < b->ticks.stacks.count; i++)
        b->ticks.stacks.items[i] = now[b->ticks.stacks.items[i]];
}
