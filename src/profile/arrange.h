/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of rows where numbers decide every comparison, which is the usual case.
 *
 *   rows as samples made them
 *     -> by keys       perf puts them into a tree, twice: of two places without a name that differ by 2^63 or
 *                      more, which comes first depends on the tree
 *     -> by shares     perf puts those, one after the other, into a third tree: of two rows with equal shares
 *                      and of one thread the one with the longer callchain comes first, which is no order
 * either
 *
 * Both trees are built as perf builds them (order_tree.h). But nearly all of the comparisons follow an order,
 * so that rows are sorted by that one first, and trees are over the ranks in it: only where two rows are
 * marked is anything else than ranks compared.
 */
#ifndef SONDE_PROFILE_ARRANGE_H
#define SONDE_PROFILE_ARRANGE_H

#include <stdbool.h>
#include <stdint.h>

struct arrange_item {
    uint64_t first, second; /* shares; more comes first */
    uint64_t keys, shown;   /* the keys as they are told apart, as they are sorted in the end */
    uint64_t place;         /* the address of what has no name, else 0 */
    uint64_t made_ns;       /* when the first sample came that made the row */
    uint32_t thread;        /* of that sample */
    uint16_t turn;          /* of what that sample made: which one it was */
    uint16_t depth;         /* of the longest callchain */
};

struct arrange_options {
    bool depths;  /* the length of callchains decides between rows of a thread with equal first shares */
    bool shorter; /* the shorter one comes first, else the longer one */
};

/* order[i]: the index of the item that comes i-th. False: memory. */
bool profile_arrange(const struct arrange_item *items, uint32_t n, struct arrange_options o, uint32_t *order);

#endif
