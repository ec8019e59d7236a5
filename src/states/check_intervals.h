/* SPDX-License-Identifier: Apache-2.0 */
/* A sink of states that checks, for tests and fuzzing, that every thread's intervals partition its window. */
#ifndef SONDE_STATES_CHECK_INTERVALS_H
#define SONDE_STATES_CHECK_INTERVALS_H

#include "states/states.h"

struct check_thread {
    uint64_t since_ns, until_ns, sum_ns;
    bool any, cut;
};

struct check_intervals {
    VEC(struct check_thread) threads;
    const char *wrong; /* the first thing that was; NULL: nothing */
};

static inline bool check_intervals_add(void *ctx, const struct states_interval *i) {
    struct check_intervals *c = ctx;
    while (c->threads.count <= i->thread)
        if (!vec_push(&c->threads))
            return false;
    struct check_thread *t = &c->threads.items[i->thread];
    if (i->since_ns > i->until_ns)
        c->wrong = "an interval ends before it begins";
    else if (i->state >= STATES_COUNT || i->next >= STATES_COUNT)
        c->wrong = "no such state";
    else if (t->cut)
        c->wrong = "an interval after the thread's last one";
    else if (t->any && t->until_ns != i->since_ns)
        c->wrong = "a gap or an overlap";
    if (!t->any)
        t->since_ns = i->since_ns;
    t->until_ns = i->until_ns;
    t->sum_ns += i->until_ns - i->since_ns;
    t->any = true;
    t->cut = i->cut;
    return true;
}

/* After states_finish: what is wrong, or NULL. */
static inline const char *check_intervals_end(const struct check_intervals *c, const struct states *s) {
    if (c->wrong)
        return c->wrong;
    for (uint32_t i = 0; i < s->threads.count; i++) {
        const struct states_thread *t = states_thread(s, i);
        struct check_thread none = {.since_ns = t->begin_ns, .until_ns = t->begin_ns};
        const struct check_thread *seen =
            i < c->threads.count && c->threads.items[i].any ? &c->threads.items[i] : &none;
        if (!t->over || seen->since_ns != t->begin_ns || seen->until_ns != t->end_ns)
            return "the intervals are not the thread's window";
        if (seen->sum_ns != t->end_ns - t->begin_ns)
            return "the sum is not the window";
    }
    return NULL;
}

#endif
