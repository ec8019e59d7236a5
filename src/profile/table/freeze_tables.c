/* SPDX-License-Identifier: Apache-2.0 */
/* Turns stack samples into the sorted rows of each event. */
#include <math.h>
#include <stdlib.h>

#include "profile/profile_internal.h"

static void add_counts(struct profile_event *e, const struct profile_tally *tally) {
    e->total.period += tally->period;
    e->total.samples += tally->samples;
    e->total.latency += tally->latency;
    e->read += tally->read;
    e->filtered += tally->filtered;
    e->dropped += tally->dropped;
}

/* Returns the graph_limit, as in perf. */
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
        e->lost += p->plan.in->lost ? p->plan.in->lost[event + m] : 0;
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

/* Finds which tables are shown and, by a limit, which of their rows have graphs. False: out of memory. */
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

/* Makes the rows of each event from stack samples. False: out of memory. */
static bool make_rows(struct profile *p) {
    return profile_make_places(p) && profile_make_kinds(p) && profile_make_frame_keys(p) &&
           profile_order_stacks(p) && profile_walk(p);
}

/* Frees the spare room of tables, which later steps can use. */
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
    bool ok = true;
    for (size_t i = 0; ok && i < p->shown.count; i++)
        ok = profile_sort(p, &p->tables.items[p->shown.items[i]]);
    ok = ok && (!makes_graphs(p) || profile_forest(p));
    for (size_t i = 0; ok && i < p->shown.count; i++)
        ok = finish_table(p, &p->tables.items[p->shown.items[i]], p->shown.items[i]);
    return ok;
}

static void take_keys(struct profile *p) {
    const struct profile_columns *c = p->plan.o->columns;
    for (size_t i = 0; i < c->order.count; i++)
        if (profile_column_is_key(&c->order.items[i]))
            p->keys[p->key_count++] = &c->order.items[i];
}

bool profile_freeze(struct profile *p, struct err *err) {
    bool ok = true;
    p->no_dso = PROFILE_NONE;
    take_keys(p);
    for (size_t i = 0; ok && i < p->plan.in->events->list.count; i++)
        ok = vec_push(&p->tables) != NULL;
    if (!profile_conserves(p, err))
        return false;
    ok = ok && make_rows(p) && finish_tables(p);
    return ok || err_memory(err, "profile");
}
