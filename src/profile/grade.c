/* SPDX-License-Identifier: Apache-2.0 */
/* How well the names of places are known, and how much of a profile is not proved. */
#include <inttypes.h>
#include <stdlib.h>

#include "profile/profile_internal.h"

static struct resolve_symbol symbol_of(const struct resolve_frame *f) {
    return (struct resolve_symbol){f->image, f->symbol};
}

enum grade profile_grade_of(const struct profile *p, uint32_t frame) {
    return (enum grade)p->grades.items[frame];
}

/* ---- what it rests on, for the columns that show it ---- */

static bool wants_basis(const struct profile_options *o) {
    for (size_t i = 0; i < o->columns->order.count; i++)
        if (o->columns->order.items[i].id == PROFILE_IDENTITY ||
            o->columns->order.items[i].id == PROFILE_PROVENANCE)
            return true;
    return false;
}

/* "symtab of /usr/lib/libc.so.6". */
static bool find_basis(struct profile *p, const struct resolve_frame *f, struct profile_basis *basis) {
    struct symbol_provenance from = resolve_provenance_of(p->plan.in->names, MODEL_NONE, symbol_of(f)).symbol;
    struct out o;
    bool ok = out_init(&o, NULL, NULL);
    if (ok) {
        out_str(&o, symbol_list_text(from.list));
        if (from.list != SYMBOL_IN_NONE && from.path) {
            out_str(&o, " of ");
            out_str(&o, from.path);
        }
        const char *text = out_text(&o);
        basis->identity = (uint8_t)from.identity;
        basis->text = strpool_add(&p->b.texts, text, strlen(text));
        ok = basis->text != STRPOOL_NONE;
    }
    out_fini(&o);
    return ok;
}

bool profile_grade_frames(struct profile *p) {
    size_t count = p->b.frames.list.count;
    bool basis = wants_basis(p->plan.o);
    if (!vec_reserve(&p->grades, count) || (basis && !vec_reserve(&p->bases_of, count)))
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct resolve_frame *f = &p->b.frames.list.items[i];
        *vec_push(&p->grades) = (uint8_t)resolve_grade(p->plan.in->names, symbol_of(f));
        if (basis && !find_basis(p, f, vec_push(&p->bases_of)))
            return false;
    }
    return true;
}

/* ---- sums ---- */

static uint32_t event_of(const struct profile *p, uint32_t klass) {
    return (uint32_t)p->b.class_values.items[(size_t)klass * p->plan.class_count];
}

static void count(struct profile *p, uint32_t event, uint32_t frame, uint64_t samples) {
    p->tables.items[event].event.grades[p->grades.items[frame]] += samples;
}

/* Each node of the callchains' trees is the frame of all samples that pass through it. */
static bool count_nodes(struct profile *p) {
    const struct profile_chain_node *nodes = p->b.nodes.items;
    size_t n = p->b.nodes.count;
    uint32_t *events = malloc((n + 1) * sizeof *events);
    for (size_t i = 0; events && i < n; i++) {
        uint32_t up = nodes[i].parent;
        events[i] = up == PROFILE_NONE ? event_of(p, nodes[i].frame) : events[up];
        if (up != PROFILE_NONE)
            count(p, events[i], nodes[i].frame, p->node_sums.items[i].samples);
    }
    free(events);
    return events;
}

bool profile_count_grades(struct profile *p) {
    const struct profile_builder *b = &p->b;
    if (!p->plan.chains) {
        for (size_t i = 0; i < b->bases.count; i++)
            count(p, event_of(p, b->bases.items[i].klass), b->bases.items[i].frame,
                  b->bases.items[i].samples);
        return true;
    }
    /* A sample without a callchain is a frame all the same. */
    for (size_t i = 0; i < b->leaves.count; i++) {
        const struct profile_leaf *leaf = &b->leaves.items[i];
        const struct profile_base *base = &b->bases.items[leaf->base];
        if (b->nodes.items[leaf->node].parent == PROFILE_NONE)
            count(p, event_of(p, base->klass), base->frame, leaf->samples);
    }
    return count_nodes(p);
}

/* ---- quality ---- */

/* Into by_image[image + 1]: how many frames of each grade. */
static void each_frame(const struct profile *p, struct profile_image_grades *by_image) {
    const struct profile_builder *b = &p->b;
    for (size_t i = 0; p->plan.chains && i < b->nodes.count; i++) {
        const struct profile_chain_node *n = &b->nodes.items[i];
        if (n->parent != PROFILE_NONE)
            by_image[b->frames.list.items[n->frame].image + 1].frames[p->grades.items[n->frame]] +=
                p->node_sums.items[i].samples;
    }
    for (size_t i = 0; p->plan.chains && i < b->leaves.count; i++) {
        const struct profile_leaf *leaf = &b->leaves.items[i];
        uint32_t frame = b->bases.items[leaf->base].frame;
        if (b->nodes.items[leaf->node].parent == PROFILE_NONE)
            by_image[b->frames.list.items[frame].image + 1].frames[p->grades.items[frame]] += leaf->samples;
    }
    for (size_t i = 0; !p->plan.chains && i < b->bases.count; i++) {
        uint32_t frame = b->bases.items[i].frame;
        by_image[b->frames.list.items[frame].image + 1].frames[p->grades.items[frame]] +=
            b->bases.items[i].samples;
    }
}

static uint64_t all_frames(const struct profile_image_grades *g) {
    uint64_t all = 0;
    for (unsigned i = 0; i < GRADE_COUNT; i++)
        all += g->frames[i];
    return all;
}

static int most_first(const void *x, const void *y) {
    const struct profile_image_grades *a = x, *b = y;
    uint64_t m = all_frames(a), n = all_frames(b);
    return m != n ? (m < n) - (m > n) : (a->image > b->image) - (a->image < b->image);
}

/* perf_event_open(2): sample_max_stack, else /proc/sys/kernel/perf_event_max_stack, 127 unless changed. */
static unsigned longest_chain(const struct profile *p, uint32_t event) {
    enum { USUAL = 127 };
    unsigned most = p->plan.in->events->list.items[event].attr.sample_max_stack;
    most = most ? most : USUAL;
    return most < p->plan.o->max_stack ? most : p->plan.o->max_stack;
}

static void judge_chains(const struct profile *p, struct profile_quality *q) {
    const struct profile_builder *b = &p->b;
    for (size_t i = 0; i < b->leaves.count; i++) {
        const struct profile_leaf *leaf = &b->leaves.items[i];
        unsigned depth = p->node_sums.items[leaf->node].depth;
        uint32_t event = event_of(p, b->bases.items[leaf->base].klass);
        q->chains += depth ? leaf->samples : 0;
        q->truncated += depth >= longest_chain(p, event) ? leaf->samples : 0;
    }
    for (size_t i = 0; i < b->nodes.count; i++) {
        uint32_t up = b->nodes.items[i].parent;
        if (up != PROFILE_NONE && b->nodes.items[up].parent == PROFILE_NONE &&
            b->frames.list.items[b->nodes.items[i].frame].image == MODEL_NONE)
            q->lost_callers += p->node_sums.items[i].samples;
    }
}

bool profile_quality_find(const struct profile *p, struct profile_quality *out, struct err *err) {
    uint32_t images = model_image_count(p->plan.in->model);
    struct profile_image_grades *all = calloc((size_t)images + 1, sizeof *all);
    if (!all || !vec_reserve(&out->images, (size_t)images + 1)) {
        free(all);
        return err_memory(err, "grades");
    }
    each_frame(p, all);
    for (uint32_t i = 0; i <= images; i++) {
        all[i].image = i - 1; /* MODEL_NONE is the number before the first */
        if (all_frames(&all[i]))
            *vec_push(&out->images) = all[i];
    }
    free(all);
    qsort(out->images.items, out->images.count, sizeof *out->images.items, most_first);
    for (size_t i = 0; i < p->b.bases.count; i++)
        out->samples += p->b.bases.items[i].samples;
    if (p->plan.chains)
        judge_chains(p, out);
    return true;
}

void profile_quality_fini(struct profile_quality *q) {
    vec_fini(&q->images);
}

/* ---- conservation ---- */

bool profile_conserves(const struct profile *p, struct err *err) {
    const struct profile_builder *b = &p->b;
    uint64_t read = 0, left = 0, kept = 0, leaves = 0;
    if (p->plan.o->branch) /* there entries are branches */
        return true;
    for (size_t i = 0; i < b->tally.count; i++) {
        read += b->tally.items[i].read;
        left += b->tally.items[i].filtered + b->tally.items[i].dropped;
    }
    for (size_t i = 0; i < b->bases.count; i++)
        kept += b->bases.items[i].samples;
    for (size_t i = 0; i < b->leaves.count; i++)
        leaves += b->leaves.items[i].samples;
    if (kept + left == read && (!p->plan.chains || leaves == kept))
        return true;
    return err_set(err, ERR_BROKEN, NULL,
                   "the profile does not add up: of %" PRIu64 " samples %" PRIu64 " are in it, %" PRIu64
                   " with callchains, and %" PRIu64 " were left out. This is a mistake of sonde's",
                   read, kept, leaves, left);
}
