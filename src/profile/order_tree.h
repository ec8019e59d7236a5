/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A red-black tree (Guibas, Sedgewick 1978, as in every textbook) over the numbers 1 ... n, 0 being no node.
 * The caller finds the place of a new node itself, so that it can do that as quickly as its comparison
 * allows; what is here keeps the tree balanced as perf's is. That matters where perf's comparison is no
 * order: then where something ends up depends on what it is compared with, which is what stands on the way
 * down.
 *
 *        4            uint32_t at = t.root, parent = 0;
 *      /   \          while (at) {
 *     2     5             parent = at;
 *    / \                  side = new does not come before at;
 *   1   3                 at = t.nodes[at].below[side];
 *                     }
 *                     order_tree_attach(&t, new, parent, side);
 *
 * In order: whatever the numbers are, what stands left of a node comes before it.
 */
#ifndef SONDE_PROFILE_ORDER_TREE_H
#define SONDE_PROFILE_ORDER_TREE_H

#include <stdbool.h>
#include <stdint.h>

struct order_tree_node {
    uint32_t below[2]; /* before, behind it */
    uint32_t up;       /* the parent << 1 | whether the node is red */
    uint32_t note;     /* the caller's */
};

struct order_tree {
    struct order_tree_node *nodes; /* [n + 1]; [0] is black, and its note 0 */
    uint32_t root;
    bool turned; /* a node with a note was turned since the caller looked: what lies below it is another */
};

static inline uint32_t order_tree_parent(const struct order_tree *t, uint32_t at) {
    return t->nodes[at].up >> 1;
}

static inline bool order_tree_is_red(const struct order_tree *t, uint32_t at) {
    return t->nodes[at].up & 1;
}

enum { ORDER_TREE_MOST = INT32_MAX - 1 }; /* nodes */

/* An empty tree with room for the nodes 1 ... n, which are the caller's to use until they are attached.
 * False: memory, or too many. */
bool order_tree_init(struct order_tree *t, uint32_t n);
void order_tree_fini(struct order_tree *t);
/* Empty again: the nodes are the caller's as at first. */
void order_tree_clear(struct order_tree *t);
/* Makes `node` a leaf below `parent` (0: the root), where there is none yet. The note is kept: the
 * caller sets it before. How many levels above it a node stood that was turned; 0: none was. */
uint32_t order_tree_attach(struct order_tree *t, uint32_t node, uint32_t parent, bool side);
/* The node that stands next before or (side) behind a node; 0: none. */
uint32_t order_tree_beside(const struct order_tree *t, uint32_t at, bool side);
/* The nodes in order, as numbers from 0; order holds as many as there are. */
void order_tree_list(const struct order_tree *t, uint32_t *order);

#endif
