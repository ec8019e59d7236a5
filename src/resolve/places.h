/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the model says of the places of samples, remembered: most samples lie where samples of the same
 * process lay before. One thread each; the frozen model is shared.
 *
 *   process  |- state of its space -|  pieces of it that were hit last
 *    4711    |  from .. until       |  [7f12000, 7f13fff] libc.so.6   [400000, 40ffff] cc1  ...
 */
#ifndef SONDE_RESOLVE_PLACES_H
#define SONDE_RESOLVE_PLACES_H

#include "base/err.h"
#include "model/model.h"

enum { RESOLVE_PIECES = 4 };

/* Addresses for which the answer is known. */
struct resolve_place_piece {
    uint64_t start, last; /* start > last: the piece is free */
    uint64_t slide;       /* image offset - address */
    uint32_t mapping, image;
};

/* A space in one state. */
struct resolve_place_space {
    struct model_state state; /* first: see resolve_places_find */
    uint32_t pid;
    uint32_t space; /* MODEL_SPACE_NONE: the slot is free */
    uint32_t next;  /* piece to give up next */
    struct resolve_place_piece pieces[RESOLVE_PIECES];
};

struct resolve_places {
    const struct model *model;
    struct resolve_place_space host_kernel, none;
    struct resolve_place_space *processes, *last; /* last: of them, or NULL */
};

/* False: memory. `m` is borrowed. */
bool resolve_places_init(struct resolve_places *p, const struct model *m, struct err *err);
void resolve_places_fini(struct resolve_places *p);

/* The state of the space that a cpumode (PERFDATA_MISC_*) means. Never NULL; valid until the next call. */
const struct model_state *resolve_places_state(struct resolve_places *p, unsigned cpumode, uint32_t pid,
                                               struct model_when when);

/* As model_state_find; the state is the one that resolve_places_state gave last. */
bool resolve_places_find(struct resolve_places *p, const struct model_state *state, uint64_t address,
                         struct model_hit *out);

#endif
