/* SPDX-License-Identifier: Apache-2.0 */
/* The key dso_size: the size of the mapping that a place lies in. */
#include "profile/profile_internal.h"

/* Returns the size of the image's first mapping that has the place, as they may differ; of a caller, that has
 * the call. */
static uint64_t mapping_size(const struct profile *p, const struct resolve_frame *f) {
    const struct model *m = p->plan.in->model;
    for (uint32_t i = 0; f->image != MODEL_NONE && i < model_mapping_count(m); i++) {
        const struct model_mapping map = model_mapping(m, i);
        if (map.image != f->image)
            continue;
        uint64_t first = model_mapping_offset(m, i, map.start);
        if (f->offset - f->back - first <= map.last - map.start)
            return map.last - map.start < INT64_MAX ? map.last - map.start + 1 : 0; /* all addresses */
    }
    return 0;
}

bool profile_find_size(struct profile *p, const struct resolve_frame *f) {
    uint64_t *size = vec_push(&p->mapping_sizes);
    if (size)
        *size = mapping_size(p, f);
    return size;
}
