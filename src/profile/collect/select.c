/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which samples count, by their comm and where they lie: -c, -d, -S, --symbol-filter, -U. A sample is kept or
 * left out with its whole callchain. Each comm and each place is judged once. Where callers have rows of
 * their own, --symbol-filter keeps or leaves out rows instead: all samples count.
 */
#include "profile/profile_internal.h"
#include "symbol/name_match.h"

enum { NOT_ASKED, KEEP, LEAVE, DROP, UNLISTED /* every option but -S keeps it */ };

static bool is_listed(const char *const *list, const char *text) {
    for (size_t i = 0; text && list[i]; i++)
        if (!strcmp(list[i], text))
            return true;
    return false;
}

static bool is_meant(const char *const *list, const char *name) {
    for (size_t i = 0; name && list[i]; i++)
        if (symbol_name_matches(name, list[i]))
            return true;
    return false;
}

static bool passes_filter(const struct profile_builder *b, const char *name) {
    return !b->plan->o->symbol_filter || (name && strstr(name, b->plan->o->symbol_filter));
}

static bool frame_passes(const struct profile_builder *b, const struct resolve_frame *f) {
    return passes_filter(b, b->plan->o->symbol_filter ? profile_frame_name(b, f) : NULL);
}

static uint8_t judge_place(struct profile_builder *b, uint32_t frame) {
    const struct profile_options *o = b->plan->o;
    const struct resolve_frame *f = &b->frames.list.items[frame];
    bool named = f->image != MODEL_NONE && f->symbol != SYMBOL_NONE;
    if (o->hide_unresolved && !named)
        return DROP;
    if (o->dsos) {
        const struct model_image *image =
            f->image == MODEL_NONE ? NULL : model_image(b->plan->in->model, f->image);
        if (!is_listed(o->dsos, image ? image->name : "[unknown]") &&
            !(image && is_listed(o->dsos, image->short_name)))
            return LEAVE;
    }
    if (!o->branch && !b->plan->selects_rows && !frame_passes(b, f))
        return LEAVE;
    return o->symbols && !is_meant(o->symbols, profile_frame_name(b, f)) ? UNLISTED : KEEP;
}

/* Whether -S lists the sample's address, or the one where its function begins. */
static bool lists_address(struct profile_builder *b, const struct profile_taken *x, uint32_t frame) {
    const struct profile_options *o = b->plan->o;
    const struct resolve_frame *f = &b->frames.list.items[frame];
    uint64_t start = x->s->ip;
    struct model_hit hit;
    if (!o->address_count)
        return false;
    const struct model_state *state = resolve_places_state(&b->places, x->cpumode, x->s->pid, x->when);
    if (f->symbol != SYMBOL_NONE && resolve_places_find(&b->places, state, x->s->ip, &hit))
        start -=
            hit.offset - symbol_table_start(resolve_names_table(b->plan->in->names, f->image), f->symbol);
    for (size_t i = 0; i < o->address_count; i++)
        if (o->addresses[i] == x->s->ip || o->addresses[i] == start)
            return true;
    return false;
}

enum profile_verdict profile_select(struct profile_builder *b, const struct profile_taken *x, uint32_t comm,
                                    uint32_t frame) {
    const struct profile_options *o = b->plan->o;
    uint8_t *by_place = profile_memo_at(b, &b->place_verdicts, frame),
            *by_comm = profile_memo_at(b, &b->comm_verdicts, comm);
    if (!by_place || !by_comm)
        return PROFILE_DROP;
    if (*by_place == NOT_ASKED)
        *by_place = judge_place(b, frame);
    if (*by_comm == NOT_ASKED)
        *by_comm = !o->comms || is_listed(o->comms, strpool_text(&b->texts, comm)) ? KEEP : LEAVE;
    if (*by_place == DROP)
        return PROFILE_DROP;
    bool place = *by_place == KEEP || (*by_place == UNLISTED && lists_address(b, x, frame));
    return place && *by_comm == KEEP ? PROFILE_KEEP : PROFILE_FILTERED;
}

static void take_away(struct profile_sums *from, const struct profile_sums *sums) {
    from->period -= sums->period;
    from->samples -= sums->samples;
    from->latency -= sums->latency;
}

void profile_select_rows(struct profile *p, struct profile_table *t) {
    size_t kept = 0;
    for (uint32_t i = 0; i < t->order.count; i++) {
        uint32_t row = t->order.items[i];
        const struct profile_name *name = profile_name_of(p, t->rows.items[row].frame);
        if (passes_filter(&p->b, name ? name->text : NULL)) {
            t->order.items[kept++] = row;
            continue;
        }
        const struct profile_sums *self = profile_entry_at(p, &t->event, i).self;
        for (uint32_t m = 0; m < t->members; m++) {
            t->event.filtered += self[m].samples;
            if (!p->plan.o->relative)
                continue;
            take_away(&t->event.total, &self[m]);
            take_away(&t->totals.items[m], &self[m]);
        }
    }
    t->order.count = kept;
}

bool profile_select_end(const struct profile_builder *b, uint32_t frame) {
    return frame_passes(b, &b->frames.list.items[frame]);
}
