/* SPDX-License-Identifier: Apache-2.0 */
#include "states/sched/timehist.h"

#include <math.h>

static struct timehist_thread *thread_at(struct timehist *t, uint32_t index) {
    while (t->threads.count <= index)
        if (!vec_push(&t->threads))
            return NULL;
    return &t->threads.items[index];
}

static struct timehist_thread *idle_at(struct timehist *t, uint32_t index) {
    while (t->idle.count <= index)
        if (!vec_push(&t->idle))
            return NULL;
    return &t->idle.items[index];
}

static void add_run(struct timehist_thread *x, uint64_t ns, bool whole) {
    x->total_ns += ns;
    if (!whole)
        return;
    x->min_ns = !x->count || ns < x->min_ns ? ns : x->min_ns;
    x->max_ns = ns > x->max_ns ? ns : x->max_ns;
    /* Welford's recurrence: stable without keeping the values. */
    double distance = (double)ns - x->mean_ns;
    x->count++;
    x->mean_ns += distance / (double)x->count;
    x->squares += distance * ((double)ns - x->mean_ns);
}

double timehist_deviation(const struct timehist_thread *t) {
    if (t->count < 2 || t->mean_ns <= 0)
        return 0;
    double n = (double)t->count;
    return 100 * sqrt(t->squares / (n - 1) / n) / t->mean_ns;
}

static void ended_running(struct timehist_thread *x, const struct states_interval *i) {
    uint64_t ns = i->until_ns - i->since_ns;
    if (!x->continues) {
        x->wait_ns = x->has_out && !i->begin_unseen ? i->since_ns - x->out_ns : 0;
        x->run_ns = 0;
        x->seen = !i->begin_unseen;
    }
    x->run_ns += ns;
    x->continues = i->next == STATES_RUNNING && !i->cut; /* it began another program */
    x->ready = !x->continues && !i->cut && i->next != STATES_UNKNOWN;
}

bool timehist_interval(void *ctx, const struct states_interval *i) {
    struct timehist *t = ctx;
    struct timehist_thread *x = thread_at(t, i->thread);
    if (!x)
        return false;
    switch (i->state) {
    case STATES_UNKNOWN:
        x->has_out = x->continues = x->ready = false;
        x->wait_ns = x->delay_ns = x->pre_ns = x->run_ns = 0;
        break;
    case STATES_RUNNABLE:
    case STATES_PREEMPTED:
        x->delay_ns = i->next == STATES_RUNNING ? i->until_ns - i->since_ns : 0;
        break;
    case STATES_RUNNING:
        ended_running(x, i);
        break;
    default:
        break;
    }
    return true;
}

/* ---- lines ---- */

static bool chosen_thread(const struct timehist_choice *c, const struct states *s, uint32_t thread) {
    if (!c->pids->list.count && !c->tids->list.count)
        return true;
    if (thread == STATES_NONE)
        return false;
    const struct states_thread *x = states_thread(s, thread);
    return filter_ranges_have(c->tids, x->tid) &&
           (!c->pids->list.count || (x->pid && filter_ranges_have(c->pids, x->pid)));
}

static bool chosen_prio(const struct timehist *t, const struct timehist_line *l) {
    const struct filter_ranges *prios = t->choice.prios;
    if (!prios || !prios->list.count)
        return true;
    int32_t prio = l->prio;
    if (l->kind != TIMEHIST_SWITCH) /* the last known priority of the running thread */
        prio = l->thread < t->threads.count ? t->threads.items[l->thread].prio : -1;
    return prio >= 0 && filter_ranges_have(prios, (uint64_t)prio);
}

static bool chosen(const struct timehist *t, const struct states *s, const struct timehist_line *l) {
    const struct timehist_choice *c = &t->choice;
    return chosen_prio(t, l) && (!c->cpus->list.count || filter_ranges_have(c->cpus, l->cpu)) &&
           time_ranges_contain(c->times, l->time_ns) &&
           (chosen_thread(c, s, l->thread) || (l->kind != TIMEHIST_SWITCH && chosen_thread(c, s, l->other)));
}

static bool give(struct timehist *t, const struct states *s, const struct timehist_line *l) {
    return !t->line || t->line(t->ctx, s, l);
}

static bool flush(struct timehist *t, const struct states *s) {
    bool has = t->has_pending;
    t->has_pending = false;
    return !has || give(t, s, &t->pending);
}

/* Adds the time that ended to its thread and, if it is an idle time, to the thread that left the CPU idle.
 * False: out of memory. */
static bool add_switch(struct timehist *t, uint32_t index, bool idle) {
    struct timehist_thread *x = &t->threads.items[index];
    t->switches++;
    if (!x->ready)
        return true;
    add_run(x, x->run_ns, x->seen);
    if (!t->choice.idle || !idle || !x->before)
        return true;
    struct timehist_thread *sum = idle_at(t, x->before - 1);
    if (sum)
        add_run(sum, x->run_ns, x->seen);
    return sum;
}

static bool left(struct timehist *t, const struct states *s, const struct states_event *e, uint32_t index) {
    struct timehist_thread *x = thread_at(t, index);
    if (!x)
        return false;
    struct timehist_line line = {.kind = TIMEHIST_SWITCH,
                                 .time_ns = s->now_ns,
                                 .cpu = e->cpu,
                                 .thread = index,
                                 .other = STATES_NONE,
                                 .state = states_thread(s, index)->state,
                                 .letter = e->letter,
                                 .prio = e->prio,
                                 .loc = e->loc,
                                 .left_loc = x->before ? x->before_loc : UINT64_MAX};
    x->prio = e->prio;
    if (x->ready) {
        line.wait_ns = x->wait_ns;
        line.delay_ns = x->seen ? x->delay_ns : 0;
        line.pre_ns = x->seen ? x->pre_ns : 0;
        line.run_ns = x->run_ns;
    }
    bool idle = !states_thread(s, index)->tid;
    /* Idle times count only if their beginning was seen. */
    bool counts = !t->choice.idle || (idle && x->ready && x->seen);
    if (counts && chosen(t, s, &line)) {
        if (!add_switch(t, index, idle))
            return false;
        t->pending = line;
        t->has_pending = true;
    }
    x->ready = x->continues = false;
    x->delay_ns = x->pre_ns = 0;
    x->has_out = true;
    x->out_ns = s->now_ns;
    return true;
}

static bool told(struct timehist *t, const struct states *s, const struct states_event *e, uint32_t index) {
    const struct states_thread *woken = states_thread(s, index);
    bool moves = e->kind == STATES_MIGRATE;
    struct timehist_thread *x = moves ? thread_at(t, index) : NULL;
    if (moves && !x)
        return false;
    if (moves && (woken->state == STATES_RUNNABLE || woken->state == STATES_PREEMPTED))
        x->pre_ns = s->now_ns - woken->since_ns;
    if (!moves && woken->state != STATES_RUNNING &&
        (woken->state != STATES_RUNNABLE || woken->since_ns != s->now_ns))
        return true; /* a repeated event for the same wake-up */
    struct timehist_line line = {.kind = moves ? TIMEHIST_MIGRATE : TIMEHIST_WAKE,
                                 .time_ns = s->now_ns,
                                 .cpu = e->cpu,
                                 .thread = states_current(s, e->cpu),
                                 .other = index,
                                 .from_cpu = moves ? e->from : STATES_NONE,
                                 .to_cpu = e->other,
                                 .prio = STATES_NO_PRIO,
                                 .loc = e->loc};
    if (t->choice.idle || !chosen(t, s, &line))
        return true;
    if (x && chosen_thread(&t->choice, s, index))
        x->migrations++;
    return give(t, s, &line);
}

/* An idle thread begins: the thread that has just left made the CPU idle. False: out of memory. */
static bool note_before(struct timehist *t, uint32_t idle, uint32_t cpu) {
    struct timehist_thread *x = t->choice.idle && idle != STATES_NONE ? thread_at(t, idle) : NULL;
    if (x) {
        x->before = t->left_cpu == cpu ? t->left : 0;
        x->before_loc = t->left_loc;
    }
    return x || !t->choice.idle || idle == STATES_NONE;
}

bool timehist_event(void *ctx, const struct states *s, const struct states_event *e) {
    struct timehist *t = ctx;
    uint32_t index = states_find(s, e->tid, e->cpu);
    if (e->kind == STATES_IN && t->has_pending && t->pending.cpu == e->cpu)
        t->pending.other = index;
    if (e->kind == STATES_IN && !e->tid && !note_before(t, index, e->cpu))
        return false;
    t->left = e->kind == STATES_OUT && index != STATES_NONE ? index + 1 : 0;
    t->left_cpu = e->cpu;
    t->left_loc = e->loc;
    if (!flush(t, s))
        return false;
    if (index == STATES_NONE || e->cpu == STATES_NONE)
        return true;
    if (e->kind == STATES_OUT)
        return left(t, s, e, index);
    return (e->kind != STATES_WAKE && e->kind != STATES_MIGRATE) || told(t, s, e, index);
}

bool timehist_finish(struct timehist *t, const struct states *s) {
    return flush(t, s);
}

void timehist_fini(struct timehist *t) {
    vec_fini(&t->threads);
    vec_fini(&t->idle);
}
