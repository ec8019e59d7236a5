/* SPDX-License-Identifier: Apache-2.0 */
/* One event's stacks as one tree with a root, merged by what a picture shows: names and levels, comms first.
 */
#ifndef SONDE_VIEW_EXPORT_FLAME_TREE_H
#define SONDE_VIEW_EXPORT_FLAME_TREE_H

#include "view/export/export.h"

struct flame_node {
    uint32_t caller;      /* the root's: STACKS_NONE */
    uint32_t first, next; /* callee, by name; callee of the same caller; STACKS_NONE: none */
    uint32_t frame;       /* of the stacks; STACKS_NONE: the root, or a comm */
    uint32_t name;        /* text id */
    uint32_t depth;
    uint64_t self, total;
    uint64_t base_total; /* with options.compares: of the other recording; first its self */
};

/* [0] is the root; callers come before their callees. */
struct flame_tree {
    VEC(struct flame_node) nodes;
    uint32_t deepest;
};

/* False: out of memory. Freed with flame_tree_fini in any case. */
bool flame_tree_make(struct flame_tree *t, const struct stacks *s, const struct export_options *o,
                     struct err *err);
void flame_tree_fini(struct flame_tree *t);

#endif
