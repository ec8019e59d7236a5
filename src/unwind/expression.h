/* SPDX-License-Identifier: Apache-2.0 */
/* DWARF expressions, as far as unwind tables have them (DWARF 5, 2.5 and 6.4.2). */
#ifndef SONDE_UNWIND_EXPRESSION_H
#define SONDE_UNWIND_EXPRESSION_H

#include "unwind/step.h"

/* Evaluates `e`; `first` (may be NULL) is on the stack at the start. UNWIND_CALLER: *out is the top of the
 * stack; else what went wrong: memory outside of the dump, a register that is not known, or senseless. Never
 * more than a thousand operations. */
enum unwind_result unwind_expression(const struct unwind_place *place, const struct unwind_regs *regs,
                                     struct bytes e, const uint64_t *first, uint64_t *out);

#endif
