/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which samples count, by their comm and where they lie: -c, -d, -S, --symbol-filter, -U. It is the sample
 * that is taken or left, with its whole callchain. Each comm and each place is looked at once.
 */
#include "profile/profile_internal.h"

enum { NOT_ASKED, KEEP, LEAVE, DROP };

static bool is_listed(const char *const *list, const char *text) {
    for (size_t i = 0; text && list[i]; i++)
        if (!strcmp(list[i], text))
            return true;
    return false;
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
    if (!o->symbols && !o->symbol_filter)
        return KEEP;
    const char *name =
        named ? resolve_names_text(b->plan->in->names, (struct resolve_symbol){f->image, f->symbol}) : NULL;
    if ((o->symbols && !is_listed(o->symbols, name)) ||
        (o->symbol_filter && (!name || !strstr(name, o->symbol_filter))))
        return LEAVE;
    return KEEP;
}

/* The remembered verdict of the thing `id`; NULL: memory. */
static uint8_t *verdict_of(struct profile_verdicts *v, uint32_t id) {
    while (v->list.count <= id)
        if (!vec_push(&v->list))
            return NULL;
    return &v->list.items[id];
}

enum profile_verdict profile_select(struct profile_builder *b, uint32_t comm, uint32_t frame) {
    const struct profile_options *o = b->plan->o;
    uint8_t *by_place = verdict_of(&b->place_verdicts, frame), *by_comm = verdict_of(&b->comm_verdicts, comm);
    if (!by_place || !by_comm) {
        b->failed = true;
        return PROFILE_DROP;
    }
    if (*by_place == NOT_ASKED)
        *by_place = judge_place(b, frame);
    if (*by_comm == NOT_ASKED)
        *by_comm = !o->comms || is_listed(o->comms, strpool_text(&b->texts, comm)) ? KEEP : LEAVE;
    if (*by_place == DROP)
        return PROFILE_DROP;
    return *by_place == KEEP && *by_comm == KEEP ? PROFILE_KEEP : PROFILE_FILTERED;
}
