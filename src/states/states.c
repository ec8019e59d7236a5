/* SPDX-License-Identifier: Apache-2.0 */
#include "states/states.h"

/* There is an idle thread for each CPU; all have tid 0. */
#define IDLE_KEY (UINT64_C(1) << 32)

void states_init(struct states *s, states_sink_fn *sink, void *ctx) {
    *s = (struct states){.sink = sink, .sink_ctx = ctx};
}

void states_fini(struct states *s) {
    for (size_t i = 0; i < s->cpus.count; i++)
        vec_fini(&s->cpus.items[i].losses);
    vec_fini(&s->threads);
    vec_fini(&s->cpus);
    vec_fini(&s->any_losses);
    hash_map_fini(&s->by_tid);
    hash_map_fini(&s->by_cpu);
    strpool_fini(&s->names);
}

/* ---- intervals ---- */

static bool emit(struct states *s, uint32_t index, uint64_t at, enum states_state next, bool end_unseen,
                 bool cut) {
    const struct states_thread *t = &s->threads.items[index];
    bool empty = at == t->since_ns;
    if (empty && t->state != STATES_RUNNING && t->state != STATES_RUNNABLE && t->state != STATES_PREEMPTED)
        return true;
    const struct states_interval i = {
        .thread = index,
        .epoch = t->epoch,
        .since_ns = t->since_ns,
        .until_ns = at,
        .state = t->state,
        .next = next,
        .cpu = t->cpu,
        .reason = t->reason,
        .waker = t->state == STATES_RUNNABLE ? t->waker : STATES_NONE,
        .begin_unseen = t->begin_unseen,
        .begin_told = t->begin_told,
        .end_unseen = end_unseen,
        .cut = cut,
    };
    return s->sink(s->sink_ctx, &i);
}

/* Ends the open interval at `at`, and begins the next one. */
static bool change(struct states *s, uint32_t index, uint64_t at, enum states_state next, bool end_unseen) {
    if (!emit(s, index, at, next, end_unseen, false))
        return false;
    struct states_thread *t = &s->threads.items[index];
    t->since_ns = at;
    t->state = next;
    t->reason = 0;
    t->waker = STATES_NONE;
    t->begin_unseen = t->begin_told = t->woken = t->woken_now = false;
    return true;
}

/* Makes the open interval unknown: its state cannot have lasted until now. */
static void doubt(struct states *s, uint32_t index) {
    struct states_thread *t = &s->threads.items[index];
    t->state = STATES_UNKNOWN;
    t->reason = 0;
    t->waker = STATES_NONE;
    t->begin_unseen = t->begin_told = t->woken = t->woken_now = false;
}

/* ---- CPUs ---- */

/* The index of a CPU; HASH_ABSENT: it has had no event. */
static inline uint32_t cpu_find(const struct states *s, uint32_t number) {
    if (number < STATES_NEAR_CPUS)
        return s->near_cpus[number] ? s->near_cpus[number] - 1 : HASH_ABSENT;
    return hash_map_get(&s->by_cpu, number);
}

static uint32_t cpu_index(struct states *s, uint32_t number) {
    uint32_t index = cpu_find(s, number);
    if (index != HASH_ABSENT)
        return index;
    index = (uint32_t)s->cpus.count;
    struct states_cpu *c = index < STATES_INTERRUPT ? vec_push(&s->cpus) : NULL;
    if (!c)
        return STATES_NONE;
    c->number = number;
    c->current = STATES_NONE;
    c->any_losses = s->any_losses.count;
    c->last_ns = s->begin_ns;
    if (number < STATES_NEAR_CPUS) {
        s->near_cpus[number] = index + 1;
        return index;
    }
    if (hash_map_set(&s->by_cpu, number, index))
        return index;
    s->cpus.count--;
    return STATES_NONE;
}

/* Notes an event of the CPU. What runs there is known only from its first switch on, as recorders start their
 * events one by one. Losses that may be of any CPU are applied at a CPU's next event. */
static void hear(struct states *s, struct states_cpu *c, bool switches) {
    if (c->any_losses < s->any_losses.count) {
        c->any_losses = s->any_losses.count;
        c->current = STATES_NONE;
        c->heard = false;
    }
    if (!c->heard)
        c->heard_ns = s->now_ns;
    c->heard |= switches;
    c->last_ns = s->now_ns;
}

/* Notes that it is no longer known what runs on the thread's CPU. */
static void forget_current(struct states *s, uint32_t thread) {
    uint32_t cpu = s->threads.items[thread].cpu;
    struct states_cpu *c = cpu == STATES_NONE ? NULL : &s->cpus.items[cpu_find(s, cpu)];
    if (c && c->current == thread) {
        c->current = STATES_NONE;
        c->heard_ns = s->now_ns;
    }
}

/* ---- threads ---- */

/* Moves the thread to a CPU. Losses there up to now do not concern the thread. False: out of memory. */
static bool place(struct states *s, uint32_t index, uint32_t cpu) {
    struct states_thread *t = &s->threads.items[index];
    uint32_t c = cpu == STATES_NONE ? STATES_NONE : cpu_index(s, cpu);
    if (cpu != STATES_NONE && c == STATES_NONE)
        return false;
    t->cpu = cpu;
    t->cpu_losses = c == STATES_NONE ? 0 : s->cpus.items[c].losses.count;
    t->any_losses = s->any_losses.count;
    return true;
}

/* Applies losses since the thread was last seen: what it did from the first of them on is not known. */
static bool settle(struct states *s, uint32_t index) {
    struct states_thread *t = &s->threads.items[index];
    uint64_t from = UINT64_MAX;
    if (t->any_losses < s->any_losses.count)
        from = s->any_losses.items[t->any_losses];
    if (t->cpu != STATES_NONE) {
        const struct states_cpu *c = &s->cpus.items[cpu_find(s, t->cpu)];
        if (t->cpu_losses < c->losses.count && c->losses.items[t->cpu_losses] < from)
            from = c->losses.items[t->cpu_losses];
        t->cpu_losses = c->losses.count;
    }
    t->any_losses = s->any_losses.count;
    if (from == UINT64_MAX || t->state == STATES_UNKNOWN || t->state == STATES_DEAD)
        return true;
    forget_current(s, index);
    return change(s, index, from > t->since_ns ? from : t->since_ns, STATES_UNKNOWN, false);
}

static uint64_t tid_key(uint32_t tid, uint32_t cpu) {
    return tid ? tid : IDLE_KEY | cpu;
}

static uint32_t thread_add(struct states *s, uint64_t key, uint64_t begin_ns, enum states_state state) {
    uint32_t index = (uint32_t)s->threads.count;
    struct states_thread *t = index < STATES_INTERRUPT ? vec_push(&s->threads) : NULL;
    if (!t)
        return STATES_NONE;
    t->tid = key & IDLE_KEY ? 0 : (uint32_t)key;
    t->name = STRPOOL_NONE;
    t->begin_ns = t->since_ns = begin_ns;
    t->state = state;
    t->cpu = t->waker = t->parent = STATES_NONE;
    t->any_losses = s->any_losses.count;
    if (hash_map_set(&s->by_tid, key, index))
        return index;
    s->threads.count--;
    return STATES_NONE;
}

/* Ends a thread: its tid belongs to another one from now on. */
static bool retire(struct states *s, uint32_t index) {
    if (s->threads.items[index].state != STATES_DEAD) {
        s->faults.reused++;
        forget_current(s, index);
        doubt(s, index);
    }
    s->threads.items[index].end_ns = s->now_ns;
    s->threads.items[index].over = true;
    return emit(s, index, s->now_ns, s->threads.items[index].state, false, true);
}

/* The thread that has this tid now, with losses applied; STATES_NONE: out of memory. */
static uint32_t thread_of(struct states *s, uint32_t tid, uint32_t cpu) {
    uint64_t key = tid_key(tid, cpu);
    uint32_t index = hash_map_get(&s->by_tid, key);
    if (index == HASH_ABSENT)
        return thread_add(s, key, s->begin_ns, STATES_UNKNOWN);
    if (!settle(s, index))
        return STATES_NONE;
    if (s->threads.items[index].state != STATES_DEAD)
        return index;
    /* A new thread, whose fork was not seen. */
    s->faults.reused++;
    return retire(s, index) ? thread_add(s, key, s->now_ns, STATES_UNKNOWN) : STATES_NONE;
}

static bool name(struct states *s, uint32_t index, struct bytes comm) {
    if (!comm.size)
        return true;
    size_t len = bytes_text_len(comm);
    uint32_t had = s->threads.items[index].name;
    /* The usual case: the name is the same as before. */
    const char *now = had == STRPOOL_NONE ? NULL : strpool_text(&s->names, had);
    if (now && strncmp(now, (const char *)comm.data, len) == 0 && !now[len])
        return true;
    uint32_t id = strpool_add(&s->names, (const char *)comm.data, len);
    s->threads.items[index].name = id;
    return id != STRPOOL_NONE;
}

/* ---- events ---- */

/* Makes sure that the open interval of a thread that leaves a CPU is one of running there. */
static bool was_running(struct states *s, uint32_t index, struct states_cpu *c) {
    struct states_thread *t = &s->threads.items[index];
    bool same_cpu = t->cpu == c->number,
         known = c->current != STATES_NONE && s->threads.items[c->current].tid;
    c->pairs += known;
    c->broken += known && c->current != index;
    if (t->state == STATES_RUNNING && same_cpu && c->current == index)
        return true;
    if (c->current != STATES_NONE || t->state == STATES_RUNNING || t->since_ns > c->heard_ns) {
        /* An event is missing, at an unknown time. */
        s->faults.half_pairs++;
        if (c->current != STATES_NONE)
            doubt(s, c->current);
        if (t->state == STATES_RUNNING)
            forget_current(s, index);
        c->current = STATES_NONE;
        doubt(s, index);
        return true;
    }
    /* No other thread began to run on this CPU since its events are complete. */
    if (t->state != STATES_UNKNOWN)
        doubt(s, index);
    if (!change(s, index, c->heard_ns, STATES_RUNNING, false) || !place(s, index, c->number))
        return false;
    s->threads.items[index].begin_unseen = true;
    return true;
}

static bool apply_out(struct states *s, const struct states_event *e, uint32_t cpu) {
    uint32_t index = thread_of(s, e->tid, e->cpu);
    if (index == STATES_NONE || !name(s, index, e->comm))
        return false;
    s->faults.switches++;
    if (e->pid)
        s->threads.items[index].pid = e->pid;
    if (!was_running(s, index, &s->cpus.items[cpu]))
        return false;
    s->cpus.items[cpu].current = STATES_NONE;
    s->cpus.items[cpu].heard_ns = s->now_ns;
    struct states_thread *t = &s->threads.items[index];
    bool woken = t->woken_now;
    uint32_t waker = t->waker;
    /* A thread that is about to end may still be preempted, or wait. */
    enum states_state next = t->exiting && !e->letter ? STATES_DEAD : e->state;
    if (!change(s, index, s->now_ns, next, false))
        return false;
    t = &s->threads.items[index];
    t->reason = e->reason;
    t->woken = woken && states_waits(next);
    t->waker = t->woken ? waker : STATES_NONE;
    return place(s, index, e->cpu);
}

/* Takes note of how a thread that begins to run was woken. True: that was not seen. */
static bool wake_unseen(struct states *s, struct states_thread *t) {
    if (!states_waits(t->state))
        return false;
    if (!t->woken) {
        s->faults.unwoken++;
        return true;
    }
    t->state = STATES_RUNNABLE; /* it was woken on its way out */
    t->reason = 0;
    return false;
}

static bool apply_in(struct states *s, const struct states_event *e, uint32_t cpu) {
    uint32_t index = thread_of(s, e->tid, e->cpu);
    if (index == STATES_NONE || !name(s, index, e->comm))
        return false;
    struct states_cpu *c = &s->cpus.items[cpu];
    struct states_thread *t = &s->threads.items[index];
    bool unseen = false;
    if (c->current != STATES_NONE || t->state == STATES_RUNNING)
        s->faults.half_pairs++;
    if (c->current != STATES_NONE && c->current != index)
        doubt(s, c->current);
    if (t->state == STATES_RUNNING) {
        forget_current(s, index);
        doubt(s, index);
    } else {
        unseen = wake_unseen(s, t);
    }
    if (!change(s, index, s->now_ns, STATES_RUNNING, unseen) || !place(s, index, e->cpu))
        return false;
    s->cpus.items[cpu].current = index;
    return true;
}

static uint32_t waker_of(const struct states *s, const struct states_event *e, uint32_t cpu) {
    return e->interrupt ? STATES_INTERRUPT : cpu == STATES_NONE ? STATES_NONE : s->cpus.items[cpu].current;
}

static bool apply_wake(struct states *s, const struct states_event *e, uint32_t cpu) {
    uint32_t index = thread_of(s, e->tid, e->other);
    if (index == STATES_NONE || !name(s, index, e->comm))
        return false;
    struct states_thread *t = &s->threads.items[index];
    if (t->state == STATES_RUNNING) {
        t->woken_now = true;
        t->waker = waker_of(s, e, cpu);
        return true;
    }
    if (t->state == STATES_RUNNABLE || t->state == STATES_PREEMPTED)
        return true; /* sched_wakeup follows sched_waking for the same wake-up */
    if (!change(s, index, s->now_ns, STATES_RUNNABLE, false))
        return false;
    s->threads.items[index].waker = waker_of(s, e, cpu);
    return place(s, index, e->other == STATES_NONE ? s->threads.items[index].cpu : e->other);
}

static bool apply_fork(struct states *s, const struct states_event *e) {
    if (!e->tid)
        return true; /* nobody forks an idle thread */
    uint32_t old = hash_map_get(&s->by_tid, e->tid);
    if (old != HASH_ABSENT && (!settle(s, old) || !retire(s, old)))
        return false;
    uint32_t index = thread_add(s, e->tid, s->now_ns, STATES_NEW);
    if (index == STATES_NONE)
        return false;
    s->threads.items[index].parent = e->other;
    return name(s, index, e->comm);
}

/* A thread that called execve, until now the thread `old`, goes on as the thread `index`. */
static bool take_over(struct states *s, uint32_t index, uint32_t old, const struct states_event *e,
                      uint32_t cpu) {
    bool ran = s->threads.items[old].state == STATES_RUNNING && s->cpus.items[cpu].current == old;
    forget_current(s, old);
    if (!change(s, old, s->now_ns, STATES_DEAD, false))
        return false;
    if (s->threads.items[index].state == STATES_RUNNING) {
        s->faults.half_pairs++;
        forget_current(s, index);
        doubt(s, index);
    }
    if (!change(s, index, s->now_ns, ran ? STATES_RUNNING : STATES_UNKNOWN, false) ||
        !place(s, index, e->cpu))
        return false;
    if (ran)
        s->cpus.items[cpu].current = index;
    return true;
}

static bool apply_exec(struct states *s, const struct states_event *e, uint32_t cpu) {
    uint32_t index = thread_of(s, e->tid, e->cpu);
    if (index == STATES_NONE)
        return false;
    if (e->other != e->tid && e->other != STATES_NONE && e->tid && e->other) {
        uint32_t old = thread_of(s, e->other, e->cpu);
        if (old == STATES_NONE || !take_over(s, index, old, e, cpu))
            return false;
    } else if (s->threads.items[index].state == STATES_RUNNING &&
               !change(s, index, s->now_ns, STATES_RUNNING, false)) {
        return false;
    }
    s->threads.items[index].exiting = false;
    s->threads.items[index].epoch++;
    return true;
}

static bool apply_other(struct states *s, const struct states_event *e) {
    uint32_t index = thread_of(s, e->tid, e->cpu);
    if (index == STATES_NONE || !name(s, index, e->comm))
        return false;
    if (e->kind == STATES_EXIT)
        s->threads.items[index].exiting = true;
    else if (s->threads.items[index].state != STATES_RUNNING)
        return place(s, index, e->other);
    return true;
}

/* Whether a thread that was not seen to begin must have begun to run `ran_ns` ago, and nothing that was seen
 * of it and of the CPU happened since. */
static bool began_unseen(const struct states *s, const struct states_event *e, uint32_t index, uint32_t cpu) {
    const struct states_thread *t = &s->threads.items[index];
    const struct states_cpu *c = &s->cpus.items[cpu];
    uint64_t seen_ns = c->current == STATES_NONE ? c->heard_ns : s->threads.items[c->current].since_ns;
    if (t->since_ns > seen_ns)
        seen_ns = t->since_ns;
    return t->state != STATES_RUNNING && t->state != STATES_DEAD && c->heard && e->time_ns == s->now_ns &&
           e->ran_ns && e->ran_ns <= s->now_ns - seen_ns;
}

static bool begin_told(struct states *s, const struct states_event *e, uint32_t cpu) {
    uint32_t index = thread_of(s, e->tid, e->cpu);
    if (index == STATES_NONE || !began_unseen(s, e, index, cpu))
        return index != STATES_NONE;
    uint64_t begin_ns = s->now_ns - e->ran_ns;
    uint32_t before = s->cpus.items[cpu].current;
    if (before != STATES_NONE && s->threads.items[before].tid)
        doubt(s, before); /* it left, at the latest then */
    else if (before != STATES_NONE && !change(s, before, begin_ns, STATES_PREEMPTED, false))
        return false;
    bool unseen = wake_unseen(s, &s->threads.items[index]);
    if (!change(s, index, begin_ns, STATES_RUNNING, unseen) || !place(s, index, e->cpu))
        return false;
    s->threads.items[index].begin_told = true;
    s->cpus.items[cpu].current = index;
    s->faults.told++;
    return true;
}

static bool apply_ran(struct states *s, const struct states_event *e, uint32_t cpu) {
    uint32_t index = hash_map_get(&s->by_tid, tid_key(e->tid, e->cpu));
    if (index == HASH_ABSENT)
        index = thread_add(s, tid_key(e->tid, e->cpu), s->begin_ns, STATES_UNKNOWN);
    if (index == STATES_NONE || !name(s, index, e->comm))
        return false;
    struct states_thread *t = &s->threads.items[index];
    uint64_t most = s->now_ns - t->begin_ns - t->ran_ns; /* the first may have begun before the events did */
    t->ran_ns += e->ran_ns < most ? e->ran_ns : most;
    s->tells_ran = true;
    return !e->local || !e->tid || cpu == STATES_NONE || begin_told(s, e, cpu);
}

static bool apply_lost(struct states *s, uint32_t cpu, uint64_t before_ns) {
    s->faults.losses++;
    struct states_cpu *c = cpu == STATES_NONE ? NULL : &s->cpus.items[cpu];
    uint64_t *at = c ? vec_push(&c->losses) : vec_push(&s->any_losses);
    if (!at)
        return false;
    *at = c ? c->last_ns : before_ns;
    if (!c)
        return true;
    c->current = STATES_NONE;
    c->heard_ns = c->last_ns = s->now_ns;
    c->heard = true;
    return true;
}

static bool apply(struct states *s, const struct states_event *e) {
    if (!s->begun)
        s->begin_ns = s->now_ns = e->time_ns;
    s->begun = true;
    uint64_t before_ns = s->now_ns;
    if (e->time_ns < s->now_ns)
        s->faults.backwards++;
    else
        s->now_ns = e->time_ns;
    uint32_t cpu = e->cpu == STATES_NONE ? STATES_NONE : cpu_index(s, e->cpu);
    if (e->cpu != STATES_NONE && cpu == STATES_NONE)
        return false;
    if (e->kind == STATES_LOST)
        return apply_lost(s, cpu, before_ns);
    if (cpu != STATES_NONE)
        hear(s, &s->cpus.items[cpu], e->kind == STATES_OUT || e->kind == STATES_IN);
    switch (e->kind) {
    case STATES_OUT:
        return cpu == STATES_NONE || apply_out(s, e, cpu);
    case STATES_IN:
        return cpu == STATES_NONE || apply_in(s, e, cpu);
    case STATES_WAKE:
        return apply_wake(s, e, cpu);
    case STATES_FORK:
        return apply_fork(s, e);
    case STATES_EXEC:
        return cpu == STATES_NONE || apply_exec(s, e, cpu);
    case STATES_EXIT:
    case STATES_MIGRATE:
        return apply_other(s, e);
    case STATES_RAN:
        return apply_ran(s, e, cpu);
    case STATES_TICK:
    case STATES_LOST:
        break;
    }
    return true;
}

bool states_apply(struct states *s, const struct states_event *e) {
    return apply(s, e) && (!s->tap || s->tap(s->sink_ctx, s, e));
}

uint32_t states_find(const struct states *s, uint32_t tid, uint32_t cpu) {
    uint32_t index = hash_map_get(&s->by_tid, tid_key(tid, cpu));
    return index == HASH_ABSENT ? STATES_NONE : index;
}

uint32_t states_current(const struct states *s, uint32_t cpu) {
    uint32_t index = cpu == STATES_NONE ? HASH_ABSENT : cpu_find(s, cpu);
    return index == HASH_ABSENT ? STATES_NONE : s->cpus.items[index].current;
}

bool states_finish(struct states *s) {
    for (size_t i = 0; i < s->cpus.count; i++) {
        const struct states_cpu *c = &s->cpus.items[i];
        if (c->current != STATES_NONE && c->broken > c->pairs / 2)
            doubt(s, c->current);
    }
    for (uint32_t i = 0; i < s->threads.count; i++) {
        if (s->threads.items[i].over)
            continue; /* another thread has its tid now */
        if (!settle(s, i))
            return false;
        s->threads.items[i].end_ns = s->now_ns;
        s->threads.items[i].over = true;
        if (!emit(s, i, s->now_ns, s->threads.items[i].state, false, true))
            return false;
    }
    return true;
}
