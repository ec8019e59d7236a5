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

/* Whether the byte before `address`, which is where `hit` says, may be another mapping's: else it is the same
 * one's. Mappings of files begin with a page, and the kernel's text is not cut. */
static inline bool resolve_callers_at_edge(const struct model *m, const struct model_hit *hit,
                                           uint64_t address) {
    enum { PAGE_MASK = 0xfff };
    if (!(address & PAGE_MASK) || hit->mapping == MODEL_NONE)
        return true;
    unsigned kind = model_image(m, hit->image)->kind;
    bool whole = kind == MODEL_IMAGE_FILE || kind == MODEL_IMAGE_KERNEL || kind == MODEL_IMAGE_MODULE;
    return !whole || address == model_mapping(m, hit->mapping).start;
}

/*
 * `hit` (which may be of nothing) is where a return address lies, `prior` where the byte before it does: sets
 * hit->back if both are one mapping's, and takes `prior` for code that ends with its mapping. Memory without
 * a file counts as one: each function that a JIT made may be a mapping.
 */
void resolve_callers_join(const struct model *m, struct model_hit *hit, const struct model_hit *prior);

/* The symbol of the call that returns to hit->offset, hit->back being 1; it is set to 0 where nothing was
 * called: signal handlers and the like return to the first instruction of code that they know. */
uint32_t resolve_callers_symbol(const struct symbol_table *t, struct model_hit *hit);

#endif
