/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A row belongs to one kind, so that threads may walk along some kinds each, the leaves of which lie
 * together: ranges, more than there are threads, as kinds have few leaves or many. A kind that has too many
 * for one thread is cut into parts, the rows of which are joined:
 *
 *   leaves   | kinds 0 .. 3 | kind 4 . . . . . . | . . of kind 4 . . | kinds 5 .. 9 |
 *   rows     | a            | b c d              | c b e             | f            |
 *   joined     a              b c d                    e               f
 *
 * The rows of a range, in tables of its own, are put behind those of the ranges before it: they have the
 * same numbers on any number of threads.
 */
#include <stdlib.h>

#include "base/hot.h"
#include "os/heap.h"
#include "profile/walk.h"

/* One walk, and what becomes of its rows. */
struct range {
    struct walk walk;
    bool part, goes_on; /* of a kind; that the range before it is a part of, too */
    /* Of one that goes on: */
    uint32_t *joined;            /* by row: which of the kind's rows it is, from its first one on */
    uint32_t new_rows, new_self; /* how many the kind has not had before; with samples of their own */
};

/* All ranges. */
struct ranges {
    struct range *list;
    struct turn {
        size_t leaves;
        uint32_t range;
    } * turns; /* the longest first, as the last ones handed out decide when all are done */
    struct start {
        size_t leaf;
        bool part, goes_on;
    } * starts;
    size_t count;
    uint32_t *firsts; /* of the ranges that do not go on: which they are */
    size_t first_count;
    struct profile_spot *spots[POOL_THREADS_MAX]; /* of each thread */
};

/* ---- walking ---- */

static void clear_spots(struct profile_spot *spots, const struct profile *p) {
    for (uint32_t i = 0; i < p->spot_count; i++)
        spots[i] = (struct profile_spot){.kind = PROFILE_NONE};
}

/* What spots have of the kinds of an earlier range is of none of this one's, unless that is a part, too. */
HOT static bool walk_range(void *ctx, size_t i, unsigned thread, struct err *err) {
    struct ranges *x = ctx;
    struct range *range = &x->list[x->turns[i].range];
    struct walk *w = &range->walk;
    struct profile_spot **spots = &x->spots[thread];
    bool clear = !*spots || range->part;
    if (!*spots)
        *spots = malloc((w->p->spot_count + 1u) * sizeof **spots);
    if (*spots && clear)
        clear_spots(*spots, w->p);
    w->spots = *spots;
    bool ok = w->spots && walk_leaves(w);
    vec_fini(&w->path);
    vec_fini(&w->marked);
    return ok || err_memory(err, "profile");
}

/* ---- joining parts ---- */

/* What was copied is not to be in the memory twice. */
#define give_back(v) (os_heap_forget((v)->items, (v)->count * sizeof *(v)->items), vec_clear(v))

static struct profile_table *table_of(const struct walk *w) {
    return &w->tables[w->p->kind_list.items[w->met.items[0].kind].table];
}

/* Which rows of a kind are there. */
struct joining {
    uint32_t *at;   /* by spot: the kind's row there; PROFILE_NONE: none yet */
    uint8_t *owns;  /* by row: whether it has samples of its own */
    uint32_t count; /* of rows */
};

/* Of a part, all of whose rows are of that kind. False: memory. */
static bool join_rows(struct joining *j, struct range *range) {
    enum { AHEAD = 16 };
    struct walk *w = &range->walk;
    const struct profile_table *t = table_of(w);
    size_t n = t->rows.count;
    range->joined = range->goes_on ? malloc((n + 1) * sizeof *range->joined) : NULL;
    if (range->goes_on && !range->joined)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (i + AHEAD < n)
            prefetch(&w->spot_of[t->rows.items[i + AHEAD].frame]);
        const struct profile_row *row = &t->rows.items[i];
        uint32_t *at = &j->at[profile_spot_in(w->spot_of[row->frame])];
        bool known = *at != PROFILE_NONE, owned = known && j->owns[*at];
        if (!known)
            *at = j->count++;
        j->owns[*at] = owned || row->self;
        range->new_rows += !known;
        range->new_self += row->self && !owned;
        if (range->goes_on)
            range->joined[i] = *at;
    }
    return true;
}

/* Of a range, if it is the first part of a kind, and of those that go on. */
static bool join_parts(void *ctx, size_t i, unsigned thread, struct err *err) {
    struct ranges *x = ctx;
    size_t from = x->firsts[i], end = i + 1 < x->first_count ? x->firsts[i + 1] : x->count, rows = 0;
    const struct profile *p = x->list[from].walk.p;
    (void)thread;
    if (end - from == 1)
        return true;
    for (size_t k = from; k < end; k++)
        rows += table_of(&x->list[k].walk)->rows.count;
    struct joining j = {.at = malloc((p->spot_count + 1u) * sizeof *j.at), .owns = calloc(rows + 1, 1)};
    bool ok = j.at && j.owns;
    if (ok)
        memset(j.at, 0xff, p->spot_count * sizeof *j.at); /* PROFILE_NONE */
    for (size_t k = from; ok && k < end; k++)
        ok = join_rows(&j, &x->list[k]);
    free(j.at);
    free(j.owns);
    return ok || err_memory(err, "profile");
}

/* A row of a part that the kind has had before. */
static void add_row(const struct walk *w, struct profile_row *to, const struct profile_row *more) {
    uint32_t self = to->self;
    uint16_t depth = more->depth > to->depth ? more->depth : to->depth;
    if (walk_is_first(w, to, more->first_ns, more->first_leaf, more->own))
        *to = *more;
    to->self = self;
    to->depth = depth;
}

/* Where a part's row is in the profile's table; *is_new: the kind has not had it before. */
static inline size_t place_in(const struct range *range, const struct profile_kind *kind, size_t row,
                              bool *is_new) {
    size_t at = kind->first_row + (size_t)range->joined[row];
    *is_new = at >= range->walk.behind[kind->table].rows;
    return at;
}

/* Adds a part that goes on to the kind's rows. */
static void add_part(struct profile_table *to, const struct profile_kind *kind, const struct range *range) {
    const struct walk *w = &range->walk;
    struct profile_table *from = table_of(w);
    size_t next_self = w->behind[kind->table].self;
    for (size_t i = 0; i < from->rows.count; i++) {
        bool is_new;
        const struct profile_row *row = &from->rows.items[i];
        struct profile_row *sum = &to->rows.items[place_in(range, kind, i, &is_new)];
        if (is_new) {
            *sum = *row;
            sum->self = 0;
        } else {
            add_row(w, sum, row);
        }
        if (row->self && sum->self) {
            profile_sums_add(&to->self.items[sum->self], &from->self.items[row->self]);
        } else if (row->self) {
            sum->self = (uint32_t)next_self;
            to->self.items[next_self++] = from->self.items[row->self];
        }
    }
    give_back(&from->rows);
    give_back(&from->self);
}

/* The same for what passed through them. */
static void add_part_through(struct profile_table *to, const struct profile_kind *kind,
                             const struct range *range) {
    struct profile_table *from = table_of(&range->walk);
    for (size_t i = 0; i < from->through.count; i++) {
        bool is_new;
        size_t at = place_in(range, kind, i, &is_new);
        struct profile_through sum = is_new ? (struct profile_through){0, 0} : to->through.items[at];
        sum.period += from->through.items[i].period;
        sum.samples += from->through.items[i].samples;
        to->through.items[at] = sum;
        if (from->latency.count)
            to->latency.items[at] = (is_new ? 0 : to->latency.items[at]) + from->latency.items[i];
    }
    give_back(&from->through);
    give_back(&from->latency);
}

/* ---- putting behind each other ---- */

/* Makes room in a table for so many rows, of which so many have samples of their own, behind what is there.
 * False: memory. */
static bool make_room(struct profile_table *to, const struct profile_table *from, size_t rows, size_t self,
                      struct behind *behind) {
    size_t had = to->rows.count;
    if ((!to->self.count && !vec_push(&to->self)) || had + rows > PROFILE_NO_ROW ||
        !vec_reserve(&to->rows, had + rows) || !vec_reserve(&to->self, to->self.count + self) ||
        (from->through.count && !vec_reserve(&to->through, had + rows)) ||
        (from->latency.count && !vec_reserve(&to->latency, had + rows)))
        return false;
    *behind = (struct behind){had, to->self.count};
    to->rows.count += rows;
    to->self.count += self;
    to->through.count += from->through.count ? rows : 0;
    to->latency.count += from->latency.count ? rows : 0;
    return true;
}

/* Counts a range's table in the profile's, and makes room there for its rows. */
static bool settle_table(struct profile_table *to, const struct range *range, size_t table) {
    const struct profile_table *from = &range->walk.tables[table];
    for (unsigned i = 0; i < GRADE_COUNT; i++)
        to->event.grades[i] += from->event.grades[i];
    if (!from->rows.count)
        return true;
    size_t self = from->self.count ? from->self.count - 1 : 0;
    return make_room(to, from, range->goes_on ? range->new_rows : from->rows.count,
                     range->goes_on ? range->new_self : self, &range->walk.behind[table]);
}

/* What a range met of kinds. */
static void settle_kinds(const struct range *range) {
    const struct walk *w = &range->walk;
    for (size_t i = 0; i < w->met.count; i++) {
        const struct met *met = &w->met.items[i];
        struct profile_kind *kind = &w->p->kind_list.items[met->kind];
        if (range->goes_on) {
            kind->row_count += range->new_rows;
            kind->leaf_count += met->leaf_count;
            continue;
        }
        kind->first_row = met->first_row + (w->behind ? (uint32_t)w->behind[kind->table].rows : 0);
        kind->row_count = met->row_count;
        kind->first_leaf = met->first_leaf;
        kind->leaf_count = met->leaf_count;
    }
}

/* The first one's tables are the profile's. False: memory. */
static bool settle(struct ranges *x, struct profile *p) {
    for (size_t i = 0; i < x->count; i++) {
        for (size_t k = 0; i && k < p->tables.count; k++)
            if (!settle_table(&p->tables.items[k], &x->list[i], k))
                return false;
        settle_kinds(&x->list[i]);
    }
    return true;
}

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
}

static void append_through(struct profile_table *to, struct profile_table *from,
                           const struct behind *behind) {
    size_t n = from->through.count;
    if (n)
        memcpy(to->through.items + behind->rows, from->through.items, n * sizeof *to->through.items);
    if (from->latency.count)
        memcpy(to->latency.items + behind->rows, from->latency.items, n * sizeof *to->latency.items);
    give_back(&from->through);
    give_back(&from->latency);
}

static void free_range(struct range *range) {
    struct walk *w = &range->walk;
    struct profile *p = w->p;
    vec_fini(&w->met);
    free(w->behind);
    free(range->joined);
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

/* A range's rows go where there is room for them; `through`: what passed through them. */
static void append_range(struct range *range, bool through) {
    const struct walk *w = &range->walk;
    struct profile *p = w->p;
    if (range->goes_on) {
        const struct profile_kind *kind = &p->kind_list.items[w->met.items[0].kind];
        (through ? add_part_through : add_part)(&p->tables.items[kind->table], kind, range);
        return;
    }
    for (size_t k = 0; w->behind && k < p->tables.count; k++)
        (through ? append_through : append_table)(&p->tables.items[k], &w->tables[k], &w->behind[k]);
}

/* Two jobs for each range that does not go on: behind it come the parts that do. */
static bool append_ranges(void *ctx, size_t job, unsigned thread, struct err *err) {
    struct ranges *x = ctx;
    size_t i = job / 2, end = i + 1 < x->first_count ? x->firsts[i + 1] : x->count;
    (void)thread;
    (void)err;
    for (size_t k = x->firsts[i]; k < end; k++)
        append_range(&x->list[k], job % 2);
    return true;
}

/* ---- cutting ---- */

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

/* Of each thread, at least; and a kind that is as long as such a range is one. Parts of longer ones are at
 * most so many times as long. */
enum { RANGES = 4, PART_RANGES = 2 };

/* The leaves [from, end), which are one kind's, in as few parts as need be. */
static void cut_kind(struct ranges *x, size_t from, size_t end, size_t least) {
    size_t most = PART_RANGES * least, parts = (end - from + most - 1) / most;
    x->starts[x->count - 1].part = parts > 1;
    for (size_t i = 1; i < parts; i++)
        x->starts[x->count++] = (struct start){from + (end - from) * i / parts, true, true};
}

/* Cuts the leaves into ranges of whole kinds, and parts of long ones: x->starts. False: memory. */
static bool cut(struct ranges *x, const struct profile *p, unsigned threads) {
    size_t n = p->leaf_was.count, pieces = threads > 1 ? (size_t)threads * RANGES : 1,
           least = (n + pieces - 1) / pieces;
    x->starts = malloc((3 * pieces + 3) * sizeof *x->starts);
    if (!x->starts)
        return false;
    x->starts[x->count++] = (struct start){0, false, false};
    for (size_t from = 0; n - from > least;) {
        uint32_t kind = kind_at(p, from + least);
        size_t before = start_of(p, kind), behind = start_of(p, kind + 1);
        if (before == from && threads > 1)
            cut_kind(x, from, behind, least);
        from = before > from && behind - before >= least ? before : behind;
        if (from < n)
            x->starts[x->count++] = (struct start){from, false, false};
    }
    return true;
}

/* ---- all ---- */

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
                                  : (x->range > y->range) - (x->range < y->range);
}

/* The i-th range, whose walk is like `w`, which is along all leaves. False: memory. */
static bool make_range(struct ranges *x, size_t i, const struct walk *w) {
    struct profile *p = w->p;
    struct range *range = &x->list[i];
    struct walk *walk = &range->walk;
    *range = (struct range){.walk = *w, .part = x->starts[i].part, .goes_on = x->starts[i].goes_on};
    walk->from = walk->taken = x->starts[i].leaf;
    walk->end = i + 1 < x->count ? x->starts[i + 1].leaf : p->leaf_was.count;
    walk->tables = i ? calloc(p->tables.count, sizeof *walk->tables) : p->tables.items;
    walk->behind = i ? calloc(p->tables.count, sizeof *walk->behind) : NULL;
    if (p->tables.count && (!walk->tables || (i && !walk->behind))) /* no event, no table */
        return false;
    size_t leaves = walk->end - walk->from;
    x->turns[i] = (struct turn){leaves, (uint32_t)i};
    if (!range->goes_on)
        x->firsts[x->first_count++] = (uint32_t)i;
    /* the first one's take all */
    reserve_rows(walk, i ? leaves : p->spot_count, i ? leaves : p->leaf_was.count);
    return true;
}

static bool make_ranges(struct ranges *x, const struct walk *w) {
    x->list = calloc(x->count, sizeof *x->list);
    x->turns = malloc(x->count * sizeof *x->turns);
    x->firsts = malloc(x->count * sizeof *x->firsts);
    bool ok = x->list && x->turns && x->firsts;
    for (size_t i = 0; ok && i < x->count; i++)
        ok = make_range(x, i, w);
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
    struct ranges x = {0};
    bool ok =
        cut(&x, p, pool_threads(pool)) && make_ranges(&x, w) && pool_run(pool, x.count, walk_range, &x, NULL);
    for (unsigned i = 0; i < POOL_THREADS_MAX; i++)
        free(x.spots[i]);
    if (ok) {
        put_leaves(&p->b, w, pool_threads(pool) > 1);
    } else {
        free(w->leaves);
        free(w->weights);
    }
    ok = ok && pool_run(pool, x.first_count, join_parts, &x, NULL) && settle(&x, p) &&
         pool_run(pool, 2 * x.first_count, append_ranges, &x, NULL);
    for (size_t i = 0; x.list && i < x.count; i++)
        free_range(&x.list[i]);
    free(x.list);
    free(x.turns);
    free(x.starts);
    free(x.firsts);
    return ok;
}

bool profile_walk(struct profile *p, struct profile_leaf *room, struct pool *pool) {
    const struct profile_options *o = p->plan.o;
    bool graphs = p->plan.chains && o->chain_mode != PROFILE_CHAIN_NONE;
    struct walk w = {.p = p,
                     .spot_of = p->spots.items,
                     .grade_of = p->grades.items,
                     .children = o->children,
                     .caller = o->chain_order == PROFILE_CALLER,
                     .latency = o->children && p->plan.extras,
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
    if (!graphs)
        vec_fini(&p->part_ranks);
    vec_fini(&p->leaf_was);
    return ok;
}
