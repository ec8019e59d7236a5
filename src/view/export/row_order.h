/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of an event in the order in which a flame graph shows them. */
#ifndef SONDE_VIEW_EXPORT_ROW_ORDER_H
#define SONDE_VIEW_EXPORT_ROW_ORDER_H

#include "stacks/stacks.h"

/* Returns the numbers of the event's rows, *count of them: by comm, then by place in the tree, a caller
 * before its callees. Freed by the caller. NULL: out of memory. */
uint32_t *row_order(const struct stacks *s, uint32_t event, size_t *count);

#endif
