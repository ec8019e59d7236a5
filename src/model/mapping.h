/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mappings, by id. Every process maps the same few libraries at other addresses: what these mappings have
 * in common is stored once, as a shape.
 *
 *   list    (0x7f12..., shape 0) (0x7f13..., shape 1) (0x7f88..., shape 0) ...
 *   shapes  0: libc.so.6, its code, r-x private        1: libm.so.6, its code, r-x private
 */
#ifndef SONDE_MODEL_MAPPING_H
#define SONDE_MODEL_MAPPING_H

#include "model/order.h"

struct mapping {
    uint64_t start;
    uint32_t order; /* order_get */
    uint32_t shape;
};

struct mapping_shape {
    uint64_t span; /* last - start */
    uint64_t pgoff;
    uint32_t image;
    uint32_t prot : 8;
    uint32_t flags : 23;
    uint32_t late : 1;
    uint32_t before; /* the image's next older shape, or MODEL_NONE */
};

struct mapping_table {
    VEC(struct mapping) list;
    VEC(struct mapping_shape) shapes;
    VEC(uint32_t) newest; /* by image: its newest shape that mappings may share, or MODEL_NONE */
    struct order_table orders;
};

void mapping_table_fini(struct mapping_table *t);

/* Adds a mapping and returns its id; MODEL_NONE: memory or ids ran out. `alone`: its shape is not shared, so
 * that mapping_end may be called for it. */
uint32_t mapping_add(struct mapping_table *t, const struct model_mapping *map, bool alone);

/* Changes the last address of a mapping that was added `alone`. */
void mapping_end(struct mapping_table *t, uint32_t id, uint64_t last);

static inline uint64_t mapping_start(const struct mapping_table *t, uint32_t id) {
    return t->list.items[id].start;
}
static inline uint64_t mapping_last(const struct mapping_table *t, uint32_t id) {
    return t->list.items[id].start + t->shapes.items[t->list.items[id].shape].span;
}
static inline uint32_t mapping_image(const struct mapping_table *t, uint32_t id) {
    return t->shapes.items[t->list.items[id].shape].image;
}
static inline struct model_mapping mapping_get(const struct mapping_table *t, uint32_t id) {
    const struct mapping *map = &t->list.items[id];
    const struct mapping_shape *shape = &t->shapes.items[map->shape];
    return (struct model_mapping){.start = map->start,
                                  .last = map->start + shape->span,
                                  .pgoff = shape->pgoff,
                                  .order = order_get(&t->orders, map->order),
                                  .image = shape->image,
                                  .prot = shape->prot,
                                  .flags = shape->flags,
                                  .late = shape->late};
}

void mapping_trim(struct mapping_table *t);
size_t mapping_bytes(const struct mapping_table *t);

#endif
