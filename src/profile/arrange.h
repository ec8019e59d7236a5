/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of rows where numbers decide every comparison, which is the usual case.
 *
 *   rows as samples made them
 *     -> by keys       perf puts them into a tree, twice: of two places without a name that differ by 2^63 or
 *                      more, which comes first depends on the tree
 *     -> by shares     perf puts those, one after the other, into a third tree: of two rows with equal shares
 *                      and of one thread the one with the longer callchain comes first, which is no order
 *                      either
 *
 * Those trees are built as perf builds them (order_tree.h). But nearly all of the comparisons follow an
 * order, so that rows are sorted by that one first and a node of a tree is known by its rank in it. What a
 * row takes for less than itself is then all ranks below its own, but for a *hole*: those that its address
 * wraps around to.
 *
 *   addresses of equal keys    -2^63+1  -5  3  2^62  2^63-1
 *   ranks                         0      1  2   3      4
 *   less than the last one                  x   x             hole: 0 and 1, which are 2^63 away or more
 */
#ifndef SONDE_PROFILE_ARRANGE_H
#define SONDE_PROFILE_ARRANGE_H

#include <stdbool.h>
#include <stdint.h>

enum arrange_number {
    ARRANGE_FIRST, /* shares; more comes first */
    ARRANGE_SECOND,
    ARRANGE_KEYS,  /* the keys as they are told apart, */
    ARRANGE_SHOWN, /* and as they are sorted in the end */
    ARRANGE_PLACE, /* the address of what has no name, else 0 */
    ARRANGE_MADE,  /* when the first sample came that made the row, in nanoseconds */
    ARRANGE_TURN,  /* of what that sample made: which one it was; below 2^16 */
    ARRANGE_CHAIN  /* that sample's thread << 16 | the depth of the row's longest callchain */
};

/* Fills in a number of each of the items [from, from + count): numbers[0] is that of `from`. */
typedef void arrange_fill_fn(const void *ctx, enum arrange_number which, uint32_t from, uint32_t count,
                             uint64_t *numbers);

struct arrange_options {
    uint32_t n;            /* items */
    arrange_fill_fn *fill; /* from two threads at once */
    const void *ctx;
    bool depths;  /* the length of callchains decides between rows of a thread with equal first shares */
    bool shorter; /* the shorter one comes first, else the longer one */
};

/*
 * Two halves, which may run on two threads at once, or on one in this order:
 *
 *   arrange_shares()   places  when items were made  their shares, which tell most of them apart
 *                        |             |                               |
 *   arrange_items()    keys -> two trees by keys ------------------> third tree
 *
 * The second one waits for the first where it needs it: who runs it sees to it that the first one has begun,
 * or it waits for ever.
 */
struct arrange;

/* In the end order[i] is the item that comes i-th. NULL: memory. */
struct arrange *arrange_new(const struct arrange_options *o, uint32_t *order);
void arrange_free(struct arrange *a); /* NULL is allowed */
/* False: memory. */
bool arrange_shares(struct arrange *a);
bool arrange_items(struct arrange *a);

#endif
