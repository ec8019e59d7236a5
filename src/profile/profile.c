/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/profile.h"

#include <stdlib.h>

#include "profile/profile_internal.h"

/* The recording's pages are given back in steps of this size. */
enum { FORGET_BYTES = 16 << 20 };
/* And the user hears of progress after each of these. */
enum { PROGRESS_BYTES = 1 << 20 };

/* False: the user has seen enough. */
static bool go_on(const struct profile_input *in, uint64_t loc, uint64_t *told) {
    if (!in->progress || loc - *told < PROGRESS_BYTES)
        return true;
    *told = loc;
    return in->progress(in->progress_ctx, loc, stream_file_size(in->stream));
}

static bool read_all(struct profile *p, struct err *err) {
    struct stream_record r;
    enum stream_status status;
    uint64_t forgotten = 0, told = 0;
    bool enough = false;
    while (!enough && (status = stream_next(p->plan.in->stream, &r, err)) == STREAM_RECORD) {
        profile_builder_add(&p->b, &r);
        if (r.loc - forgotten > FORGET_BYTES) {
            stream_forget(p->plan.in->stream, forgotten, r.loc);
            forgotten = r.loc;
        }
        enough = !go_on(p->plan.in, r.loc, &told);
    }
    profile_builder_finish(&p->b);
    if (p->b.failed)
        return err_memory(err, "profile");
    return enough || status == STREAM_END;
}

struct profile *profile_collect(const struct profile_input *in, const struct profile_options *o,
                                struct err *err) {
    struct profile *p = calloc(1, sizeof *p);
    if (!p) {
        err_memory(err, "profile");
        return NULL;
    }
    if (!profile_plan_make(&p->plan, in, o, err) || !profile_builder_init(&p->b, &p->plan, err) ||
        !resolve_names_prepare(in->names, err) || !read_all(p, err) || !profile_freeze(p, err)) {
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
        vec_fini(&t->entries);
        vec_fini(&t->self);
        vec_fini(&t->rows);
        vec_fini(&t->totals);
        vec_fini(&t->joined_self);
        vec_fini(&t->joined_children);
        vec_fini(&t->levels);
        vec_fini(&t->level_sums);
        vec_fini(&t->node_at);
        vec_fini(&t->node_list);
        vec_fini(&t->leaf_at);
        vec_fini(&t->leaf_list);
    }
    vec_fini(&p->places);
    vec_fini(&p->grades);
    vec_fini(&p->bases_of);
    vec_fini(&p->frame_lines);
    vec_fini(&p->frame_groups);
    vec_fini(&p->mapping_sizes);
    vec_fini(&p->list);
    vec_fini(&p->spots);
    vec_fini(&p->kinds);
    vec_fini(&p->kind_list);
    vec_fini(&p->leaf_rows);
    vec_fini(&p->nodes);
    vec_fini(&p->leaf_nodes);
    vec_fini(&p->name_ranks);
    vec_fini(&p->name_places);
    vec_fini(&p->text_ranks);
    vec_fini(&p->tables);
    vec_fini(&p->shown);
    free(p);
}

uint32_t profile_event_count(const struct profile *p) {
    return (uint32_t)p->shown.count;
}

const struct profile_event *profile_event(const struct profile *p, uint32_t i) {
    return &p->tables.items[p->shown.items[i]].event;
}
