/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A row belongs to one kind, so that threads may walk along some kinds each, the leaves of which lie
 * together: ranges, more than there are threads, as kinds have few leaves or many. The rows of a range, in
 * tables of its own, are put behind those of the kinds before them: they have the same numbers on any number
 * of threads.
 */
#include <stdlib.h>

#include "base/hot.h"
#include "os/heap.h"
#include "profile/walk.h"

/* All ranges. */
struct walks {
    struct walk *list;
    struct turn {
        size_t leaves;
        uint32_t walk;
    } * turns; /* the longest first, as the last ones handed out decide when all are done */
    size_t *starts, count;
    struct profile_spot *spots[POOL_THREADS_MAX]; /* of each thread */
};

static struct profile_spot *new_spots(const struct profile *p) {
    struct profile_spot *spots = malloc((p->spot_count + 1u) * sizeof *spots);
    for (uint32_t i = 0; spots && i < p->spot_count; i++)
        spots[i] = (struct profile_spot){.kind = PROFILE_NONE};
    return spots;
}

/* What spots have of the kinds of an earlier range is of none of this one's. */
HOT static bool walk_range(void *ctx, size_t i, unsigned thread, struct err *err) {
    struct walks *x = ctx;
    struct walk *w = &x->list[x->turns[i].walk];
    if (!x->spots[thread])
        x->spots[thread] = new_spots(w->p);
    w->spots = x->spots[thread];
    bool ok = w->spots && walk_leaves(w);
    vec_fini(&w->path);
    vec_fini(&w->marked);
    return ok || err_memory(err, "profile");
}

/* ---- several ---- */

/* Counts a range's table in the profile's, and makes room there for its rows, behind what is there. False:
 * memory. */
static bool make_room(struct profile_table *to, const struct profile_table *from, struct behind *behind) {
    size_t rows = to->rows.count, n = from->rows.count;
    for (unsigned i = 0; i < GRADE_COUNT; i++)
        to->event.grades[i] += from->event.grades[i];
    if (!n)
        return true;
    size_t selves = from->self.count ? from->self.count - 1 : 0;
    if ((!to->self.count && !vec_push(&to->self)) || rows + n > PROFILE_NO_ROW ||
        !vec_reserve(&to->rows, rows + n) || !vec_reserve(&to->self, to->self.count + selves) ||
        (from->through.count && !vec_reserve(&to->through, rows + n)) ||
        (from->latency.count && !vec_reserve(&to->latency, rows + n)))
        return false;
    *behind = (struct behind){rows, to->self.count};
    to->rows.count += n;
    to->self.count += selves;
    to->through.count += from->through.count;
    to->latency.count += from->latency.count;
    return true;
}

/* What was copied is not to be in the memory twice. */
#define give_back(v) (os_heap_forget((v)->items, (v)->count * sizeof *(v)->items), vec_clear(v))

/* Several ranges are appended to a table at once: each writes the rows that are its own, and nothing else. */
static void append_table(struct profile_table *to, struct profile_table *from, const struct behind *behind) {
    size_t n = from->rows.count;
    if (!n)
        return;
    struct profile_row *rows = to->rows.items + behind->rows;
    /* [0] is of the rows without samples of their own, in both. */
    uint32_t more = (uint32_t)behind->self - 1;
    for (size_t i = 0; i < n; i++) {
        rows[i] = from->rows.items[i];
        rows[i].self += rows[i].self ? more : 0;
    }
    give_back(&from->rows);
    if (from->self.count > 1)
        memcpy(to->self.items + behind->self, from->self.items + 1,
               (from->self.count - 1) * sizeof *to->self.items);
    give_back(&from->self);
    if (from->through.count)
        memcpy(to->through.items + behind->rows, from->through.items, n * sizeof *to->through.items);
    if (from->latency.count)
        memcpy(to->latency.items + behind->rows, from->latency.items, n * sizeof *to->latency.items);
    give_back(&from->through);
    give_back(&from->latency);
}

/* Rows' numbers are those of their table in the profile, which has some rows already. */
static void renumber(const struct walk *w) {
    struct profile *p = w->p;
    for (size_t i = 0; i < w->met.count; i++) {
        struct profile_kind *kind = &p->kind_list.items[w->met.items[i]];
        kind->first_row += (uint32_t)w->behind[kind->table].rows;
    }
}

static void free_tables(struct walk *w) {
    struct profile *p = w->p;
    vec_fini(&w->met);
    free(w->behind);
    if (!w->tables || w->tables == p->tables.items)
        return;
    for (size_t i = 0; i < p->tables.count; i++) {
        vec_fini(&w->tables[i].rows);
        vec_fini(&w->tables[i].through);
        vec_fini(&w->tables[i].latency);
        vec_fini(&w->tables[i].self);
    }
    free(w->tables);
}

/* A range's rows, but the first one's, go where there is room for them. */
static bool append_walk(void *ctx, size_t i, unsigned thread, struct err *err) {
    struct walk *w = &((struct walks *)ctx)->list[i + 1];
    struct profile *p = w->p;
    (void)thread;
    (void)err;
    renumber(w);
    for (size_t k = 0; k < p->tables.count; k++)
        append_table(&p->tables.items[k], &w->tables[k], &w->behind[k]);
    free_tables(w);
    w->tables = NULL;
    w->behind = NULL;
    return true;
}

static uint32_t kind_at(const struct profile *p, size_t i) {
    return p->kinds.items[p->b.leaves.items[p->leaf_was.items[i]].key.klass];
}

/* Where the leaves of a kind, or else of the next one, begin in the order. */
static size_t start_of(const struct profile *p, uint32_t kind) {
    size_t from = 0, end = p->leaf_was.count;
    while (from < end) {
        size_t mid = from + (end - from) / 2;
        if (kind_at(p, mid) < kind)
            from = mid + 1;
        else
            end = mid;
    }
    return from;
}

/* Of each thread, at least, unless kinds are longer; and a kind that is as long as such a range is one. */
enum { RANGES = 4 };

/* Cuts the leaves into ranges of whole kinds: x->starts. False: memory. */
static bool cut(struct walks *x, const struct profile *p, unsigned threads) {
    size_t n = p->leaf_was.count, pieces = threads > 1 ? (size_t)threads * RANGES : 1,
           least = (n + pieces - 1) / pieces;
    x->starts = malloc((2 * pieces + 2) * sizeof *x->starts);
    if (!x->starts)
        return false;
    x->starts[x->count++] = 0;
    for (size_t from = 0; n - from > least;) {
        uint32_t kind = kind_at(p, from + least);
        size_t before = start_of(p, kind), behind = start_of(p, kind + 1);
        from = before > from && behind - before >= least ? before : behind;
        if (from < n)
            x->starts[x->count++] = from;
    }
    return true;
}

/* Room for about as many rows as there will be, in the table that most samples are for: vectors that grow are
 * copied, and leave holes. */
static void reserve_rows(const struct walk *w, size_t rows, size_t leaves) {
    const struct profile *p = w->p;
    size_t most = 0;
    for (size_t i = 1; i < p->tables.count; i++)
        most = p->b.tally.items[i].samples > p->b.tally.items[most].samples ? i : most;
    if (!w->children || !p->tables.count)
        return;
    struct profile_table *t = &w->tables[most];
    os_heap_room(&t->self, leaves / 4);
    os_heap_room(&t->rows, rows + rows / 8);
    os_heap_room(&t->through, rows + rows / 8);
}

static int by_leaves(const void *a, const void *b) {
    const struct turn *x = a, *y = b;
    return x->leaves != y->leaves ? (x->leaves < y->leaves) - (x->leaves > y->leaves)
                                  : (x->walk > y->walk) - (x->walk < y->walk);
}

/* The walks along the ranges, each like `w`, which is along all leaves. False: memory. */
static bool make_walks(struct walks *x, const struct walk *w) {
    struct profile *p = w->p;
    x->list = calloc(x->count, sizeof *x->list);
    x->turns = malloc(x->count * sizeof *x->turns);
    bool ok = x->list && x->turns;
    for (size_t i = 0; ok && i < x->count; i++) {
        struct walk *walk = &x->list[i];
        *walk = *w;
        walk->from = walk->taken = x->starts[i];
        walk->end = i + 1 < x->count ? x->starts[i + 1] : p->leaf_was.count;
        walk->tables = i ? calloc(p->tables.count, sizeof *walk->tables) : p->tables.items;
        walk->behind = i ? calloc(p->tables.count, sizeof *walk->behind) : NULL;
        ok = !p->tables.count || (walk->tables && (!i || walk->behind)); /* no event, no table */
        size_t leaves = walk->end - walk->from;
        x->turns[i] = (struct turn){leaves, (uint32_t)i};
        if (ok) /* the first one's take all */
            reserve_rows(walk, i ? leaves : p->spot_count, i ? leaves : p->leaf_was.count);
    }
    if (ok)
        qsort(x->turns, x->count, sizeof *x->turns, by_leaves);
    return ok;
}

/* The leaves lie in the order of the walk from now on. What several threads' reading left is in places where
 * what follows does not come. */
static void put_leaves(struct profile_builder *b, const struct walk *w, bool threads) {
    if (threads)
        os_heap_forget(b->leaves.items, b->leaves.count * sizeof *b->leaves.items);
    vec_fini(&b->leaves);
    b->leaves.items = w->leaves;
    b->leaves.count = b->leaves.cap = w->end;
    if (!w->weights)
        return;
    vec_fini(&b->weights);
    b->weights.items = w->weights;
    b->weights.count = b->weights.cap = w->end;
}

/* Of `w`, which is of all leaves; its own become the profile's, or are freed. False: memory. */
static bool walk_all(struct walk *w, struct pool *pool) {
    struct profile *p = w->p;
    struct walks x = {0};
    bool ok =
        cut(&x, p, pool_threads(pool)) && make_walks(&x, w) && pool_run(pool, x.count, walk_range, &x, NULL);
    for (unsigned i = 0; i < POOL_THREADS_MAX; i++)
        free(x.spots[i]);
    if (ok) {
        put_leaves(&p->b, w, pool_threads(pool) > 1);
    } else {
        free(w->leaves);
        free(w->weights);
    }
    for (size_t i = 1; ok && i < x.count; i++)
        for (size_t k = 0; ok && k < p->tables.count; k++)
            ok = make_room(&p->tables.items[k], &x.list[i].tables[k], &x.list[i].behind[k]);
    ok = ok && pool_run(pool, x.count - 1, append_walk, &x, NULL);
    for (size_t i = 0; x.list && i < x.count; i++)
        free_tables(&x.list[i]);
    free(x.list);
    free(x.turns);
    free(x.starts);
    return ok;
}

/* ---- all ---- */

bool profile_walk(struct profile *p, struct profile_leaf *room, struct pool *pool) {
    const struct profile_options *o = p->plan.o;
    bool graphs = p->plan.chains && o->chain_mode != PROFILE_CHAIN_NONE;
    struct walk w = {.p = p,
                     .spot_of = p->spots.items,
                     .grade_of = p->grades.items,
                     .children = o->children,
                     .caller = o->chain_order == PROFILE_CALLER,
                     .latency = o->children && p->plan.extras,
                     .hides = o->hide_unresolved,
                     .end = p->b.leaves.count,
                     .was = p->leaf_was.items,
                     .leaves = room};
    bool ok = true;
    if (p->plan.extras) {
        w.weights = malloc((w.end + 1) * sizeof *w.weights);
        ok = w.weights;
    }
    if (ok)
        ok = walk_all(&w, pool);
    else
        free(room);
    if (!graphs) {
        vec_fini(&p->part_ranks);
        vec_fini(&p->leaf_was);
    }
    return ok;
}
