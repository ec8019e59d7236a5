/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/order_tree.h"

#include <stdlib.h>

void order_tree_clear(struct order_tree *t) {
    t->root = 0;
    t->turned = false;
}

bool order_tree_init(struct order_tree *t, uint32_t n) {
    order_tree_clear(t);
    t->nodes = n > ORDER_TREE_MOST ? NULL : malloc(((size_t)n + 1) * sizeof *t->nodes);
    if (t->nodes)
        t->nodes[0] = (struct order_tree_node){.note = 0};
    return t->nodes;
}

void order_tree_fini(struct order_tree *t) {
    free(t->nodes);
    t->nodes = NULL;
}

/* Puts `top` where `grand` is, below `above`. */
static void hang(struct order_tree *t, uint32_t top, uint32_t grand, uint32_t above) {
    struct order_tree_node *n = t->nodes;
    n[top].up = above << 1;
    if (above)
        n[above].below[n[above].below[1] == grand] = top;
    else
        t->root = top;
}

/* What lies below `from` is to lie below `to`; both sides that it may have there are its own, and it is
 * black, or nothing. */
static inline void move(struct order_tree_node *n, uint32_t what, uint32_t to, bool side) {
    n[to].below[side] = what;
    n[what].up = to << 1;
}

/* The node and its parent are red. As order_tree_attach. What is written of node 0 is what it has, or of no
 * meaning. */
static __attribute__((noinline)) uint32_t balance(struct order_tree *t, uint32_t at) {
    struct order_tree_node *n = t->nodes;
    uint32_t up = 2;
    for (uint32_t parent = n[at].up >> 1;; up += 2) {
        uint32_t grand = n[parent].up >> 1, above = n[grand].up >> 1;
        bool side = n[grand].below[1] == parent;
        uint32_t uncle = n[grand].below[!side];
        if (n[uncle].up & 1) { /* both grow black, and that above them red */
            n[parent].up = n[uncle].up = grand << 1;
            n[grand].up |= above != 0;
            if (!(n[above].up & 1))
                return 0;
            at = grand;
            parent = above;
            continue;
        }
        t->turned |= n[at].note | n[parent].note | n[grand].note;
        if (n[parent].below[side] == at) { /* the parent goes up */
            move(n, n[parent].below[!side], grand, side);
            n[parent].below[!side] = grand;
            n[grand].up = parent << 1 | 1;
            hang(t, parent, grand, above);
        } else { /* the node goes up between the two */
            move(n, n[at].below[side], parent, !side);
            move(n, n[at].below[!side], grand, side);
            n[at].below[side] = parent;
            n[at].below[!side] = grand;
            n[parent].up = n[grand].up = at << 1 | 1;
            hang(t, at, grand, above);
        }
        return up;
    }
}

uint32_t order_tree_attach(struct order_tree *t, uint32_t node, uint32_t parent, bool side) {
    struct order_tree_node *n = &t->nodes[node], *up = &t->nodes[parent];
    n->below[0] = n->below[1] = 0;
    n->up = parent << 1 | (parent != 0);
    if (parent)
        up->below[side] = node;
    else
        t->root = node;
    return up->up & 1 ? balance(t, node) : 0;
}

uint32_t order_tree_beside(const struct order_tree *t, uint32_t at, bool side) {
    const struct order_tree_node *n = t->nodes;
    uint32_t next = n[at].below[side];
    if (next) {
        while (n[next].below[!side])
            next = n[next].below[!side];
        return next;
    }
    for (next = n[at].up >> 1; next && n[next].below[side] == at; next = n[at].up >> 1)
        at = next;
    return next;
}

void order_tree_list(const struct order_tree *t, uint32_t *order) {
    uint32_t above[2 * 32], depth = 0; /* no node is deeper than twice the logarithm of how many there are */
    for (uint32_t at = t->root, count = 0; at || depth;) {
        for (; at; at = t->nodes[at].below[0])
            above[depth++] = at;
        at = above[--depth];
        order[count++] = at - 1;
        at = t->nodes[at].below[1];
    }
}
