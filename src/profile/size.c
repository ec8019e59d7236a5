/* SPDX-License-Identifier: Apache-2.0 */
/* The keys dso_size and symbol_size: of the mapping and of the function that a place lies in. */
#include "profile/profile_internal.h"

/* Of an image whose maps were not all alike it is the first one that has the place; of a caller, the call. */
static uint64_t mapping_size(const struct profile *p, const struct resolve_frame *f) {
    const struct model *m = p->plan.in->model;
    for (uint32_t i = 0; f->image != MODEL_NONE && i < model_mapping_count(m); i++) {
        const struct model_mapping map = model_mapping(m, i);
        if (map.image != f->image)
            continue;
        uint64_t first = model_mapping_offset(m, i, map.start);
        if (f->offset - f->back - first <= map.last - map.start)
            return map.last - map.start < INT64_MAX ? map.last - map.start + 1 : 0; /* of everything */
    }
    return 0;
}

bool profile_find_sizes(struct profile *p) {
    if (!profile_has_key(p, PROFILE_DSO_SIZE))
        return true;
    if (!vec_reserve(&p->mapping_sizes, p->places.count))
        return false;
    for (size_t i = 0; i < p->places.count; i++)
        *vec_push(&p->mapping_sizes) = mapping_size(p, &p->b.frames.list.items[i]);
    return true;
}

uint64_t profile_size_of(const struct profile *p, enum profile_column_id id, uint32_t frame) {
    if (id == PROFILE_DSO_SIZE)
        return frame < p->mapping_sizes.count ? p->mapping_sizes.items[frame] : 0;
    const struct profile_name *name = profile_name_of(p, frame);
    return name ? name->end - name->start : 0;
}
