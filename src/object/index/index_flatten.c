/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes disjoint pieces of spans that lie in each other:
 *
 *   f  |-----------------------|         pieces   f  g  h  g  f
 *   g     |---------------|                       |  |  |  |  |
 *   h        |----|
 *
 * Instances are numbered in the order of the file, what is inlined after what it is inlined into. So the
 * innermost at an address is found by going through those that cover it in that order, each time to the first
 * one whose parent is the last one found.
 */
#include "object/index/index_build.h"

enum { ACTIVE_MAX = 1024 }; /* spans over one address; compilers stay far below */

static int by_start(const void *a, const void *b) {
    const struct index_span *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->instance > y->instance) - (x->instance < y->instance);
}

struct sweep {
    struct index_build *b;
    const struct index_span *functions, *inlined; /* what is still to begin */
    size_t functions_left, inlined_left;
    struct index_span active[ACTIVE_MAX]; /* in order of instances */
    size_t count;
};

/* Of two functions at an address the one that begins last counts, up to its own end. */
static uint64_t function_end(const struct sweep *s) {
    const struct index_span *f = s->functions;
    return s->functions_left > 1 && f[1].start < f->end ? f[1].start : f->end;
}

static void add(struct sweep *s, const struct index_span *span, uint64_t end) {
    if (s->count == ACTIVE_MAX || end <= span->start)
        return;
    size_t i = s->count++;
    for (; i && s->active[i - 1].instance > span->instance; i--)
        s->active[i] = s->active[i - 1];
    s->active[i] = (struct index_span){span->start, end, span->instance};
}

static uint64_t next_change(const struct sweep *s) {
    uint64_t at = UINT64_MAX;
    if (s->functions_left && s->functions->start < at)
        at = s->functions->start;
    if (s->inlined_left && s->inlined->start < at)
        at = s->inlined->start;
    for (size_t i = 0; i < s->count; i++)
        at = s->active[i].end < at ? s->active[i].end : at;
    return at;
}

static void change(struct sweep *s, uint64_t at) {
    size_t kept = 0;
    for (size_t i = 0; i < s->count; i++)
        if (s->active[i].end > at)
            s->active[kept++] = s->active[i];
    s->count = kept;
    for (; s->functions_left && s->functions->start <= at; s->functions++, s->functions_left--)
        add(s, s->functions, function_end(s));
    for (; s->inlined_left && s->inlined->start <= at; s->inlined++, s->inlined_left--)
        add(s, s->inlined, s->inlined->end);
}

static uint32_t innermost(const struct sweep *s) {
    uint32_t at = INDEX_NONE;
    for (size_t i = 0; i < s->count; i++)
        if (s->b->instances.items[s->active[i].instance].parent == at)
            at = s->active[i].instance;
    return at;
}

static bool emit(struct index_build *b, uint64_t at, uint32_t instance) {
    size_t n = b->flat.count;
    if (n ? b->flat.items[n - 1].instance == instance : instance == INDEX_NONE)
        return true;
    struct index_flat *f = vec_push(&b->flat);
    if (f)
        *f = (struct index_flat){at, instance};
    return f;
}

void index_flatten(struct index_build *b) {
    struct sweep *s = malloc(sizeof *s);
    b->failed = b->failed || !s;
    if (!b->failed) {
        if (b->functions.count)
            qsort(b->functions.items, b->functions.count, sizeof *b->functions.items, by_start);
        if (b->inlined.count)
            qsort(b->inlined.items, b->inlined.count, sizeof *b->inlined.items, by_start);
        s->b = b;
        s->functions = b->functions.items;
        s->functions_left = b->functions.count;
        s->inlined = b->inlined.items;
        s->inlined_left = b->inlined.count;
        s->count = 0;
    }
    while (!b->failed && (s->functions_left || s->inlined_left || s->count)) {
        uint64_t at = next_change(s);
        change(s, at);
        b->failed = !emit(b, at, innermost(s));
    }
    free(s);
}
