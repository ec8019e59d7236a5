/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A way down is long, and at each node it waits for what the one before it tells. But rows that come after
 * each other go nearly the same way. So the last ways are kept with all that comparisons ask for: what a row
 * does at the nodes of such a way is found for several of them at once, and only where it leaves the way it
 * goes on from node to node.
 *
 *   way kept   10 > 20 < 15 > 17        row 16: as 15 is still there it goes on behind it, where 17 is,
 *   row 16        >    <    >    <      and finds its place before that
 *   row 12        >    <    <           leaves the way before 15
 *
 * Ways stay true: where nodes are turned, those that lead through them end above from then on. Which way is
 * taken changes nothing but the time.
 */
#include "profile/deep_tree.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/hot.h"
#include "base/prefetch.h"

enum { AHEAD = 16 };

/* No node is deeper than twice the logarithm of how many there are; and one is behind the end. */
enum { WAY_MAX = 2 * 32, WAY_BITS = 4, WAYS = 1 << WAY_BITS, AT_ONCE = 8 };

/* Several ways at once. */
enum { EIGHT = 8 };
typedef uint32_t eight __attribute__((vector_size(4 * EIGHT), aligned(4), may_alias));

/* By level, the root's first. */
struct way {
    uint32_t nodes[WAY_MAX];
    uint32_t notes[WAY_MAX]; /* with the highest bit flipped: in order as signed numbers */
    uint32_t sides[WAY_MAX]; /* where it goes on: before the node (0) or behind it (all bits) */
};

struct ways {
    struct way list[WAYS];
    uint32_t levels[WAYS];      /* so many nodes of each are known, */
    uint32_t at[WAY_MAX][WAYS]; /* and which they are, level by level */
};

/* A node on its way down. */
struct row {
    uint32_t node, note, depth_mask;
};

static const uint32_t top_bit = 1u << 31;

/* Which side of another node it goes to: true, behind it. */
static inline bool side_of(struct row r, uint32_t other, uint32_t other_note) {
    if (__builtin_expect((other_note ^ r.note) - 1 < r.depth_mask, 0))
        return other_note < r.note;
    return other < r.node;
}

/* Bit by bit whether it leaves a way at the levels [k, k + AT_ONCE). */
#ifdef __SSE2__
static inline __m128i leaves_at_four(const struct way *w, uint32_t k, struct row r) {
    const __m128i node = _mm_set1_epi32((int)r.node), note = _mm_set1_epi32((int)(r.note ^ top_bit)),
                  class = _mm_set1_epi32((int)~r.depth_mask), none = _mm_setzero_si128();
    __m128i other = _mm_loadu_si128((const __m128i *)&w->nodes[k]),
            other_note = _mm_loadu_si128((const __m128i *)&w->notes[k]),
            side = _mm_loadu_si128((const __m128i *)&w->sides[k]);
    __m128i differs = _mm_xor_si128(other_note, note),
            by_note = _mm_andnot_si128(_mm_cmpeq_epi32(differs, none),
                                       _mm_cmpeq_epi32(_mm_and_si128(differs, class), none));
    return _mm_xor_si128(side, _mm_or_si128(_mm_and_si128(by_note, _mm_cmplt_epi32(other_note, note)),
                                            _mm_andnot_si128(by_note, _mm_cmplt_epi32(other, node))));
}

static inline uint32_t leaves_at(const struct way *w, uint32_t k, struct row r) {
    __m128i leaves = _mm_packs_epi32(leaves_at_four(w, k, r), leaves_at_four(w, k + 4, r));
    return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(leaves, _mm_setzero_si128()));
}
#else
static inline uint32_t leaves_at(const struct way *w, uint32_t k, struct row r) {
    uint32_t leaves = 0;
    for (uint32_t i = 0; i < AT_ONCE; i++)
        leaves |= (uint32_t)(side_of(r, w->nodes[k + i], w->notes[k + i] ^ top_bit) != (w->sides[k + i] & 1))
                  << i;
    return leaves;
}
#endif

/* The level at which it leaves a way, or that of the way's end. */
static inline uint32_t level_left(const struct way *w, uint32_t levels, struct row r) {
    for (uint32_t k = 0; k < levels; k += AT_ONCE) {
        uint32_t leaves = leaves_at(w, k, r);
        if (leaves) {
            k += (uint32_t)__builtin_ctz(leaves);
            return k < levels ? k : levels;
        }
    }
    return levels;
}

static inline void put(struct ways *x, uint32_t way, uint32_t k, uint32_t node, uint32_t note, bool side) {
    struct way *w = &x->list[way];
    w->nodes[k] = node;
    w->notes[k] = note ^ top_bit;
    w->sides[k] = -(uint32_t)side;
    x->at[k][way] = node;
}

/* Makes the way that of a row, as far as there are nodes; the level behind them. */
static inline uint32_t go_down(const struct order_tree *t, struct ways *x, uint32_t way, struct row r) {
    struct way *w = &x->list[way];
    uint32_t k = level_left(w, x->levels[way], r), at = t->root;
    if (k < x->levels[way]) {
        w->sides[k] = ~w->sides[k];
        k++;
    }
    if (k)
        at = t->nodes[w->nodes[k - 1]].below[w->sides[k - 1] & 1];
    while (at) {
        const struct order_tree_node *other = &t->nodes[at];
        bool side = side_of(r, at, other->note);
        put(x, way, k++, at, other->note, side);
        at = other->below[side];
    }
    return k;
}

/* What was below a node that stood there is another. */
static inline void end_ways(struct ways *x, uint32_t level, uint32_t node) {
    for (uint32_t i = 0; i < WAYS; i += EIGHT) {
        eight *levels = (eight *)&x->levels[i], *at = (eight *)&x->at[level][i];
        eight ends = (eight)((*at == node) & (*levels > level));
        *levels = (ends & level) | (~ends & *levels);
    }
}

HOT void deep_tree_sort(struct order_tree *t, uint32_t depth_mask, uint32_t *order, uint32_t n) {
    struct ways x = {.levels = {0}};
    order_tree_clear(t);
    for (uint32_t i = 0; i < n; i++) {
        if (i + AHEAD < n)
            prefetch(&t->nodes[order[i + AHEAD] + 1]);
        struct row r = {order[i] + 1, t->nodes[order[i] + 1].note, depth_mask};
        uint32_t way = r.note * 0x9e3779b1u >> (32 - WAY_BITS), k = go_down(t, &x, way, r);
        const struct way *w = &x.list[way];
        uint32_t turned = order_tree_attach(t, r.node, k ? w->nodes[k - 1] : 0, k && w->sides[k - 1]);
        put(&x, way, k, r.node, r.note, true); /* the next one mostly goes behind it */
        x.levels[way] = k + 1;
        if (turned)
            end_ways(&x, k - turned, w->nodes[k - turned]);
    }
    order_tree_list(t, order);
}
