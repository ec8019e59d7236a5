/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/sched/replay_run.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STACK_BYTES = 64 << 10, LOOPS = 200 };

struct round;

struct actor {
    pthread_t thread;
    const struct replay_thread *steps;
    struct round *round;
    sem_t woken;
    uint64_t cpu_ns;
};

struct round {
    struct actor *actors; /* by index in the replay; those without steps have no thread */
    size_t count;
    pthread_mutex_t lock;
    pthread_cond_t begin;
    bool begun, give_up;
};

static uint64_t clock_ns(clockid_t clock) {
    struct timespec t = {0};
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

uint64_t replay_now_ns(void) {
    return clock_ns(CLOCK_MONOTONIC);
}

void replay_burn(uint64_t ns) {
    uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    while (clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin < ns)
        for (volatile unsigned i = 0; i < LOOPS; i++)
            ;
}

static void rest(uint64_t ns) {
    struct timespec t = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
    while (nanosleep(&t, &t) != 0 && errno == EINTR)
        ;
}

static void do_step(struct actor *a, const struct replay_step *s) {
    switch ((enum replay_kind)s->kind) {
    case REPLAY_RUN:
        replay_burn(s->ns);
        break;
    case REPLAY_SLEEP:
        rest(s->ns);
        break;
    case REPLAY_WAIT:
        while (sem_wait(&a->woken) != 0 && errno == EINTR)
            ;
        break;
    case REPLAY_WAKE:
        sem_post(&a->round->actors[s->other].woken);
        break;
    }
}

static void *act(void *ctx) {
    struct actor *a = ctx;
    struct round *r = a->round;
    pthread_mutex_lock(&r->lock);
    while (!r->begun)
        pthread_cond_wait(&r->begin, &r->lock);
    bool give_up = r->give_up;
    pthread_mutex_unlock(&r->lock);
    uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    for (size_t i = 0; i < a->steps->steps.count && !give_up; i++)
        do_step(a, &a->steps->steps.items[i]);
    a->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
    return NULL;
}

/* Makes the threads, which wait. Returns how many of the actors have been looked at. */
static size_t make_threads(struct round *r, struct err *err) {
    pthread_attr_t attr;
    size_t i = 0;
    int errnum = pthread_attr_init(&attr);
    if (!errnum)
        errnum = pthread_attr_setstacksize(&attr, STACK_BYTES);
    for (; i < r->count && !errnum; i += !errnum)
        if (r->actors[i].steps->steps.count)
            errnum = pthread_create(&r->actors[i].thread, &attr, act, &r->actors[i]);
    pthread_attr_destroy(&attr);
    if (errnum)
        err_set(err, ERR_IO, "threads", "%s: the recording has more than this machine lets us make",
                strerror(errnum));
    return i;
}

static void let_begin(struct round *r, bool give_up) {
    pthread_mutex_lock(&r->lock);
    r->begun = true;
    r->give_up = give_up;
    pthread_cond_broadcast(&r->begin);
    pthread_mutex_unlock(&r->lock);
}

bool replay_round_run(const struct replay *p, struct replay_round *out, struct err *err) {
    struct round r = {.count = p->threads.count,
                      .actors = calloc(p->threads.count ? p->threads.count : 1, sizeof *r.actors),
                      .lock = PTHREAD_MUTEX_INITIALIZER,
                      .begin = PTHREAD_COND_INITIALIZER};
    if (!r.actors)
        return err_memory(err, "threads");
    for (size_t i = 0; i < r.count; i++) {
        r.actors[i] = (struct actor){.steps = &p->threads.items[i], .round = &r};
        sem_init(&r.actors[i].woken, 0, 0);
    }
    size_t made = make_threads(&r, err);
    bool ok = made == r.count;
    uint64_t begin = replay_now_ns();
    let_begin(&r, !ok);
    *out = (struct replay_round){.wall_ns = 0};
    for (size_t i = 0; i < made; i++)
        if (r.actors[i].steps->steps.count) {
            pthread_join(r.actors[i].thread, NULL);
            out->cpu_ns += r.actors[i].cpu_ns;
        }
    out->wall_ns = replay_now_ns() - begin;
    for (size_t i = 0; i < r.count; i++)
        sem_destroy(&r.actors[i].woken);
    free(r.actors);
    return ok;
}
