/* SPDX-License-Identifier: Apache-2.0 */
/* A walk along leaves (walk.c), of which there may be several beside each other (ranges.c). */
#ifndef SONDE_PROFILE_WALK_H
#define SONDE_PROFILE_WALK_H

#include "profile/profile_internal.h"

/* A node on the path. */
struct step {
    uint32_t frame, row; /* row: PROFILE_NO_ROW: none */
    uint32_t spot;       /* of the frame */
    uint32_t first_leaf;
    uint32_t samples;
    uint64_t first_ns, period, latency;
    uint16_t deepest; /* the most frames of a leaf at and below it */
    bool outermost;
};

/* A leaf's chain, outermost frame first. */
struct chain {
    const uint32_t *outer, *inner; /* inner: what is behind the outer part */
    uint32_t outer_len, len;       /* len: of both */
    uint32_t outer_part;
};

/* A kind that was met: what profile_kind will say of it, but that rows are those of the walk's own table. */
struct met {
    uint32_t kind;
    uint32_t first_row, row_count;
    uint32_t first_leaf, leaf_count;
};

/* Where a range's rows come in a table of the profile. */
struct behind {
    size_t rows, self;
};

struct walk {
    struct profile *p;
    size_t from, end;             /* in the order: whole kinds, or a part of one */
    struct profile_table *tables; /* by event; of the first walk those of the profile */
    struct behind *behind;        /* by event; not of the first */
    struct profile_table *t;
    uint32_t kind;
    VEC(struct met) met;
    struct profile_spot *spots;
    const uint32_t *spot_of;         /* profile.spots */
    VEC(struct step) path;           /* [0]: the kind's root */
    VEC(uint32_t) marked;            /* spots that are open for the leaf at hand alone */
    const uint32_t *was;             /* profile.leaf_was */
    struct profile_leaf *leaves;     /* in the order of the walk, as far as they are taken, */
    struct profile_weights *weights; /* likewise; NULL: there are none */
    size_t taken;                    /* up to here */
    struct chain chain;              /* of the leaf at hand, */
    uint32_t common;                 /* and how much of it the one before has, too */
    const uint8_t *grade_of;         /* profile.grades */
    uint64_t *grades;                /* of the kind's event: of all frames of all its samples */
    uint32_t longest;                /* profile_longest_chain of that event */
    bool children, caller;
    bool latency; /* with children; it is asked for */
};

/* Whether the leaf is what made the row, as far as is known. Of samples at the same time the one that lies
 * there goes before one that passes, and else the first in the file. */
static inline bool walk_is_first(const struct walk *w, const struct profile_row *row, uint64_t first_ns,
                                 uint32_t leaf, bool own) {
    if (first_ns != row->first_ns)
        return first_ns < row->first_ns;
    return own == row->own ? w->was[leaf] < w->was[row->first_leaf] : own;
}

/* Walks along w's leaves. False: memory. */
bool walk_leaves(struct walk *w);

#endif
