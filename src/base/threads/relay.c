/* SPDX-License-Identifier: Apache-2.0 */
#include "base/threads/relay.h"

#include <pthread.h>
#include <stdlib.h>

/* The first pieces are small: what is first in a report has most below it. */
enum { PIECE_LEAST = 4, PIECE_MOST = 512, PIECES = 16 };

struct piece {
    struct out text;
    bool finished;
};

struct relay {
    uint32_t n;
    relay_fn *fn;
    void *ctx;
    struct out *to;
    pthread_mutex_t lock;
    pthread_cond_t changed;  /* a piece finished, was written, or all is over */
    uint32_t next;           /* guarded by lock, as all below: the first thing that is in no piece */
    uint64_t taken, written; /* pieces; those between them are pieces[i % PIECES] */
    bool over;               /* no more are taken */
    struct piece pieces[PIECES];
};

/* Makes the next piece, with the lock held but for the making. */
static bool make_piece(struct relay *r, unsigned thread, struct err *err) {
    struct piece *p = &r->pieces[r->taken++ % PIECES];
    uint32_t from = r->next, size = from / 8;
    size = size < PIECE_LEAST ? PIECE_LEAST : size > PIECE_MOST ? PIECE_MOST : size;
    r->next = r->n - from < size ? r->n : from + size;
    uint32_t end = r->next;
    p->finished = false;
    p->text.len = 0;
    pthread_mutex_unlock(&r->lock);
    bool ok = r->fn(r->ctx, from, end, thread, &p->text, err) && (!p->text.failed || err_memory(err, "text"));
    pthread_mutex_lock(&r->lock);
    p->finished = ok;
    r->over = r->over || !ok;
    pthread_cond_broadcast(&r->changed);
    return ok;
}

/* Writes the first piece that is not, with the lock held but for the writing. */
static void write_piece(struct relay *r) {
    struct piece *p = &r->pieces[r->written % PIECES];
    pthread_mutex_unlock(&r->lock);
    out_mem(r->to, p->text.buf, p->text.len);
    bool failed = r->to->failed;
    pthread_mutex_lock(&r->lock);
    r->written++;
    r->over = r->over || failed;
    pthread_cond_broadcast(&r->changed);
}

static bool can_write(const struct relay *r) {
    return r->written < r->taken && r->pieces[r->written % PIECES].finished;
}

static bool can_make(const struct relay *r) {
    return !r->over && r->next < r->n && r->taken - r->written < PIECES;
}

/* A thread's part. The first one, the caller's, stays until everything is written; others may have done all
 * before it comes. */
static bool take_part(void *ctx, size_t job, unsigned thread, struct err *err) {
    struct relay *r = ctx;
    bool ok = true;
    (void)job;
    pthread_mutex_lock(&r->lock);
    while (ok && !r->over && (r->next < r->n || (!thread && r->written < r->taken))) {
        if (!thread && can_write(r))
            write_piece(r);
        else if (can_make(r))
            ok = make_piece(r, thread, err);
        else
            pthread_cond_wait(&r->changed, &r->lock);
    }
    pthread_mutex_unlock(&r->lock);
    return ok;
}

bool relay_run(struct pool *pool, uint32_t n, relay_fn *fn, void *ctx, struct out *to, struct err *err) {
    struct relay *r = calloc(1, sizeof *r);
    bool ok = r != NULL;
    for (size_t i = 0; ok && i < PIECES; i++)
        ok = out_init(&r->pieces[i].text, NULL, NULL);
    if (ok) {
        r->n = n;
        r->fn = fn;
        r->ctx = ctx;
        r->to = to;
        pthread_mutex_init(&r->lock, NULL);
        pthread_cond_init(&r->changed, NULL);
        ok = pool_run(pool, pool_threads(pool), take_part, r, err) && take_part(r, 0, 0, err);
        pthread_cond_destroy(&r->changed);
        pthread_mutex_destroy(&r->lock);
    } else {
        err_memory(err, "text");
    }
    for (size_t i = 0; r && i < PIECES; i++)
        out_fini(&r->pieces[i].text);
    free(r);
    return ok;
}
