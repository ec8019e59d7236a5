/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Return addresses from the kernel stacks of a bounded number of samples, spread over the recording: files
 * that nothing else proves to be the recorded kernel are judged by them (symbol/store/store.h).
 *
 *   first pass: resolve_returns_note per sample -> whenever a file is to be judged: resolve_returns_find
 */
#ifndef SONDE_RESOLVE_RETURNS_H
#define SONDE_RESOLVE_RETURNS_H

#include "resolve/chain.h"
#include "stream/stream.h"
#include "symbol/store/store.h"

/* Zeroed before the first use. */
struct resolve_returns {
    VEC(uint64_t) noted; /* where the noted samples lie, in file order */
    uint64_t seen, mask; /* every (mask + 1)-th sample is noted */
    struct resolve_chain chain;
    VEC(struct symbol_return) found[2];
};

/* Notes the stream's next sample, at `loc`, if it is its turn. Without memory it is not noted. */
void resolve_returns_note_slow(struct resolve_returns *r, uint64_t loc);
static inline void resolve_returns_note(struct resolve_returns *r, uint64_t loc) {
    if (!(r->seen++ & r->mask))
        resolve_returns_note_slow(r, loc);
}

/* How many samples come before the next one to note; resolve_returns_pass reports that so many came. */
static inline uint64_t resolve_returns_left(const struct resolve_returns *r) {
    return (r->mask + 1 - (r->seen & r->mask)) & r->mask;
}
static inline void resolve_returns_pass(struct resolve_returns *r, uint64_t samples) {
    r->seen += samples;
}

/* The return addresses of a space, sorted; to be called once for each space. Borrowed from `r`. */
struct symbol_returns resolve_returns_find(struct resolve_returns *r, struct stream *stream,
                                           enum symbol_space space);
void resolve_returns_fini(struct resolve_returns *r);

#endif
