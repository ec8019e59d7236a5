/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/first_pass.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/hot.h"
#include "os/heap.h"

struct decoded {
    struct perfdata_record rec;
    struct model_when when;
};

/* Few batches, so that they stay in the cache; long ones, as waking a thread takes as long as some hundred
 * records. Not longer in the recording than what stays in memory behind the reader (stream_forget_behind). */
enum { BATCH = 512, BATCHES = 4, BATCH_BYTES = 256 << 10 };

struct batch {
    size_t count;
    struct decoded records[BATCH];
};

struct first_pass {
    struct reading *r;
    struct model *m;
    struct reading_span times;
    reading_seen_fn *seen;
    void *ctx;
    enum stream_status status;
    uint64_t expected,
        chosen; /* locs: up to where pages were asked for, and where their size was chosen last */
    /* Of the two threads. */
    atomic_bool offered; /* there is a reader, which waits */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool given, ended,
        stopped; /* guarded by lock, as the next: the reader may read; it is done; it is to end */
    bool reader_waits, keeper_waits;
    size_t filled, taken; /* batches so far */
    struct batch *batches;
};

/* ---- reading ---- */

/* The next record that needs a look; some samples among them. */
static enum stream_status next_record(struct first_pass *x, struct stream_record *rec, struct err *err) {
    struct reading *r = x->r;
    struct stream_passed passed = {x->times.first_ns, x->times.last_ns};
    resolve_returns_pass(&r->recorded.returns,
                         stream_pass_samples(r->stream, resolve_returns_left(&r->recorded.returns), &passed));
    x->times = (struct reading_span){passed.first_ns, passed.last_ns};
    return stream_next(r->stream, rec, err);
}

static void note_sample(struct first_pass *x, const struct stream_record *rec) {
    if (rec->has_time) {
        x->times.first_ns = rec->time_ns < x->times.first_ns ? rec->time_ns : x->times.first_ns;
        x->times.last_ns = rec->time_ns > x->times.last_ns ? rec->time_ns : x->times.last_ns;
    }
    resolve_returns_note(&x->r->recorded.returns, rec->loc);
}

/* The next one that is no sample. */
static enum stream_status next_other(struct first_pass *x, struct stream_record *rec, struct err *err) {
    enum stream_status status;
    while ((status = next_record(x, rec, err)) == STREAM_RECORD && rec->raw.type == PERFDATA_RECORD_SAMPLE)
        note_sample(x, rec);
    return status;
}

/* ---- keeping ---- */

/* The heap grows with the records. */
static void choose_pages(struct first_pass *x, uint64_t loc) {
    enum { STEP = 16 << 20 };
    if (loc <= x->chosen || loc - x->chosen < STEP)
        return;
    os_heap_choose_pages();
    x->chosen = loc;
}

/* ---- alone ---- */

/* Reads and keeps, up to the end or until there is a reader. False with *err. */
static bool read_and_keep(struct first_pass *x, struct err *err) {
    struct stream_record rec;
    while (!atomic_load_explicit(&x->offered, memory_order_relaxed) &&
           (x->status = next_other(x, &rec, err)) == STREAM_RECORD) {
        choose_pages(x, rec.loc);
        if (rec.legacy)
            continue;
        if ((x->seen && !x->seen(x->ctx, &rec, err)) || !reading_apply(x->r, x->m, &rec, err))
            return false;
    }
    return x->status != STREAM_FAILED;
}

/* ---- by two threads ---- */

static void wait_for(struct first_pass *x, bool *waits) {
    *waits = true;
    pthread_cond_wait(&x->changed, &x->lock);
    *waits = false;
}

static void wake(struct first_pass *x, bool waits) {
    if (waits)
        pthread_cond_broadcast(&x->changed);
}

/* Has the pages in front of the reader brought into memory, many at once. */
static void expect(struct first_pass *x, uint64_t loc) {
    enum { STEP = 4 << 20 };
    if (loc < x->expected)
        return;
    stream_expect(x->r->stream, loc, loc + STEP);
    x->expected = loc + STEP;
}

/* Fills a batch. What is bad is counted, and left out. False with *err. */
static bool fill(struct first_pass *x, struct batch *b, struct err *err) {
    struct stream_record rec;
    uint64_t end = UINT64_MAX;
    b->count = 0;
    while (b->count < BATCH && (x->status = next_other(x, &rec, err)) == STREAM_RECORD) {
        struct decoded *d = &b->records[b->count];
        expect(x, rec.loc);
        if (rec.legacy)
            continue;
        if (x->seen && !x->seen(x->ctx, &rec, err))
            return false;
        if (!reading_decode(x->r, &rec, &d->rec))
            continue;
        d->when = reading_when(x->r, &rec);
        end = b->count++ ? end : rec.loc + BATCH_BYTES;
        if (rec.loc >= end)
            break;
    }
    return x->status != STREAM_FAILED;
}

/* Waits for its turn and then for room. False: there is nothing more to read. */
static bool may_fill(struct first_pass *x) {
    pthread_mutex_lock(&x->lock);
    while (!x->ended && !x->stopped && (!x->given || x->filled - x->taken == BATCHES))
        wait_for(x, &x->reader_waits);
    bool may = !x->ended && !x->stopped;
    pthread_mutex_unlock(&x->lock);
    return may;
}

static bool read_batches(struct first_pass *x, struct err *err) {
    bool ok = true;
    atomic_store_explicit(&x->offered, true, memory_order_relaxed);
    while (ok && may_fill(x)) {
        ok = fill(x, &x->batches[x->filled % BATCHES], err);
        pthread_mutex_lock(&x->lock);
        x->filled++;
        x->ended = !ok || x->status != STREAM_RECORD;
        wake(x, x->keeper_waits);
        pthread_mutex_unlock(&x->lock);
    }
    return ok;
}

static bool keep_batch(struct first_pass *x, const struct batch *b, struct err *err) {
    for (size_t i = 0; i < b->count; i++) {
        const struct decoded *d = &b->records[i];
        choose_pages(x, d->when.order);
        if (!reading_keep(x->r, x->m, &d->rec, d->when, err))
            return false;
    }
    return true;
}

/* The next batch; NULL: there is none. */
static const struct batch *next_batch(struct first_pass *x) {
    pthread_mutex_lock(&x->lock);
    while (x->filled == x->taken && !x->ended)
        wait_for(x, &x->keeper_waits);
    const struct batch *b = x->filled == x->taken ? NULL : &x->batches[x->taken % BATCHES];
    pthread_mutex_unlock(&x->lock);
    return b;
}

static bool keep_batches(struct first_pass *x, struct err *err) {
    bool ok = true;
    for (const struct batch *b; ok && (b = next_batch(x));) {
        ok = keep_batch(x, b, err);
        pthread_mutex_lock(&x->lock);
        x->taken++;
        x->stopped = !ok;
        wake(x, x->reader_waits);
        pthread_mutex_unlock(&x->lock);
    }
    return ok;
}

enum { KEEPER, READER, ROLES };

/* What a keeper without a reader did is all; whoever comes later has nothing to read. */
static bool end_alone(struct first_pass *x, bool ok) {
    pthread_mutex_lock(&x->lock);
    x->ended = true;
    wake(x, x->reader_waits);
    pthread_mutex_unlock(&x->lock);
    return ok;
}

static bool keep(struct first_pass *x, struct err *err) {
    bool ok = read_and_keep(x, err);
    if (!ok || x->status != STREAM_RECORD)
        return end_alone(x, ok);
    pthread_mutex_lock(&x->lock);
    x->given = true;
    wake(x, x->reader_waits);
    pthread_mutex_unlock(&x->lock);
    return keep_batches(x, err);
}

HOT static bool play_role(void *ctx, size_t job, unsigned thread, struct err *err) {
    struct first_pass *x = ctx;
    (void)thread;
    return job == KEEPER ? keep(x, err) : read_batches(x, err);
}

static bool run_by_two(struct first_pass *x, struct err *err) {
    x->batches = malloc(BATCHES * sizeof *x->batches);
    bool ok = x->batches ? pool_run(x->r->pool, ROLES, play_role, x, err) : err_memory(err, "recording");
    free(x->batches);
    return ok;
}

HOT static bool run_alone(struct first_pass *x, struct err *err) {
    return read_and_keep(x, err);
}

bool first_pass_run(struct reading *r, struct model *m, struct reading_span *span, reading_seen_fn *seen,
                    void *ctx, struct err *err) {
    struct first_pass x = {.r = r,
                           .m = m,
                           .times = {UINT64_MAX, 0},
                           .seen = seen,
                           .ctx = ctx,
                           .status = STREAM_RECORD,
                           .lock = PTHREAD_MUTEX_INITIALIZER,
                           .changed = PTHREAD_COND_INITIALIZER};
    bool two = r->pool && !stream_is_pipe(r->stream);
    if (!(two ? run_by_two(&x, err) : run_alone(&x, err)))
        return false;
    if (span)
        *span = x.times;
    if (x.times.first_ns <= x.times.last_ns)
        r->recorded.span = (struct symbol_span){x.times.first_ns, x.times.last_ns};
    return true;
}
