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
        t->nodes[0].note = 0;
    return t->nodes;
}

void order_tree_fini(struct order_tree *t) {
    free(t->nodes);
    t->nodes = NULL;
}

static void rotate(struct order_tree *t, uint32_t at, bool right) {
    struct order_tree_node *n = t->nodes;
    uint32_t up = n[at].below[!right], inner = n[up].below[right], parent = n[at].parent;
    t->turned |= n[at].note || n[up].note;
    n[at].below[!right] = inner;
    if (inner)
        n[inner].parent = at;
    n[up].below[right] = at;
    n[at].parent = up;
    n[up].parent = parent;
    if (!parent)
        t->root = up;
    else
        n[parent].below[n[parent].below[1] == at] = up;
}

/* The node and its parent are red. */
static __attribute__((noinline)) void balance(struct order_tree *t, uint32_t at) {
    struct order_tree_node *n = t->nodes;
    while (n[at].parent && n[n[at].parent].red) {
        uint32_t parent = n[at].parent, grand = n[parent].parent;
        bool side = n[grand].below[1] == parent;
        uint32_t uncle = n[grand].below[!side];
        if (uncle && n[uncle].red) {
            n[parent].red = n[uncle].red = false;
            n[grand].red = true;
            at = grand;
            continue;
        }
        if (n[parent].below[!side] == at) {
            rotate(t, parent, side);
            at = parent;
            parent = n[at].parent;
        }
        n[parent].red = false;
        n[grand].red = true;
        rotate(t, grand, !side);
    }
    n[t->root].red = false;
}

void order_tree_attach(struct order_tree *t, uint32_t node, uint32_t parent, bool side) {
    struct order_tree_node *n = &t->nodes[node], *up = &t->nodes[parent];
    n->below[0] = n->below[1] = 0;
    n->parent = parent & INT32_MAX;
    n->red = parent != 0;
    if (parent)
        up->below[side] = node;
    else
        t->root = node;
    if (parent && up->red)
        balance(t, node);
}

uint32_t order_tree_beside(const struct order_tree *t, uint32_t at, bool side) {
    const struct order_tree_node *n = t->nodes;
    uint32_t next = n[at].below[side];
    if (next) {
        while (n[next].below[!side])
            next = n[next].below[!side];
        return next;
    }
    for (next = n[at].parent; next && n[next].below[side] == at; next = n[at].parent)
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
