/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Return addresses. All addresses of a callchain but the first of each context are return addresses: the call
 * lies before them, and a call that never returns can be its function's last instruction, so that the address
 * already belongs to the next function.
 *
 *   f:  ...                         chain:  abort+0x12      exact: the first of its context
 *       call abort                          f+0x2c          back = 1: the byte before is f's
 *   g:  push rbp   <- returned to
 *
 * What an exception or a signal interrupted is exact as well: the frame directly outside of code that the
 * processor entered by itself, that a signal handler returns to, or that a handler made the program call.
 */
#ifndef SONDE_RESOLVE_CALLERS_H
#define SONDE_RESOLVE_CALLERS_H

#include "model/model.h"
#include "symbol/table.h"

/* Whether the frame directly outside of this function (NULL is allowed) holds an exact address. */
bool resolve_callers_is_entry(const char *function, enum model_space space);

/* Finds where an exact address lies, in the space that `ctx` stands for. */
typedef bool resolve_callers_find_fn(void *ctx, uint64_t address, struct model_hit *hit);

/*
 * Finds the call that returns to `address`. `hit` is where the address lies; hit->back is set if the byte
 * before it is in the same mapping. An address directly after a mapping's end counts as that mapping's.
 * Memory without a file counts as one mapping: each function of a JIT may have its own. Nothing lies before
 * address 0, where many chains end.
 */
void resolve_callers_find(const struct model *m, resolve_callers_find_fn *find, void *ctx, uint64_t address,
                          struct model_hit *hit);

/* The symbol of the call that returns to hit->offset; hit->back is 1, and is set to 0 where there was no
 * call: signal handlers and the like return to a function's first instruction. */
uint32_t resolve_callers_symbol(const struct symbol_table *t, struct model_hit *hit);

#endif
