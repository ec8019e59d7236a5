/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/compare/functions.h"

#include "base/hash.h"
#include "profile/profile_internal.h"

struct listing {
    const struct stacks *s;
    struct compare_functions *out;
    struct hash_map seen; /* name and object -> 0 */
    struct out text;      /* scratch */
};

/* Adds the function of a frame, unless `s` does not have it or it is there. False: out of memory. */
static bool add(struct listing *l, const struct profile *p, uint32_t frame, uint32_t row) {
    uint32_t image = p->b.frames.list.items[frame].image;
    const char *dso = image == MODEL_NONE ? "[unknown]" : model_image(p->plan.in->model, image)->short_name;
    l->text.len = 0;
    profile_put_stack_name(p, frame, dso, &l->text);
    if (l->text.failed)
        return false;
    uint32_t name = strpool_find(&l->s->texts, l->text.buf, l->text.len),
             object = image == MODEL_NONE ? 0 : strpool_find(&l->s->texts, dso, strlen(dso));
    if (name == STRPOOL_NONE || object == STRPOOL_NONE)
        return true;
    uint64_t key = (uint64_t)name << 32 | object;
    if (hash_map_get(&l->seen, key) != HASH_ABSENT)
        return true;
    struct compare_function *made = vec_push(&l->out->list);
    if (!made || !hash_map_set(&l->seen, key, 0))
        return false;
    *made = (struct compare_function){name, object, row};
    return true;
}

bool compare_functions_find(const struct compare *c, const struct compare_side *sides, const struct stacks *s,
                            struct compare_functions *out) {
    struct listing l = {.s = s, .out = out};
    bool ok = out_init(&l.text, NULL, NULL);
    for (uint32_t side = 0; ok && side < c->sides; side++) {
        const struct profile *p = sides[side].profile;
        const struct profile_event *event = sides[side].event;
        for (uint32_t i = 0; ok && event && i < event->root_count; i++) {
            uint32_t key = profile_entry_at(p, event, i).key;
            uint32_t frame = p->tables.items[event->event].rows.items[key].frame;
            ok = add(&l, p, frame, c->row_of[side][i]);
        }
    }
    hash_map_fini(&l.seen);
    out_fini(&l.text);
    return ok;
}
