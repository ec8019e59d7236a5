/* SPDX-License-Identifier: Apache-2.0 */
#include "model/maptree.h"

enum { ID_BITS = 29, HEIGHT_LOW_BITS = 3, HEIGHT_MAX = 64 };
#define ID_MASK ((1u << ID_BITS) - 1)

static uint32_t left_of(const struct maptree *t, uint32_t n) {
    return t->nodes.items[n].left & ID_MASK;
}

static uint32_t right_of(const struct maptree *t, uint32_t n) {
    return t->nodes.items[n].right & ID_MASK;
}

static unsigned height_of(const struct maptree *t, uint32_t n) {
    if (!n)
        return 0;
    const struct maptree_node *node = &t->nodes.items[n];
    return node->left >> ID_BITS | node->right >> ID_BITS << HEIGHT_LOW_BITS;
}

void maptree_fini(struct maptree *t) {
    vec_fini(&t->nodes);
    *t = (struct maptree){0};
}

void maptree_begin(struct maptree *t) {
    t->fresh = (uint32_t)t->nodes.count;
}

static uint32_t new_node(struct maptree *t, uint64_t start, uint32_t mapping) {
    if (!t->nodes.count && !vec_push(&t->nodes)) /* id 0 is the empty tree */
        t->failed = true;
    struct maptree_node *node = !t->failed && t->nodes.count <= ID_MASK ? vec_push(&t->nodes) : NULL;
    if (!node) {
        t->failed = true;
        return 0;
    }
    node->start = start;
    node->mapping = mapping;
    return (uint32_t)(t->nodes.count - 1);
}

/* Gives node n these children: in place if it belongs to this version, else in a copy. Returns the node. */
static uint32_t with_children(struct maptree *t, uint32_t n, uint32_t left, uint32_t right) {
    if (n < t->fresh)
        n = new_node(t, t->nodes.items[n].start, t->nodes.items[n].mapping);
    if (t->failed)
        return 0;
    unsigned hl = height_of(t, left), hr = height_of(t, right), height = 1 + (hl > hr ? hl : hr);
    struct maptree_node *node = &t->nodes.items[n];
    node->left = left | height << ID_BITS;
    node->right = right | height >> HEIGHT_LOW_BITS << ID_BITS;
    return n;
}

/* As with_children, for children whose heights may differ by two: rotates if need be. */
static uint32_t balanced(struct maptree *t, uint32_t n, uint32_t left, uint32_t right) {
    if (t->failed)
        return 0;
    if (height_of(t, left) > height_of(t, right) + 1) {
        uint32_t outer = left_of(t, left), inner = right_of(t, left);
        if (height_of(t, outer) >= height_of(t, inner))
            return with_children(t, left, outer, with_children(t, n, inner, right));
        uint32_t a = left_of(t, inner), b = right_of(t, inner);
        uint32_t new_left = with_children(t, left, outer, a), new_right = with_children(t, n, b, right);
        return with_children(t, inner, new_left, new_right);
    }
    if (height_of(t, right) > height_of(t, left) + 1) {
        uint32_t inner = left_of(t, right), outer = right_of(t, right);
        if (height_of(t, outer) >= height_of(t, inner))
            return with_children(t, right, with_children(t, n, left, inner), outer);
        uint32_t a = left_of(t, inner), b = right_of(t, inner);
        uint32_t new_left = with_children(t, n, left, a), new_right = with_children(t, right, b, outer);
        return with_children(t, inner, new_left, new_right);
    }
    return with_children(t, n, left, right);
}

/* Joins all of `left`, n, and all of `right`, in this order. */
static uint32_t join(struct maptree *t, uint32_t left, uint32_t n, uint32_t right) {
    if (t->failed)
        return 0;
    unsigned hl = height_of(t, left), hr = height_of(t, right);
    if (hl > hr + 1) {
        uint32_t outer = left_of(t, left), joined = join(t, right_of(t, left), n, right);
        return balanced(t, left, outer, joined);
    }
    if (hr > hl + 1) {
        uint32_t outer = right_of(t, right), joined = join(t, left, n, left_of(t, right));
        return balanced(t, right, joined, outer);
    }
    return with_children(t, n, left, right);
}

/* Splits a tree into the nodes that start before `address`, and the others. */
static void split(struct maptree *t, uint32_t n, uint64_t address, uint32_t *before, uint32_t *rest) {
    *before = *rest = 0;
    if (!n || t->failed)
        return;
    uint32_t left = left_of(t, n), right = right_of(t, n), part;
    if (t->nodes.items[n].start < address) {
        split(t, right, address, &part, rest);
        *before = join(t, left, n, part);
    } else {
        split(t, left, address, before, &part);
        *rest = join(t, part, n, right);
    }
}

/* The last node that starts at or before the address; 0: none. */
static uint32_t floor_node(const struct maptree *t, uint32_t n, uint64_t address) {
    uint32_t best = 0;
    while (n) {
        const struct maptree_node *node = &t->nodes.items[n];
        bool below = node->start <= address;
        best = below ? n : best;
        n = (below ? node->right : node->left) & ID_MASK;
    }
    return best;
}

uint32_t maptree_find(const struct maptree *t, const struct mapping_table *mappings, uint32_t root,
                      uint64_t address) {
    uint32_t n = floor_node(t, root, address);
    if (!n)
        return MODEL_NONE;
    uint32_t mapping = t->nodes.items[n].mapping;
    return address <= mapping_last(mappings, mapping) ? mapping : MODEL_NONE;
}

uint32_t maptree_find_piece(const struct maptree *t, const struct mapping_table *mappings, uint32_t root,
                            uint64_t address, struct model_piece *piece) {
    uint32_t best = 0;
    *piece = (struct model_piece){0, UINT64_MAX, MODEL_NONE};
    for (uint32_t n = root; n;) {
        const struct maptree_node *node = &t->nodes.items[n];
        bool below = node->start <= address;
        best = below ? n : best;
        piece->last = below ? piece->last : node->start - 1;
        n = (below ? node->right : node->left) & ID_MASK;
    }
    if (!best)
        return MODEL_NONE;
    uint64_t end = mapping_last(mappings, t->nodes.items[best].mapping);
    if (address > end) {
        piece->start = end + 1;
        return MODEL_NONE;
    }
    piece->start = t->nodes.items[best].start;
    piece->last = end < piece->last ? end : piece->last;
    return piece->mapping = t->nodes.items[best].mapping;
}

uint32_t maptree_map(struct maptree *t, const struct mapping_table *mappings, uint32_t root,
                     uint32_t mapping) {
    uint64_t start = mapping_start(mappings, mapping), last = mapping_last(mappings, mapping);
    uint32_t behind = 0; /* a node for the rest of a piece that starts before `last` and reaches beyond */
    if (last < UINT64_MAX) {
        uint32_t beyond = maptree_find(t, mappings, root, last + 1);
        uint32_t n = beyond == MODEL_NONE ? 0 : floor_node(t, root, last + 1);
        if (n && t->nodes.items[n].start <= last)
            behind = new_node(t, last + 1, beyond);
    }
    uint32_t before, rest, covered, after = 0;
    split(t, root, start, &before, &rest);
    if (last < UINT64_MAX)
        split(t, rest, last + 1, &covered, &after);
    if (behind)
        after = join(t, 0, behind, after);
    return join(t, before, new_node(t, start, mapping), after);
}

bool maptree_pieces(const struct maptree *t, const struct mapping_table *mappings, uint32_t root,
                    struct model_pieces *out) {
    uint32_t stack[HEIGHT_MAX];
    unsigned depth = 0;
    size_t first = out->list.count;
    for (uint32_t n = root; n || depth; n = right_of(t, n)) {
        for (; n; n = left_of(t, n))
            stack[depth++] = n;
        n = stack[--depth];
        const struct maptree_node *node = &t->nodes.items[n];
        if (out->list.count > first) {
            struct model_piece *previous = &out->list.items[out->list.count - 1];
            previous->last = previous->last < node->start ? previous->last : node->start - 1;
        }
        struct model_piece *piece = vec_push(&out->list);
        if (!piece)
            return false;
        *piece = (struct model_piece){node->start, mapping_last(mappings, node->mapping), node->mapping};
    }
    return true;
}

uint32_t maptree_copy(const struct maptree *t, uint32_t root, struct maptree *to, uint32_t *copied) {
    if (!root || copied[root])
        return root ? copied[root] : 0;
    uint32_t left = maptree_copy(t, left_of(t, root), to, copied);
    uint32_t right = maptree_copy(t, right_of(t, root), to, copied);
    uint32_t n = new_node(to, t->nodes.items[root].start, t->nodes.items[root].mapping);
    return copied[root] = with_children(to, n, left, right);
}
