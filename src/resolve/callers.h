/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Return addresses. All addresses of a callchain but the first of each context are such: what called lies
 * before them, and a call that never returns can be its function's last instruction, so that the address is
 * already the next function's.
 *
 *   f:  ...                         chain:  abort+0x12      exact: the first of its context
 *       call abort                          f+0x2c          back = 1: the byte before is f's
 *   g:  push rbp   <- returned to
 *
 * Exact as well is what an exception or a signal interrupted: the frame directly outside of the code that the
 * processor entered by itself, that a signal handler returns to, or that it lets the program call.
 */
#ifndef SONDE_RESOLVE_CALLERS_H
#define SONDE_RESOLVE_CALLERS_H

#include "model/model.h"
#include "symbol/table.h"

/* Whether frames directly outside of this function (NULL is allowed) hold exact addresses. */
bool resolve_callers_is_entry(const char *function, enum model_space space);

/* Where an exact address lies, in the space that `ctx` means. */
typedef bool resolve_callers_find_fn(void *ctx, uint64_t address, struct model_hit *hit);

/*
 * Where the call is that returns to `address`. `hit` is where that lies; hit->back is set if the byte before
 * it is the same mapping's, and code that ends with its mapping is taken for that mapping's. Memory without a
 * file counts as one: each function that a JIT made may be a mapping. Nothing lies before address 0, where
 * many chains end.
 */
void resolve_callers_find(const struct model *m, resolve_callers_find_fn *find, void *ctx, uint64_t address,
                          struct model_hit *hit);

/* The symbol of the call that returns to hit->offset, hit->back being 1; it is set to 0 where nothing was
 * called: signal handlers and the like return to the first instruction of code that they know. */
uint32_t resolve_callers_symbol(const struct symbol_table *t, struct model_hit *hit);

#endif
