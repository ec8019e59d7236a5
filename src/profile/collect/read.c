/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The second pass. With several threads each reads its share of the file into a builder of its own; the
 * builders are merged in the order of the file:
 *
 *   file       | samples . . . . . | . . . . . . . . . | . . . . . . . . . |
 *   builders   p->b                shares[1].b         shares[2].b
 *   merged     p->b <-------------- 1                  2
 *              p->b <--------------------------------- 2
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "os/heap.h"
#include "profile/profile_internal.h"
#include "stream/pieces.h"

/* The recording's pages are given back in steps of this size. */
enum { FORGET_BYTES = 4 << 20 };
/* Progress is reported each time so much was read. */
enum { PROGRESS_BYTES = 1 << 20 };

struct share {
    struct profile_builder *b;
    struct stream *stream;
    bool own; /* the builder (unless p->b) and the stream are to be freed */
};

struct reading_shares {
    const struct profile_input *in;
    struct share list[POOL_THREADS_MAX];
    uint32_t count;
    atomic_uint_fast64_t done; /* bytes */
    atomic_bool enough;        /* the user has seen enough */
};

/* Adds to the bytes done. Only the first share reports them: it is read by the caller's thread, or no later
 * than others. */
static void tell(struct reading_shares *all, bool first, uint64_t bytes) {
    const struct profile_input *in = all->in;
    uint64_t done = atomic_fetch_add(&all->done, bytes) + bytes;
    if (first && in->progress && !in->progress(in->progress_ctx, done, stream_file_size(in->stream)))
        atomic_store(&all->enough, true);
}

/* Reads the next records: a batch of samples, or one other record, which adds nothing. *loc: of the last. */
static enum stream_status take_some(struct share *x, uint64_t *loc, struct err *err) {
    enum { BATCH = 64 };
    struct stream_sample batch[BATCH];
    size_t n = stream_take_samples(x->stream, batch, BATCH);
    struct stream_record r;
    enum stream_status status = n ? STREAM_RECORD : stream_next(x->stream, &r, err);
    if (n)
        profile_builder_add_samples(x->b, batch, n);
    else if (status == STREAM_RECORD)
        profile_builder_add(x->b, &r);
    if (status == STREAM_RECORD)
        *loc = n ? batch[n - 1].loc : r.loc;
    return status;
}

static bool read_share(void *ctx, size_t i, unsigned thread, struct err *err) {
    struct reading_shares *all = ctx;
    struct share *x = &all->list[i];
    enum stream_status status = STREAM_END;
    uint64_t forgotten = 0, told = 0, loc, steps = 0;
    bool any = false, enough = false;
    (void)thread;
    while (!enough && !x->b->failed && (status = take_some(x, &loc, err)) == STREAM_RECORD) {
        if (!any)
            forgotten = told = loc;
        any = true;
        if (loc - forgotten > FORGET_BYTES) {
            /* The pages around the last step's end were read in again with those after it. */
            stream_forget(x->stream, forgotten - (steps ? FORGET_BYTES / 2 : 0), loc);
            forgotten = loc;
            steps++;
        }
        if (loc - told >= PROGRESS_BYTES) {
            tell(all, !i, loc - told);
            told = loc;
            enough = atomic_load(&all->enough);
        }
    }
    profile_pending_flush(x->b);
    if (any)
        stream_forget(x->stream, forgotten, loc);
    if (x->b->failed)
        return err_memory(err, "profile");
    return enough || status == STREAM_END;
}

/* Gives each of the shares equally many pieces, a builder and a stream. */
static bool make_shares(struct profile *p, struct reading_shares *all, uint32_t pieces, struct err *err) {
    for (uint32_t i = 0; i < all->count; i++) {
        struct share *x = &all->list[i];
        uint32_t from = (uint32_t)((uint64_t)pieces * i / all->count),
                 to = (uint32_t)((uint64_t)pieces * (i + 1) / all->count);
        x->own = true;
        x->b = i ? malloc(sizeof *x->b) : &p->b;
        if (!x->b)
            return err_memory(err, "profile");
        if (i && !profile_builder_init(x->b, &p->plan, err))
            return false;
        x->stream = stream_pieces_open(p->plan.in->stream, from, to, err);
        if (!x->stream)
            return false;
        x->b->stream = x->stream;
    }
    return true;
}

static void free_shares(struct profile *p, struct reading_shares *all) {
    for (uint32_t i = 0; i < all->count; i++) {
        struct share *x = &all->list[i];
        if (!x->own)
            continue;
        stream_pieces_close(x->stream);
        if (x->b && x->b != &p->b) {
            profile_builder_fini(x->b);
            free(x->b);
        }
    }
}

/* One round of merging: of the shares left, every second one is merged into the one before it. */
struct merging {
    struct reading_shares *all;
    uint32_t step;
};

static bool merge_two(void *ctx, size_t job, unsigned thread, struct err *err) {
    const struct merging *m = ctx;
    size_t to = job * 2 * m->step, from = to + m->step;
    (void)thread;
    if (from >= m->all->count || profile_builder_merge(m->all->list[to].b, m->all->list[from].b))
        return true;
    return err_memory(err, "profile");
}

static bool merge(struct reading_shares *all, struct err *err) {
    bool ok = true;
    for (uint32_t step = 1; ok && step < all->count; step *= 2)
        ok = pool_run(all->in->pool, (all->count + 2 * step - 1) / (2 * step), merge_two,
                      &(struct merging){all, step}, err);
    return ok;
}

/* Reports the samples that could not be read: at the end, in the order of the file. */
static void say_bad(struct profile *p) {
    for (size_t i = 0; i < p->b.bad.count; i++) {
        struct stream_record r = stream_record_at(p->plan.in->stream, p->b.bad.items[i]);
        stream_bad_record(p->plan.in->stream, &r, "a sample is shorter than its fields");
    }
}

/* A stream that goes on is read by whoever feeds it; here only what that listed. */
static bool read_live(struct profile *p, struct err *err) {
    bool ok = profile_read_listed(p, err) && profile_inlines_expand(&p->b, err) &&
              profile_carry(&p->b, &p->plan.in->before, err);
    profile_builder_trim(&p->b);
    if (ok)
        say_bad(p);
    return ok;
}

bool profile_read(struct profile *p, struct err *err) {
    if (p->plan.in->live)
        return read_live(p, err);
    struct reading_shares *all = calloc(1, sizeof *all);
    uint32_t threads = p->plan.in_order ? 1 : pool_threads(p->plan.in->pool),
             pieces = threads > 1 ? stream_piece_count(p->plan.in->stream) : 0;
    bool ok = all != NULL;
    if (!ok)
        return err_memory(err, "profile");
    all->in = p->plan.in;
    all->count = threads < pieces ? threads : pieces ? pieces : 1;
    if (pieces > 1)
        ok = make_shares(p, all, pieces, err);
    else
        all->list[0] = (struct share){.b = &p->b, .stream = p->plan.in->stream};
    ok = ok && pool_run(p->plan.in->pool, all->count, read_share, all, err) && merge(all, err);
    p->b.stream = p->plan.in->stream;
    ok = ok && profile_inlines_expand(&p->b, err);
    profile_builder_trim(&p->b);
    free_shares(p, all);
    if (all->count > 1)
        os_heap_give_back();
    free(all);
    if (ok)
        say_bad(p);
    return ok;
}
