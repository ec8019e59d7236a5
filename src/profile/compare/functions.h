/* SPDX-License-Identifier: Apache-2.0 */
/* Compared rows by the names that stacks (stacks/stacks.h) give to the same functions. */
#ifndef SONDE_PROFILE_COMPARE_FUNCTIONS_H
#define SONDE_PROFILE_COMPARE_FUNCTIONS_H

#include "profile/compare/compare.h"
#include "stacks/stacks.h"

/* A function of any side: the texts of its frames and of their image (0: none), and its row. */
struct compare_function {
    uint32_t name, dso, row;
};

struct compare_functions {
    VEC(struct compare_function) list; /* each name and object once */
};

/* Lists the functions of all rows that `s` has texts of. The rows' keys are objects and symbols. `out`
 * zeroed; its list is the caller's in any case. False: out of memory. */
bool compare_functions_find(const struct compare *c, const struct compare_side *sides, const struct stacks *s,
                            struct compare_functions *out);

#endif
