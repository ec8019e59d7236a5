/* SPDX-License-Identifier: Apache-2.0 */
#include "base/threads/pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

/* What is being run. */
struct run {
    pool_job_fn *job;
    void *ctx;
    size_t jobs;
    atomic_size_t next;
    atomic_bool failed;
    size_t failed_job; /* with `failed`; guarded by the pool's lock, as the next */
    struct err err;
};

struct helper {
    struct pool *pool;
    unsigned number;
    pthread_t thread;
};

struct pool {
    unsigned threads, started; /* started: helpers */
    bool asked;                /* starting them was tried */
    struct helper helpers[POOL_THREADS_MAX - 1];
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    struct run *run;   /* guarded by lock, as all below */
    unsigned long era; /* of runs: a helper takes part in each once */
    unsigned busy;
    bool ending;
};

/* Takes jobs until there are none. */
static void take_part(struct pool *pool, struct run *r, unsigned thread) {
    for (size_t i; !atomic_load(&r->failed) && (i = atomic_fetch_add(&r->next, 1)) < r->jobs;) {
        struct err err = ERR_INIT;
        if (r->job(r->ctx, i, thread, &err))
            continue;
        pthread_mutex_lock(&pool->lock);
        if (!atomic_load(&r->failed) || i < r->failed_job) {
            r->failed_job = i;
            r->err = err;
        }
        atomic_store(&r->failed, true);
        pthread_mutex_unlock(&pool->lock);
    }
}

static void *help(void *ctx) {
    struct helper *h = ctx;
    struct pool *pool = h->pool;
    unsigned long seen = 0;
    pthread_mutex_lock(&pool->lock);
    while (!pool->ending) {
        if (pool->era == seen || !pool->run) {
            pthread_cond_wait(&pool->work, &pool->lock);
            continue;
        }
        struct run *run = pool->run;
        seen = pool->era;
        pool->busy++;
        pthread_mutex_unlock(&pool->lock);
        take_part(pool, run, h->number);
        pthread_mutex_lock(&pool->lock);
        if (--pool->busy == 0)
            pthread_cond_signal(&pool->done);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

struct pool *pool_new(unsigned threads) {
    struct pool *pool = threads > 1 ? calloc(1, sizeof *pool) : NULL;
    if (!pool)
        return NULL;
    pool->threads = threads < POOL_THREADS_MAX ? threads : POOL_THREADS_MAX;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->done, NULL);
    return pool;
}

/* Signals are the business of the thread that was there first: it may be waiting in poll() for them. */
static void start_helpers(struct pool *pool) {
    sigset_t all, before;
    if (pool->asked)
        return;
    pool->asked = true;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    while (pool->started + 1 < pool->threads) {
        struct helper *h = &pool->helpers[pool->started];
        *h = (struct helper){.pool = pool, .number = pool->started + 1};
        if (pthread_create(&h->thread, NULL, help, h))
            break;
        pool->started++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void pool_free(struct pool *pool) {
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->ending = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->started; i++)
        pthread_join(pool->helpers[i].thread, NULL);
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

unsigned pool_threads(const struct pool *pool) {
    return pool ? pool->threads : 1;
}

static bool run_alone(size_t jobs, pool_job_fn *job, void *ctx, struct err *err) {
    struct err own = ERR_INIT;
    for (size_t i = 0; i < jobs; i++)
        if (!job(ctx, i, 0, &own)) {
            if (err)
                *err = own;
            return false;
        }
    return true;
}

bool pool_run(struct pool *pool, size_t jobs, pool_job_fn *job, void *ctx, struct err *err) {
    if (!pool || jobs < 2)
        return run_alone(jobs, job, ctx, err);
    start_helpers(pool);
    struct run run = {.job = job, .ctx = ctx, .jobs = jobs};
    pthread_mutex_lock(&pool->lock);
    pool->run = &run;
    pool->era++;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    take_part(pool, &run, 0);
    pthread_mutex_lock(&pool->lock);
    pool->run = NULL; /* who wakes up late has missed it */
    while (pool->busy)
        pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
    if (atomic_load(&run.failed) && err)
        *err = run.err;
    return !atomic_load(&run.failed);
}
