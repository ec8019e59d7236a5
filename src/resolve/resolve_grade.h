/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The grade of resolved places, and the evidence behind one: which record mapped its image, and what
 * symbol/grade.h says of the image's file and of the symbol.
 */
#ifndef SONDE_RESOLVE_RESOLVE_GRADE_H
#define SONDE_RESOLVE_RESOLVE_GRADE_H

#include "resolve/names.h"
#include "symbol/grade.h"

/* The grade of a place whose image's names were asked for (resolve_names_find and the others). A property of
 * (image, symbol): to be asked once for each distinct place. Any number of threads. */
enum grade resolve_grade(const struct resolve_names *n, struct resolve_symbol s);

#define RESOLVE_NO_RECORD UINT64_MAX

struct resolve_provenance {
    struct symbol_provenance symbol;
    uint32_t image;        /* MODEL_NONE: nothing covered the address */
    uint64_t map_loc;      /* where in the recording the record that mapped it lies (stream_record.loc);
                              RESOLVE_NO_RECORD: unknown */
    struct bytes build_id; /* that was recorded for the image; empty: none */
    const struct model_image *mapped; /* NULL without image */
};

/* All about one place: `mapping` of the model_hit it came from, or MODEL_NONE. What it points to is borrowed
 * from the model and from the store. */
struct resolve_provenance resolve_provenance_of(const struct resolve_names *n, uint32_t mapping,
                                                struct resolve_symbol s);

/* ---- single samples ---- */

/*
 * The outermost frame of a callchain that has as many addresses as its event can have (resolve/chain.h) is no
 * more than inferred in this sample, whatever it is elsewhere: nobody knows what it returned to. Its grade,
 * of one that has `grade` elsewhere; its provenance.
 */
static inline enum grade resolve_grade_doubted(enum grade grade) {
    return grade == GRADE_EXACT ? GRADE_INFERRED : grade;
}
void resolve_provenance_cut(struct symbol_provenance *p);

#endif
