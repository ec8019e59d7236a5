/* SPDX-License-Identifier: Apache-2.0 */
#include "waits/chains.h"

enum { NEW, ON_PATH, DONE, IN_RING };

static uint32_t on(const struct waits *w, uint32_t i) {
    uint32_t to = w->threads.items[i].wait.on;
    return to < w->threads.count ? to : WAITS_NOBODY;
}

void waits_chains_fini(struct waits_chains *c) {
    vec_fini(&c->ring_threads);
    vec_fini(&c->rings);
    vec_fini(&c->roots);
    free(c->waiters);
    free(c->first);
}

/* Counting sort by whom they wait for. */
static bool find_waiters(struct waits_chains *c, const struct waits *w) {
    uint32_t n = (uint32_t)w->threads.count;
    c->first = calloc((size_t)n + 1, sizeof *c->first);
    c->waiters = calloc((size_t)n + 1, sizeof *c->waiters);
    if (!c->first || !c->waiters)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (on(w, i) != WAITS_NOBODY)
            c->first[on(w, i)]++;
    for (uint32_t i = 1; i <= n; i++)
        c->first[i] +=
            c->first[i -
                     1]; /* at first the end of each thread's waiters; filling moves it to their beginning */
    for (uint32_t i = n; i-- > 0;)
        if (on(w, i) != WAITS_NOBODY)
            c->waiters[--c->first[on(w, i)]] = i;
    return true;
}

/* Counts the threads that wait for `root` directly or indirectly; `queue` has room for all threads. */
static uint32_t count_behind(const struct waits_chains *c, const struct waits *w, uint32_t root,
                             const uint8_t *mark, uint32_t *queue, struct waits_root *out) {
    uint32_t have = 0, from = 0, level_end;
    queue[have++] = root;
    for (level_end = have; from < have; level_end = have) {
        for (; from < level_end; from++)
            for (uint32_t k = c->first[queue[from]]; k < c->first[queue[from] + 1]; k++) {
                uint32_t i = c->waiters[k];
                if (mark[i] == IN_RING)
                    continue;
                queue[have++] = i;
                if (out)
                    out->locks |= w->threads.items[i].wait.kind <= WAITS_JOIN;
            }
        if (out && have > level_end)
            out->depth++;
    }
    return have - 1;
}

static bool add_ring(struct waits_chains *c, const struct waits *w, uint32_t from, uint8_t *mark) {
    uint32_t lowest = from, first = (uint32_t)c->ring_threads.count, i = from;
    struct waits_ring *r = vec_push(&c->rings);
    if (!r)
        return false;
    do {
        lowest = i < lowest ? i : lowest;
        i = on(w, i);
    } while (i != from);
    *r = (struct waits_ring){.first = first, .lowest = lowest, .certain = true};
    i = lowest;
    do {
        uint32_t *slot = vec_push(&c->ring_threads);
        if (!slot)
            return false;
        *slot = i;
        mark[i] = IN_RING;
        r->certain &= w->threads.items[i].wait.certain;
        r->count++;
        i = on(w, i);
    } while (i != lowest);
    return true;
}

static bool find_rings(struct waits_chains *c, const struct waits *w, uint8_t *mark) {
    for (uint32_t start = 0; start < w->threads.count; start++) {
        uint32_t i = start;
        for (; i != WAITS_NOBODY && mark[i] == NEW; i = on(w, i))
            mark[i] = ON_PATH;
        if (i != WAITS_NOBODY && mark[i] == ON_PATH && !add_ring(c, w, i, mark))
            return false;
        for (i = start; i != WAITS_NOBODY && mark[i] == ON_PATH; i = on(w, i))
            mark[i] = DONE;
    }
    return true;
}

static int ring_order(const void *a, const void *b) {
    const struct waits_ring *x = a, *y = b;
    uint32_t all_x = x->count + x->behind, all_y = y->count + y->behind;
    if (x->certain != y->certain)
        return x->certain ? -1 : 1;
    if (all_x != all_y)
        return all_x > all_y ? -1 : 1;
    return (x->lowest > y->lowest) - (x->lowest < y->lowest);
}

static int root_order(const void *a, const void *b) {
    const struct waits_root *x = a, *y = b;
    if (x->behind != y->behind)
        return x->behind > y->behind ? -1 : 1;
    return (x->thread > y->thread) - (x->thread < y->thread);
}

static bool find_roots(struct waits_chains *c, const struct waits *w, const uint8_t *mark, uint32_t *queue) {
    for (uint32_t i = 0; i < w->threads.count; i++) {
        if (on(w, i) != WAITS_NOBODY || c->first[i] == c->first[i + 1])
            continue;
        struct waits_root *r = vec_push(&c->roots);
        if (!r)
            return false;
        r->thread = i;
        r->behind = count_behind(c, w, i, mark, queue, r);
    }
    return true;
}

bool waits_chains_find(struct waits_chains *c, const struct waits *w) {
    size_t n = w->threads.count;
    uint8_t *mark = calloc(n + 1, sizeof *mark);
    uint32_t *queue = calloc(n + 1, sizeof *queue);
    bool ok = mark && queue && find_waiters(c, w) && find_rings(c, w, mark) && find_roots(c, w, mark, queue);
    for (size_t k = 0; ok && k < c->rings.count; k++) {
        struct waits_ring *r = &c->rings.items[k];
        for (uint32_t i = 0; i < r->count; i++)
            r->behind += count_behind(c, w, c->ring_threads.items[r->first + i], mark, queue, NULL);
    }
    if (ok && c->rings.count)
        qsort(c->rings.items, c->rings.count, sizeof *c->rings.items, ring_order);
    if (ok && c->roots.count)
        qsort(c->roots.items, c->roots.count, sizeof *c->roots.items, root_order);
    free(mark);
    free(queue);
    return ok;
}
