/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The grade of resolved places, and the evidence for it: which record mapped the image, and what
 * symbol/grade.h says of the image's file and of the symbol.
 */
#ifndef SONDE_RESOLVE_RESOLVE_GRADE_H
#define SONDE_RESOLVE_RESOLVE_GRADE_H

#include "resolve/names.h"
#include "symbol/grade.h"

/* The grade of a place whose image's names are loaded (resolve_names_find and the others). It depends on
 * (image, symbol) only: one call for each distinct place is enough. Any number of threads. */
enum grade resolve_grade(const struct resolve_names *n, struct resolve_symbol s);

#define RESOLVE_NO_RECORD UINT64_MAX

struct resolve_provenance {
    struct symbol_provenance symbol;
    uint32_t image;                   /* MODEL_NONE: nothing covered the address */
    uint64_t map_loc;                 /* where the record that mapped it lies (stream_record.loc);
                                         RESOLVE_NO_RECORD: unknown */
    struct bytes build_id;            /* as recorded for the image; empty: none */
    const struct model_image *mapped; /* NULL without image */
};

/* All evidence for one place; `mapping` is its model_hit's, or MODEL_NONE. Pointers are borrowed from the
 * model and the store. */
struct resolve_provenance resolve_provenance_of(const struct resolve_names *n, uint32_t mapping,
                                                struct resolve_symbol s);

/* ---- single samples ---- */

/*
 * The outermost frame of a callchain with as many addresses as its event allows (resolve/chain.h) is at most
 * inferred in this sample, since its caller is unknown. These lower its grade, and its provenance.
 */
static inline enum grade resolve_grade_doubted(enum grade grade) {
    return grade == GRADE_EXACT ? GRADE_INFERRED : grade;
}
void resolve_provenance_cut(struct symbol_provenance *p);

#endif
