/* SPDX-License-Identifier: Apache-2.0 */
#include "states/kwork/kwork_top.h"

#include <stdlib.h>

static struct kwork_top_thread *thread_at(struct kwork_top *t, uint32_t index) {
    while (t->threads.count <= index) {
        struct kwork_top_thread *x = vec_push(&t->threads);
        if (!x)
            return NULL;
        x->thread = (uint32_t)t->threads.count - 1;
    }
    return &t->threads.items[index];
}

static struct kwork_top_cpu *cpu_at(struct kwork_top *t, uint32_t number) {
    uint32_t index = hash_map_get(&t->by_cpu, number);
    if (index != HASH_ABSENT)
        return &t->cpus.items[index];
    index = (uint32_t)t->cpus.count;
    struct kwork_top_cpu *c = index < HASH_ABSENT ? vec_push(&t->cpus) : NULL;
    if (!c || !hash_map_set(&t->by_cpu, number, index))
        return NULL;
    c->number = number;
    return c;
}

/* How much of an interval lies in the chosen ones, which do not overlap. */
static uint64_t chosen_ns(const struct kwork_choice *c, uint64_t since_ns, uint64_t until_ns) {
    uint64_t sum = 0;
    if (!c->times || !c->times->list.count)
        return until_ns - since_ns;
    for (size_t i = 0; i < c->times->list.count; i++) {
        const struct time_range *r = &c->times->list.items[i];
        uint64_t from = since_ns > r->first_ns ? since_ns : r->first_ns;
        uint64_t to = until_ns < r->last_ns ? until_ns : r->last_ns;
        sum += from < to ? to - from : 0;
    }
    return sum;
}

static bool chosen_cpu(const struct kwork_top *t, uint32_t cpu) {
    return cpu != STATES_NONE && (!t->choice->cpus || filter_ranges_have(t->choice->cpus, cpu));
}

bool kwork_top_interval(void *ctx, const struct states_interval *i) {
    struct kwork_top *t = ctx;
    if (i->state != STATES_RUNNING || !chosen_cpu(t, i->cpu))
        return true;
    struct kwork_top_thread *x = thread_at(t, i->thread);
    struct kwork_top_cpu *c = x ? cpu_at(t, i->cpu) : NULL;
    if (!c)
        return false;
    uint64_t ns = chosen_ns(t->choice, i->since_ns, i->until_ns);
    x->run_ns += ns;
    *(states_thread(t->states, i->thread)->tid ? &c->run_ns : &c->idle_ns) += ns;
    return true;
}

bool kwork_top_run(void *ctx, const struct kwork *k, const struct kwork_run *run) {
    struct kwork_top *t = ctx;
    enum kwork_class class = kwork_work(k, run->work)->class;
    if (class == KWORK_WORKQUEUE || !kwork_chosen(t->choice, k, run))
        return true;
    struct kwork_top_cpu *c = cpu_at(t, run->cpu);
    if (!c)
        return false;
    uint64_t ns = run->until_ns - run->since_ns;
    uint64_t own_ns = ns > run->inner_ns ? ns - run->inner_ns : 0;
    *(class == KWORK_IRQ ? &c->irq_ns : &c->softirq_ns) += own_ns;
    uint32_t current = states_current(t->states, run->cpu);
    if (run->nested || current == STATES_NONE)
        return true;
    struct kwork_top_thread *x = thread_at(t, current);
    if (!x)
        return false;
    x->inner_ns += ns;
    if (!states_thread(t->states, current)->tid)
        c->idle_inner_ns += ns;
    return true;
}

static int compare_u64(uint64_t a, uint64_t b) {
    return a < b ? -1 : a > b;
}

static int by_cpu(const void *x, const void *y) {
    return compare_u64(((const struct kwork_top_cpu *)x)->number, ((const struct kwork_top_cpu *)y)->number);
}

static int by_thread(const void *x, const void *y) {
    const struct kwork_top_thread *a = x, *b = y;
    int by = compare_u64(a->tid, b->tid);
    return by ? by : compare_u64(a->thread, b->thread);
}

static int by_time(const void *x, const void *y) {
    const struct kwork_top_thread *a = x, *b = y;
    int by = compare_u64(b->run_ns, a->run_ns);
    return by ? by : by_thread(x, y);
}

struct kwork_top_thread *kwork_top_add_thread(struct kwork_top *t) {
    return vec_push(&t->threads);
}

struct kwork_top_cpu *kwork_top_add_cpu(struct kwork_top *t, uint32_t number) {
    return cpu_at(t, number);
}

void kwork_top_finish(struct kwork_top *t, bool by_tid) {
    const struct states *s = t->states;
    size_t kept = 0;
    t->names = s ? &s->names : t->names;
    for (size_t i = 0; i < t->threads.count; i++) {
        struct kwork_top_thread x = t->threads.items[i];
        if (s) {
            x.tid = states_thread(s, x.thread)->tid;
            x.name = states_thread(s, x.thread)->name;
        }
        x.run_ns -= x.inner_ns < x.run_ns ? x.inner_ns : x.run_ns;
        if (x.run_ns && x.tid)
            t->threads.items[kept++] = x;
    }
    t->threads.count = kept;
    for (size_t i = 0; i < t->cpus.count; i++) {
        struct kwork_top_cpu *c = &t->cpus.items[i];
        c->idle_ns -= c->idle_inner_ns < c->idle_ns ? c->idle_inner_ns : c->idle_ns;
    }
    if (kept)
        qsort(t->threads.items, kept, sizeof *t->threads.items, by_tid ? by_thread : by_time);
    if (t->cpus.count)
        qsort(t->cpus.items, t->cpus.count, sizeof *t->cpus.items, by_cpu);
    if (s)
        t->window_ns = chosen_ns(t->choice, s->begin_ns, s->now_ns);
}

void kwork_top_fini(struct kwork_top *t) {
    vec_fini(&t->threads);
    vec_fini(&t->cpus);
    hash_map_fini(&t->by_cpu);
}
