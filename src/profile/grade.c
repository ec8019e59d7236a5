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
