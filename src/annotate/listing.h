/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One function with what the samples say of it: its instructions, the source lines that they were made for,
 * the functions that were inlined there, and how many samples of each event hit each of them.
 *
 *   sum of the rows + outside  ==  sum of the lines + outside  ==  the function's own samples, exactly
 */
#ifndef SONDE_ANNOTATE_LISTING_H
#define SONDE_ANNOTATE_LISTING_H

#include "annotate/profile.h"
#include "annotate/symbols.h"
#include "base/strpool.h"
#include "object/disasm/disasm.h"

#define ANNOTATE_NONE UINT32_MAX

/* One instruction. */
struct annotate_row {
    uint32_t line;  /* in listing.lines; ANNOTATE_NONE: none is known */
    uint32_t scope; /* in listing.scopes; ANNOTATE_NONE: nothing is inlined there */
};

struct annotate_line {
    uint32_t file; /* in listing.files: the path as in the debugging information */
    uint32_t line;
};

/* A call that was inlined. */
struct annotate_scope {
    uint32_t outer;       /* the call that this one is in; ANNOTATE_NONE: the function itself */
    const char *function; /* what was called; as long as the recording's names */
    uint32_t file, line;  /* where; file is STRPOOL_NONE when that is not known */
};

struct annotate_listing {
    const struct annotate_function *function; /* borrowed */
    struct annotate_events events;
    struct symbol_machine_code code;
    struct disasm_list list;         /* its instructions are the rows */
    VEC(struct annotate_row) rows;   /* by index in the list */
    VEC(struct annotate_line) lines; /* in order of first appearance */
    VEC(struct annotate_scope) scopes;
    struct strpool files;
    /* By row, line or scope, then event: [row * events.count + i]. Those of a scope are of all rows in it,
     * directly or in scopes of its own. The last three: [events.count]. */
    struct annotate_sums *row_sums, *line_sums, *scope_sums;
    struct annotate_sums *no_line; /* of the rows without a line */
    struct annotate_sums *outside; /* of places that have no code */
    struct annotate_sums *self;    /* the function's */
};

struct annotate_options {
    bool intel;          /* x86: Intel's syntax */
    bool raw_names;      /* not demangled */
    const char *objdump; /* the program that disassembles all functions; NULL: only those with instructions
                            that are not known here, by the `objdump` in PATH, if there is one */
};

/* What makes listings; zeroed at first, the first two set by the owner. One thread. */
struct annotate_maker {
    const struct annotate_profile *profile; /* borrowed */
    struct annotate_options options;
    struct annotate_symbols symbols;
    struct disasm *disasm; /* for the architecture of the image before; NULL: none yet */
    enum disasm_arch arch;
    bool no_objdump; /* it is not to be had */
    size_t unknown;  /* instructions that are still not known, in all listings */
};
void annotate_maker_fini(struct annotate_maker *m);

/* Makes the listing of a function; `l` is zeroed at first and freed with annotate_listing_fini in any case.
 * False: its code is nowhere, or cannot be disassembled here: *err says why. */
bool annotate_listing_make(struct annotate_maker *m, const struct annotate_function *f,
                           struct annotate_events events, struct annotate_listing *l, struct err *err);
void annotate_listing_fini(struct annotate_listing *l);

/* The row that covers an offset in the image; ANNOTATE_NONE: none. */
uint32_t annotate_listing_row(const struct annotate_listing *l, uint64_t offset);

#endif
