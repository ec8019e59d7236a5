/* SPDX-License-Identifier: Apache-2.0 */
#include "resolve/resolve_grade.h"

enum grade resolve_grade(const struct resolve_names *n, struct resolve_symbol s) {
    uint32_t id = resolve_names_store_id(n, s.image);
    return id == UINT32_MAX ? GRADE_UNKNOWN : symbol_store_grade(resolve_names_store(n), id, s.index);
}

struct resolve_provenance resolve_provenance_of(const struct resolve_names *n, uint32_t mapping,
                                                struct resolve_symbol s) {
    const struct model *m = resolve_names_model(n);
    struct resolve_provenance p = {.image = s.image, .map_loc = RESOLVE_NO_RECORD};
    uint32_t id = resolve_names_store_id(n, s.image);
    if (id != UINT32_MAX)
        p.symbol = symbol_store_provenance(resolve_names_store(n), id, s.index);
    else
        p.symbol = (struct symbol_provenance){.grade = GRADE_UNKNOWN, .why = "nothing was mapped there"};
    if (mapping != MODEL_NONE)
        p.map_loc = model_mapping(m, mapping).order;
    if (s.image != MODEL_NONE) {
        p.mapped = model_image(m, s.image);
        p.build_id = model_image_build_id(m, p.mapped, NULL);
    }
    return p;
}

/* ---- single samples ---- */

void resolve_provenance_cut(struct symbol_provenance *p) {
    if (p->grade != GRADE_EXACT)
        return;
    p->grade = resolve_grade_doubted(p->grade);
    p->why = "the callchain was cut here: what called this is not known";
}
