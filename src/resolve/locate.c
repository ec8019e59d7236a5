/* SPDX-License-Identifier: Apache-2.0 */
#include "resolve/locate.h"

#include "resolve/callers.h"

void resolve_locator_fini(struct resolve_locator *l) {
    if (l->placed)
        resolve_places_fini(&l->places);
    l->placed = false;
}

const struct model_state *resolve_locator_state(struct resolve_locator *l, enum model_space space,
                                                uint32_t pid, struct model_when when) {
    if (!l->placed && model_is_frozen(l->model))
        l->placed = resolve_places_init(&l->places, l->model, NULL); /* without memory it is slower */
    if (l->placed)
        return resolve_places_space(&l->places, space, pid, when);
    model_state_at(l->model, space, pid, when, &l->live);
    if (space == MODEL_SPACE_USER)
        resolve_places_keep_after_exit(l->model, when, &l->live);
    return &l->live;
}

bool resolve_locate(struct resolve_locator *l, const struct model_state *state, enum model_space space,
                    bool in_kernel, uint64_t address, struct model_hit *hit) {
    if (l->placed ? resolve_places_find(&l->places, state, address, hit)
                  : model_state_find(l->model, state, address, hit))
        return true;
    hit->space = space;
    return in_kernel && space == MODEL_SPACE_USER &&
           (!l->placed || resolve_places_in_exec(&l->places, state)) &&
           model_state_find_before_exec(l->model, state, address, hit);
}

/* The context of `find`. */
struct question {
    struct resolve_locator *l;
    const struct model_state *state;
    enum model_space space;
    bool in_kernel;
};

static bool find(void *ctx, uint64_t address, struct model_hit *hit) {
    const struct question *q = ctx;
    return resolve_locate(q->l, q->state, q->space, q->in_kernel, address, hit);
}

bool resolve_locate_return(struct resolve_locator *l, const struct model_state *state, enum model_space space,
                           bool in_kernel, uint64_t address, struct model_hit *hit) {
    struct question q = {l, state, space, in_kernel};
    resolve_callers_find(l->model, find, &q, address, hit);
    return hit->mapping != MODEL_NONE;
}

bool resolve_locate_anywhere(struct resolve_locator *l, unsigned cpumode, uint32_t pid,
                             struct model_when when, uint64_t address, struct model_hit *hit) {
    const unsigned modes[] = {cpumode, PERFDATA_MISC_USER, PERFDATA_MISC_KERNEL};
    bool in_kernel = cpumode == PERFDATA_MISC_KERNEL;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        enum model_space space = model_space_of(modes[i]);
        if (resolve_locate(l, resolve_locator_state(l, space, pid, when), space, in_kernel, address, hit))
            return true;
    }
    return false;
}

bool resolve_locator_is_late(const struct resolve_locator *l, const struct model_hit *hit) {
    return model_unordered(l->model) && hit->mapping != MODEL_NONE &&
           model_mapping(l->model, hit->mapping).late;
}
