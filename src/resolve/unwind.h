/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The callers of samples whose stack was dumped (PERF_SAMPLE_REGS_USER and PERF_SAMPLE_STACK_USER): the join
 * of the model (what lies at an address), the images' unwind tables and src/unwind. resolve/chain.h puts them
 * outside of the recorded callchain, which is the kernel's.
 *
 *   sample: registers, stack      addresses: u0 u1 u2
 *
 * u0 is exact, the others lie in the call that they return from: one byte before the return address, as perf
 * has them; what a signal interrupted is exact, and so is what its handler returns to.
 *
 * Only files that may be used for names are used for this (symbol/store.h), so nothing is unwound by the
 * tables of another file. Code in memory without tables, as JITs make it, is taken to keep frame pointers.
 */
#ifndef SONDE_RESOLVE_UNWIND_H
#define SONDE_RESOLVE_UNWIND_H

#include "format/perfdata/header/header.h"
#include "format/perfdata/perfdata_sample.h"
#include "resolve/names.h"

/* Why a stack ends where it does. */
enum resolve_unwind_end {
    RESOLVE_UNWIND_COMPLETE, /* with the outermost function */
    RESOLVE_UNWIND_CUT,      /* with the dump */
    RESOLVE_UNWIND_NO_TABLE, /* in code of which no table tells */
    RESOLVE_UNWIND_UNMAPPED, /* where nothing is known to be mapped */
    RESOLVE_UNWIND_BROKEN,   /* tables and stack do not fit together */
    RESOLVE_UNWIND_LIMIT,    /* with as many frames as were asked for */
    RESOLVE_UNWIND_CPU,      /* at once: code of this CPU cannot be unwound here */
    RESOLVE_UNWIND_ENDS,
};

/* "the dump is too short", ... */
const char *resolve_unwind_end_text(enum resolve_unwind_end end);

struct resolve_unwind_tally {
    uint64_t stacks, frames;
    uint64_t ends[RESOLVE_UNWIND_ENDS];
    VEC(uint64_t) without; /* by image: stacks that ended there with RESOLVE_UNWIND_NO_TABLE */
};

struct resolve_unwind;

/* One thread each; `names` may be shared once it is prepared. `header` says which CPU it was; it may be
 * learned later than this (a pipe), but not later than the first sample. Both are borrowed. NULL: memory.
 * Opens nothing yet. */
struct resolve_unwind *resolve_unwind_new(struct resolve_names *names, const struct perfdata_header *header,
                                          struct err *err);
void resolve_unwind_free(struct resolve_unwind *u); /* NULL is allowed */

/* What a sample must be decoded with for this. */
#define RESOLVE_UNWIND_FIELDS \
    (PERFDATA_SAMPLE_CALLCHAIN | PERFDATA_SAMPLE_REGS_USER | PERFDATA_SAMPLE_STACK_USER | PERFDATA_SAMPLE_TID)

/* Whether the sample brings what it takes. */
static inline bool resolve_unwind_has(const struct perfdata_sample *s) {
    return s->have & PERFDATA_SAMPLE_STACK_USER && s->have & PERFDATA_SAMPLE_REGS_USER &&
           s->stack_user.size && s->regs_user.values.count;
}

/* The addresses that the dump of a sample's user stack tells, innermost first, `most` at most (not 0): none
 * where there is no dump, and not the instruction pointer alone where no file that is here tells what lies
 * there. Valid until the next call. */
struct perfdata_u64s resolve_unwind_stack(struct resolve_unwind *u, const struct perfdata_sample *s,
                                          unsigned cpumode, struct model_when when, uint64_t most);

/* Whether the last of them ends where the recorded part of the stack does. */
bool resolve_unwind_was_cut(const struct resolve_unwind *u);

/* So far. Borrowed. */
const struct resolve_unwind_tally *resolve_unwind_tally(const struct resolve_unwind *u);

/* Adds what another one counted. False: memory. */
bool resolve_unwind_tally_add(struct resolve_unwind_tally *to, const struct resolve_unwind_tally *more);

#endif
