/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/profile.h"

#include <stdlib.h>

#include "profile/profile_internal.h"

struct profile *profile_collect(const struct profile_input *in, const struct profile_options *o,
                                struct err *err) {
    struct profile *p = calloc(1, sizeof *p);
    if (!p) {
        err_memory(err, "profile");
        return NULL;
    }
    profile_plan_make(&p->plan, in, o);
    if (!profile_builder_init(&p->b, &p->plan, err) || !resolve_names_prepare(in->names, err) ||
        !profile_read(p, err) || !profile_freeze(p, err)) {
        profile_free(p);
        return NULL;
    }
    return p;
}

void profile_free(struct profile *p) {
    if (!p)
        return;
    profile_builder_fini(&p->b);
    for (size_t i = 0; i < p->tables.count; i++) {
        struct profile_table *t = &p->tables.items[i];
        vec_fini(&t->order);
        vec_fini(&t->self);
        vec_fini(&t->rows);
        vec_fini(&t->through);
        vec_fini(&t->latency);
        vec_fini(&t->totals);
        vec_fini(&t->joined_self);
        vec_fini(&t->joined_children);
        vec_fini(&t->joined_latency);
        vec_fini(&t->levels);
        vec_fini(&t->level_sums);
        vec_fini(&t->graph_rows);
    }
    vec_fini(&p->places);
    vec_fini(&p->sources);
    vec_fini(&p->types);
    vec_fini(&p->grades);
    vec_fini(&p->bases_of);
    vec_fini(&p->frame_lines);
    vec_fini(&p->frame_groups);
    vec_fini(&p->mapping_sizes);
    vec_fini(&p->list);
    vec_fini(&p->frame_keys);
    vec_fini(&p->kinds);
    vec_fini(&p->kind_list);
    vec_fini(&p->nodes);
    vec_fini(&p->leaf_nodes);
    vec_fini(&p->tree_leaves);
    vec_fini(&p->stack_rows);
    vec_fini(&p->stack_was);
    vec_fini(&p->segment_ranks);
    vec_fini(&p->name_ranks);
    vec_fini(&p->name_places);
    vec_fini(&p->text_ranks);
    vec_fini(&p->tables);
    vec_fini(&p->shown);
    free(p);
}

void profile_outlive(struct profile *p) {
    for (size_t i = 0; i < p->b.stacks.count; i++)
        p->b.stacks.items[i].thread = MODEL_NONE;
}

const struct profile_columns *profile_columns_of(const struct profile *p) {
    return p->plan.o->columns;
}

uint32_t profile_event_count(const struct profile *p) {
    return (uint32_t)p->shown.count;
}

bool profile_has_samples(const struct profile *p, uint32_t event) {
    const struct profile_tally *t = &p->b.tally.items[event];
    return t->read > t->dropped;
}

const struct profile_event *profile_event(const struct profile *p, uint32_t i) {
    return &p->tables.items[p->shown.items[i]].event;
}

const struct resolve_unwind_tally *profile_unwound(const struct profile *p) {
    return &p->b.unwound;
}
