/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What functions cost, by line: in themselves, and what calls of them cost. The command is a function that
 * calls the outermost one of each stack. The costs of all calls of a function are its total, where a sample
 * counts once however often the function stands in its stack: it is the outermost call that costs something.
 *
 *   cmd main f g f h     cmd calls main, main f, f g, f h: all cost the same; g's call of f nothing
 */
#ifndef SONDE_VIEW_EXPORT_CALL_COSTS_H
#define SONDE_VIEW_EXPORT_CALL_COSTS_H

#include "view/export/export.h"

/* As image: the function is a command. */
enum { CALL_COMMAND = STACKS_NONE - 1 };

struct call_function {
    uint32_t image, name; /* that make it one function; image: STACKS_NONE: none */
    uint32_t file, line;  /* of the first of its frames that has a source */
};

struct call_cost {
    uint32_t function, file, line; /* what costs */
    uint32_t callee;               /* by calling this function; STACKS_NONE: in itself */
};

/* Zeroed at first. */
struct call_costs {
    VEC(struct call_function) functions;
    VEC(struct call_cost) list;
    VEC(uint64_t) samples; /* [item of the list * events + event] */
    VEC(uint64_t) periods;
    uint32_t events; /* of the stacks */
};

/* False: out of memory. Freed with call_costs_fini in any case. */
bool call_costs_make(struct call_costs *c, const struct stacks *s, struct err *err);
void call_costs_fini(struct call_costs *c);

#endif
