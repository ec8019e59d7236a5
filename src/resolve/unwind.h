/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the callers of samples whose stack was dumped (PERF_SAMPLE_REGS_USER and PERF_SAMPLE_STACK_USER):
 * combines the model (what lies at an address), the images' unwind tables and src/unwind. resolve/chain.h
 * puts them outside of the recorded callchain, which is the kernel's.
 *
 *   sample: registers, stack      addresses: u0 u1 u2
 *
 * u0 is exact; the others lie in the call instruction, one byte before the return address, as in perf. What a
 * signal interrupted is exact, and so is what its handler returns to.
 *
 * Only files that may be used for names are used (symbol/store/store.h), so that nothing is unwound by the
 * tables of another file. Code in memory without tables, as JITs make it, is assumed to keep frame pointers.
 */
#ifndef SONDE_RESOLVE_UNWIND_H
#define SONDE_RESOLVE_UNWIND_H

#include "format/perfdata/header/header.h"
#include "format/perfdata/perfdata_sample.h"
#include "resolve/names.h"

/* Where and why unwinding a stack ended. */
enum resolve_unwind_end {
    RESOLVE_UNWIND_COMPLETE, /* at the outermost function */
    RESOLVE_UNWIND_CUT,      /* at the end of the dump */
    RESOLVE_UNWIND_NO_TABLE, /* in code that no table covers */
    RESOLVE_UNWIND_UNMAPPED, /* where nothing is known to be mapped */
    RESOLVE_UNWIND_BROKEN,   /* tables and stack do not fit together */
    RESOLVE_UNWIND_LIMIT,    /* at the number of frames that were wanted */
    RESOLVE_UNWIND_CPU,      /* at once: code of this CPU cannot be unwound here */
    RESOLVE_UNWIND_ENDS,
};

/* The end in words: "the dump is too short", ... */
const char *resolve_unwind_end_text(enum resolve_unwind_end end);

struct resolve_unwind_ends {
    uint64_t of[RESOLVE_UNWIND_ENDS];
};

struct resolve_unwind_tally {
    uint64_t stacks, frames;
    uint64_t skipped; /* of `stacks`: only the innermost frame was wanted (resolve_unwind_leaf) */
    uint64_t ends[RESOLVE_UNWIND_ENDS];
    VEC(struct resolve_unwind_ends) images; /* by image: how many stacks ended in it, and how */
};

struct resolve_unwind;

/* One thread each; `names` may be shared once it is prepared. `header` says which CPU it was; it may be
 * filled in later (a pipe), but not later than the first sample. Both are borrowed. NULL: out of memory.
 * Opens no file yet. */
struct resolve_unwind *resolve_unwind_new(struct resolve_names *names, const struct perfdata_header *header,
                                          struct err *err);
void resolve_unwind_free(struct resolve_unwind *u); /* NULL is allowed */

/* Says which CPU it is where no header does yet (`header` may be NULL then): `arch` as uname -m, cut to 15
 * bytes. */
void resolve_unwind_set_cpu(struct resolve_unwind *u, const char *arch);

/* The fields that a sample must be decoded with. */
#define RESOLVE_UNWIND_FIELDS \
    (PERFDATA_SAMPLE_CALLCHAIN | PERFDATA_SAMPLE_REGS_USER | PERFDATA_SAMPLE_STACK_USER | PERFDATA_SAMPLE_TID)

/* Whether the sample has what unwinding needs. */
static inline bool resolve_unwind_has(const struct perfdata_sample *s) {
    return s->have & PERFDATA_SAMPLE_STACK_USER && s->have & PERFDATA_SAMPLE_REGS_USER &&
           s->stack_user.size && s->regs_user.values.count;
}

/* Unwinds the dump of a sample's user stack: its addresses, innermost first, `most` (not 0) at most. None
 * without a dump, nor if only the instruction pointer was found and no available file covers it. Valid until
 * the next call. */
struct perfdata_u64s resolve_unwind_stack(struct resolve_unwind *u, const struct perfdata_sample *s,
                                          unsigned cpumode, struct model_when when, uint64_t most);

/* The same without unwinding: the innermost address alone, unless nothing is known to be mapped there. Reads
 * no file. */
struct perfdata_u64s resolve_unwind_leaf(struct resolve_unwind *u, const struct perfdata_sample *s,
                                         unsigned cpumode, struct model_when when);

/* How the stack that was unwound last ended. */
enum resolve_unwind_end resolve_unwind_ended(const struct resolve_unwind *u);
static inline bool resolve_unwind_was_cut(const struct resolve_unwind *u) {
    return resolve_unwind_ended(u) == RESOLVE_UNWIND_CUT;
}

/* Whether its frames lie in memory without a file, or in a file in memory (memfd_create(2)): a jitdump, or
 * tables that the recording keeps, may know better than frame pointers. RESOLVE_UNWIND_IN_ bits. */
enum { RESOLVE_UNWIND_IN_MEMORY = 1, RESOLVE_UNWIND_IN_MEMFD = 2 };
unsigned resolve_unwind_places(const struct resolve_unwind *u);

/*
 * Continues the stack that was unwound last, if its dump was too short. The missing outer frames are taken
 * from the user part of the same sample's callchain, which the kernel recorded by frame pointers (`kernel`,
 * without the PERF_CONTEXT_USER marker):
 *
 *   unwound   u0 u1 u2 |                the dump ends
 *   kernel    u0    u2 | u3 u4 ...      from u2 on, as long as each function's table says that it keeps one
 *
 * The arguments are those of resolve_unwind_stack, and so is what is returned: all of the stack.
 */
struct perfdata_u64s resolve_unwind_go_on(struct resolve_unwind *u, const struct perfdata_sample *s,
                                          unsigned cpumode, struct model_when when,
                                          const struct perfdata_u64s *kernel, uint64_t most);

/* What was counted so far. Borrowed. */
const struct resolve_unwind_tally *resolve_unwind_tally(const struct resolve_unwind *u);

/* Adds another tally. False: out of memory. */
bool resolve_unwind_tally_add(struct resolve_unwind_tally *to, const struct resolve_unwind_tally *more);

#endif
