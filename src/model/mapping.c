/* SPDX-License-Identifier: Apache-2.0 */
#include "model/mapping.h"

/* How many shapes of an image are compared: one with more is no shared library, but growing code of a JIT. */
enum { COMPARED_MAX = 6 };

void mapping_table_fini(struct mapping_table *t) {
    vec_fini(&t->list);
    vec_fini(&t->shapes);
    vec_fini(&t->newest);
    vec_fini(&t->orders.far);
}

static bool is_like(const struct mapping_shape *a, const struct mapping_shape *b) {
    return a->span == b->span && a->pgoff == b->pgoff && a->prot == b->prot && a->flags == b->flags &&
           a->late == b->late;
}

/* Finds an equal shape of the same image, or MODEL_NONE. */
static uint32_t find_shape(const struct mapping_table *t, const struct mapping_shape *like) {
    uint32_t shape = like->image < t->newest.count ? t->newest.items[like->image] : MODEL_NONE;
    for (unsigned compared = 0; shape != MODEL_NONE && compared < COMPARED_MAX; compared++) {
        if (is_like(&t->shapes.items[shape], like))
            return shape;
        shape = t->shapes.items[shape].before;
    }
    return MODEL_NONE;
}

static uint32_t add_shape(struct mapping_table *t, struct mapping_shape shape, bool alone) {
    bool shared = !alone && shape.image != MODEL_NONE;
    while (shared && t->newest.count <= shape.image) {
        uint32_t *newest = vec_push(&t->newest);
        if (!newest)
            return MODEL_NONE;
        *newest = MODEL_NONE;
    }
    struct mapping_shape *to = t->shapes.count < MODEL_NONE ? vec_push(&t->shapes) : NULL;
    if (!to)
        return MODEL_NONE;
    uint32_t id = (uint32_t)(t->shapes.count - 1);
    shape.before = shared ? t->newest.items[shape.image] : MODEL_NONE;
    *to = shape;
    if (shared)
        t->newest.items[shape.image] = id;
    return id;
}

uint32_t mapping_add(struct mapping_table *t, const struct model_mapping *map, bool alone) {
    struct mapping_shape shape = {.span = map->last - map->start,
                                  .pgoff = map->pgoff,
                                  .image = map->image,
                                  .prot = map->prot,
                                  .flags = map->flags,
                                  .late = map->late};
    struct mapping new = {.start = map->start, .shape = alone ? MODEL_NONE : find_shape(t, &shape)};
    if (new.shape == MODEL_NONE)
        new.shape = add_shape(t, shape, alone);
    if (new.shape == MODEL_NONE || !order_put(&t->orders, map->order, &new.order))
        return MODEL_NONE;
    struct mapping *to = t->list.count < MODEL_NONE ? vec_push(&t->list) : NULL;
    if (!to)
        return MODEL_NONE;
    *to = new;
    return (uint32_t)(t->list.count - 1);
}

void mapping_end(struct mapping_table *t, uint32_t id, uint64_t last) {
    const struct mapping *map = &t->list.items[id];
    t->shapes.items[map->shape].span = last - map->start;
}

void mapping_trim(struct mapping_table *t) {
    vec_trim(&t->list);
    vec_trim(&t->shapes);
    vec_fini(&t->newest);
}

size_t mapping_bytes(const struct mapping_table *t) {
    return t->list.cap * sizeof *t->list.items + t->shapes.cap * sizeof *t->shapes.items +
           t->newest.cap * sizeof *t->newest.items + t->orders.far.cap * sizeof *t->orders.far.items;
}
