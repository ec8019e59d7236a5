/* SPDX-License-Identifier: Apache-2.0 */
/* Cells of compared basic blocks (profile/compare/blocks.h), in the layout of perf diff -c cycles. */
#ifndef SONDE_VIEW_DIFF_DIFF_BLOCK_H
#define SONDE_VIEW_DIFF_DIFF_BLOCK_H

#include "base/text/out.h"
#include "profile/compare/blocks.h"

/* Prints "[mix+4 -> mix+16]   12", right-aligned in `width`; blanks if b is NULL. separator: as in struct
 * diff_view. */
void diff_block_print(const struct compare_block *b, unsigned width, const char *separator, struct out *out);

/* Prints how much the single measurements differ by, "± 12.5% ▁▄█", left-aligned. */
void diff_block_print_values(const struct compare_block *b, unsigned width, struct out *out);

#endif
