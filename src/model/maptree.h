/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Address spaces as persistent balanced trees: all versions of all spaces
 * are in one pool of nodes and share what they have in common. A fork costs
 * nothing (the child starts with the parent's root), a map event O(log n) new
 * nodes, whatever it overlaps; old roots stay valid for ever.
 *
 *   address   0x1000          0x3000          0x6000
 *   space     |---- A --------|--- B ---|     |--- A ----|
 *   nodes     (0x1000, A)     (0x3000, B)     (0x6000, A)      B was mapped into the middle of A
 *
 *        root before        B (0x3000)  root after: two new nodes, and no node of the old version touched
 *         A(0x1000)         /      \
 *                   A(0x1000)'    A(0x6000)
 *
 * A node is only (start, mapping). Its piece reaches to the next node's start or to its mapping's last
 * address, whichever comes first: so cutting the tail off a piece costs nothing, and a hole needs no node.
 *
 * An AVL tree with join and split as its only operations (Blelloch, Ferizovic, Sun: "Just Join for Parallel
 * Ordered Sets", SPAA 2016). Recursion is as deep as the tree is high: at most 42 for 2^29 nodes.
 */
#ifndef SONDE_MODEL_MAPTREE_H
#define SONDE_MODEL_MAPTREE_H

#include "model/mapping.h"

/* 20 bytes. The children's ids (0: none) leave three bits each, which contain the node's height. */
struct maptree_node {
    uint64_t start;
    uint32_t mapping;
    uint32_t left, right;
} __attribute__((packed, aligned(4)));

struct maptree {
    VEC(struct maptree_node) nodes; /* [0] is not used */
    uint32_t fresh; /* nodes from here on belong to the version being built, and are changed in place */
    bool failed;    /* sticky: memory or ids ran out */
};

void maptree_fini(struct maptree *t);

/* Starts a new version: nodes that exist now will not change any more. */
void maptree_begin(struct maptree *t);

/*
 * The version `root` (0: empty) with `mapping` put over what lay there. Of results since the last
 * maptree_begin only the newest may be built upon. If t->failed is set afterwards, the result is worthless;
 * versions from before maptree_begin stay valid.
 */
uint32_t maptree_map(struct maptree *t, const struct mapping_table *mappings, uint32_t root,
                     uint32_t mapping);

/* The mapping that covers the address, or MODEL_NONE. */
uint32_t maptree_find(const struct maptree *t, const struct mapping_table *mappings, uint32_t root,
                      uint64_t address);

/* The same; *piece becomes the range of all addresses around this one with the same result. */
uint32_t maptree_find_piece(const struct maptree *t, const struct mapping_table *mappings, uint32_t root,
                            uint64_t address, struct model_piece *piece);

/* Appends the version's pieces, ascending. False: out of memory. */
bool maptree_pieces(const struct maptree *t, const struct mapping_table *mappings, uint32_t root,
                    struct model_pieces *out);

/* Copies the tree at `root` into `to` and returns its root there; check to->failed. copied[id in t] (zeroed
 * at first, one per node) is the copy's id, so that shared parts stay shared. */
uint32_t maptree_copy(const struct maptree *t, uint32_t root, struct maptree *to, uint32_t *copied);

#endif
