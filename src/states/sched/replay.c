/* SPDX-License-Identifier: Apache-2.0 */
#include "states/sched/replay.h"

static struct replay_thread *thread_at(struct replay *r, uint32_t index) {
    while (r->threads.count <= index)
        if (!vec_push(&r->threads))
            return NULL;
    return &r->threads.items[index];
}

static bool add(struct replay_thread *t, enum replay_kind kind, uint64_t ns, uint32_t other) {
    struct replay_step *step = vec_push(&t->steps);
    if (step)
        *step = (struct replay_step){.ns = ns, .other = other, .kind = (uint8_t)kind};
    return step;
}

/* Adds what is left of a run up to `until_ns`. */
static bool add_run(struct replay *r, struct replay_thread *t, uint64_t since_ns, uint64_t until_ns) {
    uint64_t from = t->told_ns > since_ns ? t->told_ns : since_ns;
    if (from >= until_ns)
        return true;
    t->told_ns = until_ns;
    r->runs++;
    return add(t, REPLAY_RUN, until_ns - from, STATES_NONE);
}

/* Adds a sleep that ended. It becomes a wait if a recorded thread turns out to have woken the sleeper. */
static bool add_sleep(struct replay *r, const struct states_interval *i) {
    struct replay_thread *t = thread_at(r, i->thread);
    if (!t)
        return false;
    r->sleeps++;
    return add(t, REPLAY_SLEEP, i->until_ns - i->since_ns, STATES_NONE);
}

bool replay_interval(void *ctx, const struct states_interval *i) {
    struct replay *r = ctx;
    if (i->state == STATES_RUNNING) {
        struct replay_thread *t = thread_at(r, i->thread);
        return t && add_run(r, t, i->since_ns, i->until_ns);
    }
    bool slept = states_waits(i->state) || i->state == STATES_UNKNOWN;
    if (!slept || i->cut || i->since_ns == i->until_ns)
        return true;
    /* If a thread woke it, replay_event, which is called next, turns it into a wait. */
    return add_sleep(r, i);
}

bool replay_event(void *ctx, const struct states *s, const struct states_event *e) {
    struct replay *r = ctx;
    if (e->kind != STATES_WAKE || e->interrupt)
        return true;
    uint32_t woken = states_find(s, e->tid, e->other), waker = states_current(s, e->cpu);
    if (woken == STATES_NONE || waker == STATES_NONE || woken == waker || !states_thread(s, waker)->tid)
        return true;
    struct replay_thread *t = thread_at(r, woken);
    struct replay_thread *w = t ? thread_at(r, waker) : NULL;
    if (!w)
        return false;
    t = &r->threads.items[woken]; /* the list may have moved */
    const struct states_thread *now = states_thread(s, woken);
    struct replay_step *last = t->steps.count ? &t->steps.items[t->steps.count - 1] : NULL;
    bool just = now->state == STATES_RUNNABLE && now->since_ns == s->now_ns;
    if (!just || !last || last->kind != REPLAY_SLEEP)
        return true; /* it ran, or had been woken before */
    if (!add_run(r, w, states_thread(s, waker)->since_ns, s->now_ns) || !add(w, REPLAY_WAKE, 0, woken))
        return false;
    last->kind = REPLAY_WAIT;
    r->sleeps--;
    r->waits++;
    r->wakes++;
    return true;
}

void replay_fini(struct replay *r) {
    for (size_t i = 0; i < r->threads.count; i++)
        vec_fini(&r->threads.items[i].steps);
    vec_fini(&r->threads);
}
