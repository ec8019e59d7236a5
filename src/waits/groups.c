/* SPDX-License-Identifier: Apache-2.0 */
#include "waits/groups.h"

void waits_groups_fini(struct waits_groups *g) {
    vec_fini(&g->order);
    vec_fini(&g->list);
}

static bool among(int32_t n, const int32_t *list, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (list[i] == n)
            return true;
    return false;
}

bool waits_chosen(const struct waits_choice *c, const struct waits_thread *t) {
    bool named = !c->pid_count && !c->tid_count;
    named |= among(t->pid, c->pids, c->pid_count) || among(t->tid, c->tids, c->tid_count);
    return named && (!c->leave_out || t->pid != c->leave_out) &&
           (!c->comm || strcmp(c->comm, t->comm) == 0 || strcmp(c->comm, t->process) == 0) &&
           (!c->by_user || c->uid == t->uid);
}

struct sorter {
    const struct waits *w;
    bool stacks;
};

static int by_text(const char *a, const char *b) {
    return a == b ? 0 : strcmp(a ? a : "", b ? b : "");
}

static int by_stack(const struct waits_thread *x, const struct waits_thread *y) {
    uint32_t n = x->depth < y->depth ? x->depth : y->depth;
    for (uint32_t i = 0; i < n; i++) {
        int order = by_text(x->stack[i], y->stack[i]);
        if (order)
            return order;
    }
    return (x->depth > y->depth) - (x->depth < y->depth);
}

static int by_group(const struct sorter *s, const struct waits_thread *x, const struct waits_thread *y) {
    int order = (int)x->wait.kind - (int)y->wait.kind;
    order = order ? order : by_text(x->wait.what, y->wait.what);
    order = order ? order : by_text(x->process, y->process);
    order = order ? order : x->state - y->state;
    return order || !s->stacks ? order : by_stack(x, y);
}

static int by_thread(const void *a, const void *b, void *ctx) {
    const struct sorter *s = ctx;
    const struct waits_thread *x = &s->w->threads.items[*(const uint32_t *)a];
    const struct waits_thread *y = &s->w->threads.items[*(const uint32_t *)b];
    int order = by_group(s, x, y);
    if (order)
        return order;
    if (x->since_ns != y->since_ns)
        return x->since_ns > y->since_ns ? -1 : 1;
    return (x->tid > y->tid) - (x->tid < y->tid);
}

struct group_sorter {
    const struct waits_groups *g;
    struct sorter s;
};

static uint32_t lowest(const struct group_sorter *gs, const struct waits_group *g) {
    uint32_t low = UINT32_MAX;
    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t tid = (uint32_t)gs->s.w->threads.items[gs->g->order.items[g->first + i]].tid;
        low = tid < low ? tid : low;
    }
    return low;
}

static int by_size(const void *a, const void *b, void *ctx) {
    const struct group_sorter *gs = ctx;
    const struct waits_group *p = a, *q = b;
    const struct waits_thread *x = &gs->s.w->threads.items[gs->g->order.items[p->first]];
    const struct waits_thread *y = &gs->s.w->threads.items[gs->g->order.items[q->first]];
    if (x->wait.kind != y->wait.kind)
        return x->wait.kind < y->wait.kind ? -1 : 1;
    if (p->count != q->count)
        return p->count > q->count ? -1 : 1;
    if (p->longest_ns != q->longest_ns)
        return p->longest_ns > q->longest_ns ? -1 : 1;
    int order = by_group(&gs->s, x, y);
    uint32_t low_p = order ? 0 : lowest(gs, p), low_q = order ? 0 : lowest(gs, q);
    return order ? order : (low_p > low_q) - (low_p < low_q);
}

static bool split(struct waits_groups *g, const struct sorter *s) {
    for (uint32_t i = 0; i < g->order.count; i++) {
        const struct waits_thread *t = &s->w->threads.items[g->order.items[i]];
        size_t n = g->list.count;
        struct waits_group *last = n ? &g->list.items[n - 1] : NULL;
        const struct waits_thread *before = last ? &s->w->threads.items[g->order.items[last->first]] : NULL;
        if (!last || by_group(s, before, t) != 0) {
            if (!(last = vec_push(&g->list)))
                return false;
            *last = (struct waits_group){.first = i, .longest_ns = t->since_ns, .same_which = true};
            before = t;
        }
        last->count++;
        last->same_which &= by_text(before->wait.which, t->wait.which) == 0;
    }
    return true;
}

bool waits_groups_find(struct waits_groups *g, const struct waits *w, const struct waits_choice *choice,
                       bool stacks) {
    struct group_sorter gs = {.g = g, .s = {w, stacks}};
    for (uint32_t i = 0; i < w->threads.count; i++) {
        if (!waits_chosen(choice, &w->threads.items[i]))
            continue;
        uint32_t *slot = vec_push(&g->order);
        if (!slot)
            return false;
        *slot = i;
    }
    if (g->order.count)
        qsort_r(g->order.items, g->order.count, sizeof *g->order.items, by_thread, &gs.s);
    if (!split(g, &gs.s))
        return false;
    if (g->list.count)
        qsort_r(g->list.items, g->list.count, sizeof *g->list.items, by_size, &gs);
    return true;
}
