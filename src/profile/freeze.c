/* SPDX-License-Identifier: Apache-2.0 */
/* From the leaves that samples made to the sorted entries of each event. */
#include <math.h>
#include <stdlib.h>

#include "base/hot.h"
#include "base/stages.h"
#include "os/heap.h"
#include "profile/profile_internal.h"

/* From so many on there is work for several threads, and they leave holes that are worth giving back. */
enum { MANY_LEAVES = 1 << 16 };

static void add_counts(struct profile_event *e, const struct profile_tally *tally) {
    e->total.period += tally->period;
    e->total.samples += tally->samples;
    e->total.latency += tally->latency;
    e->read += tally->read;
    e->filtered += tally->filtered;
    e->dropped += tally->dropped;
    e->lost += tally->lost;
}

/* As perf has it. */
static double limit_of(const struct profile *p, const struct profile_table *t) {
    if (p->plan.o->chain_mode == PROFILE_CHAIN_NONE)
        return INFINITY;
    if (p->plan.o->chain_mode == PROFILE_CHAIN_FRACTAL)
        return 0;
    return floor((double)t->totals.items[0].period * p->plan.o->chain_min_percent / 100);
}

static bool finish_table(struct profile *p, struct profile_table *t, uint32_t event) {
    struct profile_event *e = &t->event;
    e->event = event;
    e->members = t->members;
    e->name = p->plan.in->events->list.items[event].name;
    e->member_totals = t->totals.items;
    for (uint32_t m = 0; m < t->members; m++) {
        add_counts(e, &p->b.tally.items[event + m]);
        for (unsigned g = 0; m && g < GRADE_COUNT; g++)
            e->grades[g] += p->tables.items[event + m].event.grades[g];
    }
    if (p->plan.selects_rows)
        profile_select_rows(p, t);
    e->entry_count = e->root_count = (uint32_t)t->order.count;
    if (p->plan.o->hierarchy && p->key_count) {
        if (!profile_hierarchy(p, t))
            return false;
        e->entry_count = (uint32_t)t->levels.count;
        e->root_count = t->root_count;
    }
    return true;
}

struct profile_entry profile_entry_at(const struct profile *p, const struct profile_event *e, uint32_t i) {
    const struct profile_table *t = &p->tables.items[e->event];
    if (t->levels.count)
        return t->levels.items[i];
    uint32_t row = t->order.items[i];
    size_t at = (size_t)row * t->members;
    bool joined = t->members > 1;
    return (struct profile_entry){.self = joined ? &t->joined_self.items[at]
                                                 : &t->self.items[t->rows.items[row].self],
                                  .children = !p->plan.o->children ? NULL
                                              : joined             ? &t->joined_children.items[at]
                                                                   : &t->through.items[row],
                                  .latency = joined && t->joined_latency.items ? &t->joined_latency.items[at]
                                             : !joined && t->latency.items     ? &t->latency.items[row]
                                                                               : NULL,
                                  .key = row,
                                  .has_graph = profile_has_graph(p, t, row)};
}

/* Which tables are shown, and which of their rows have graphs. */
static bool settle_tables(struct profile *p) {
    if (!profile_group(p))
        return false;
    for (uint32_t i = 0; i < p->tables.count; i++) {
        struct profile_table *t = &p->tables.items[i];
        uint32_t *shown = t->member ? NULL : vec_push(&p->shown);
        if (t->member)
            continue;
        if (!shown || (!t->self.count && !vec_push(&t->self)))
            return false;
        *shown = i;
        t->graph_limit = limit_of(p, t);
    }
    return true;
}

static bool makes_graphs(const struct profile *p) {
    return p->plan.chains && p->plan.o->chain_mode != PROFILE_CHAIN_NONE;
}

/* The threads, where there is enough to do for more than one: NULL else. */
static struct pool *pool_of(const struct profile *p) {
    return makes_graphs(p) || p->b.leaves.count >= MANY_LEAVES ? p->plan.in->pool : NULL;
}

/* What is left to do for the tables that are shown. */
struct finish {
    struct profile *p;
    size_t tables;
    struct profile_sorting **sortings; /* by table */
};

static bool start_sorting(struct finish *f) {
    f->sortings = calloc(f->tables + 1, sizeof(struct profile_sorting *));
    bool ok = f->sortings;
    for (size_t i = 0; ok && i < f->tables; i++) {
        f->sortings[i] = profile_sorting_new(f->p, &f->p->tables.items[f->p->shown.items[i]]);
        ok = f->sortings[i];
    }
    return ok;
}

static void end_sorting(struct finish *f) {
    for (size_t i = 0; f->sortings && i < f->tables; i++)
        profile_sorting_free(f->sortings[i]);
    free(f->sortings);
}

/* Whether a thread that has nothing else to do may measure columns. */
static bool measures_ahead(const struct profile *p) {
    return p->plan.o->aligned && !p->plan.selects_rows && pool_threads(pool_of(p)) > 1;
}

/* What does not depend on each other, but for a table's order, whose second half waits for the first: that is
 * why all of these are begun before. Behind all tables what graphs are made of, and the columns' widths. */
HOT static bool finish_part(void *ctx, size_t part, unsigned thread, struct err *err) {
    const struct finish *f = ctx;
    (void)thread;
    bool ok = part < f->tables                            ? profile_sort_first(f->sortings[part])
              : part < 2 * f->tables                      ? profile_sort_second(f->sortings[part - f->tables])
              : part < 2 * f->tables + makes_graphs(f->p) ? profile_graph_prepare(f->p)
                                                          : profile_measure_columns(f->p);
    return ok || err_memory(err, "profile");
}

/* What goes before the walk. */
struct prepare {
    struct profile *p;
    struct stages stages;      /* of what is known of frames and classes */
    struct profile_leaf *room; /* of profile_order_leaves */
};

enum { STAGE_KINDS = 1 };

static bool know_frames(struct prepare *x) {
    bool ok = profile_make_places(x->p) && profile_make_kinds(x->p);
    if (ok)
        stages_tell(&x->stages, STAGE_KINDS);
    else
        stages_fail(&x->stages);
    return ok && profile_make_spots(x->p);
}

/* Behind the order of the parts of callchains, that of leaves. */
static bool order_leaves(struct prepare *x) {
    bool ok = profile_rank_parts(x->p) && stages_wait(&x->stages, STAGE_KINDS);
    x->room = ok ? profile_order_leaves(x->p) : NULL;
    return x->room;
}

HOT static bool prepare_part(void *ctx, size_t part, unsigned thread, struct err *err) {
    (void)thread;
    return (part ? order_leaves(ctx) : know_frames(ctx)) || err_memory(err, "profile");
}

/* From leaves to the rows of each event. */
static bool make_rows(struct profile *p) {
    struct prepare x = {.p = p};
    stages_init(&x.stages);
    bool ok = pool_run(pool_of(p), 2, prepare_part, &x, NULL);
    stages_fini(&x.stages);
    if (ok)
        return profile_walk(p, x.room, pool_of(p));
    free(x.room);
    return false;
}

/* Room that was taken for more rows than there are is used by what follows. */
static void trim_tables(struct profile *p) {
    for (size_t i = 0; i < p->tables.count; i++) {
        struct profile_table *t = &p->tables.items[i];
        vec_trim(&t->rows);
        vec_trim(&t->self);
        vec_trim(&t->through);
    }
}

/* Sorts and finishes the tables that are shown. */
static bool finish_tables(struct profile *p) {
    if (!settle_tables(p))
        return false;
    trim_tables(p);
    /* The ranges that several threads walked leave memory in places where what follows does not come. */
    if (p->b.leaves.count >= MANY_LEAVES && pool_threads(p->plan.in->pool) > 1)
        os_heap_give_back();
    if (p->b.leaves.count >= MANY_LEAVES)
        os_heap_choose_pages();
    struct finish f = {.p = p, .tables = p->shown.count};
    bool ok = start_sorting(&f) &&
              pool_run(pool_of(p), 2 * f.tables + makes_graphs(p) + measures_ahead(p), finish_part, &f, NULL);
    end_sorting(&f);
    for (size_t i = 0; ok && i < p->shown.count; i++)
        ok = finish_table(p, &p->tables.items[p->shown.items[i]], p->shown.items[i]);
    return ok;
}

static void take_keys(struct profile *p) {
    const struct profile_columns *c = p->plan.o->columns;
    for (size_t i = 0; i < c->order.count; i++)
        if (profile_column_is_key(c->order.items[i].id))
            p->keys[p->key_count++] = (uint8_t)c->order.items[i].id;
}

bool profile_freeze(struct profile *p, struct err *err) {
    bool ok = true;
    p->no_dso = PROFILE_NONE;
    take_keys(p);
    for (size_t i = 0; ok && i < p->plan.in->events->list.count; i++)
        ok = vec_push(&p->tables) != NULL;
    if (!profile_conserves(p, err))
        return false;
    if (p->b.leaves.count >= MANY_LEAVES)
        os_heap_choose_pages();
    ok = ok && make_rows(p) && finish_tables(p);
    return ok || err_memory(err, "profile");
}
