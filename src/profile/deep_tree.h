/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf's third tree (arrange.h): its nodes are known by their ranks, but of two whose notes differ in the
 * bits of a depth alone the one with the smaller note comes first.
 */
#ifndef SONDE_PROFILE_DEEP_TREE_H
#define SONDE_PROFILE_DEEP_TREE_H

#include <stdint.h>

#include "profile/order_tree.h"

/* Puts the ranks in `order`, one after the other, into a tree (a rank's node is rank + 1, and has its note)
 * and takes them out in that of the tree. `depth_mask`: 2^n - 1; notes that are not 0 are larger. */
void deep_tree_sort(struct order_tree *t, uint32_t depth_mask, uint32_t *order, uint32_t n);

#endif
