/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kernels' stacks returned to, of a bounded number of samples from all of a recording: by it files are
 * judged that nothing proves to be the recorded kernel (symbol/store.h).
 *
 *   first pass: resolve_returns_note per sample -> whenever a file is to be judged: resolve_returns_find
 */
#ifndef SONDE_RESOLVE_RETURNS_H
#define SONDE_RESOLVE_RETURNS_H

#include "resolve/chain.h"
#include "stream/stream.h"
#include "symbol/store.h"

/* Zeroed before the first use. */
struct resolve_returns {
    VEC(uint64_t) noted; /* where samples lie, in order of the file */
    uint64_t seen, mask; /* every (mask + 1)-th is noted */
    struct resolve_chain chain;
    VEC(struct symbol_return) found[2];
};

/* The next sample of the stream lies at `loc`. Without memory it is not noted. */
void resolve_returns_note_slow(struct resolve_returns *r, uint64_t loc);
static inline void resolve_returns_note(struct resolve_returns *r, uint64_t loc) {
    if (!(r->seen++ & r->mask))
        resolve_returns_note_slow(r, loc);
}

/* How many samples may come before the next one to note, and that so many came. */
static inline uint64_t resolve_returns_left(const struct resolve_returns *r) {
    return (r->mask + 1 - (r->seen & r->mask)) & r->mask;
}
static inline void resolve_returns_pass(struct resolve_returns *r, uint64_t samples) {
    r->seen += samples;
}

/* For one space once. Borrowed from `r`. */
struct symbol_returns resolve_returns_find(struct resolve_returns *r, struct stream *stream,
                                           enum symbol_space space);
void resolve_returns_fini(struct resolve_returns *r);

#endif
