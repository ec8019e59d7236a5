/* SPDX-License-Identifier: Apache-2.0 */
/* User callchains that were recorded later than their samples (CALLCHAIN_DEFERRED records), found by cookie.
 */
#ifndef SONDE_RESOLVE_DEFERRED_H
#define SONDE_RESOLVE_DEFERRED_H

#include "base/vec.h"
#include "format/perfdata/perfdata_sample.h"
#include "stream/stream.h"

/* A chain that refers to more deferred chains than this is unusable: following them all, each as long as the
 * chain itself, would take for ever. */
enum { RESOLVE_DEFERRED_MOST = 16 };

struct resolve_deferred_entry {
    uint64_t cookie, loc;
};

/* Zeroed at first; freed with resolve_deferred_fini. */
struct resolve_deferred {
    VEC(struct resolve_deferred_entry) list;
    bool sorted;
};

void resolve_deferred_fini(struct resolve_deferred *d);

/* Remembers the CALLCHAIN_DEFERRED record at `loc`. False: out of memory. */
bool resolve_deferred_note(struct resolve_deferred *d, uint64_t cookie, uint64_t loc);

/* To be called between the last note and the first find. */
void resolve_deferred_sort(struct resolve_deferred *d);

/* Forgets the records before `loc` (a pipe whose bytes are given back). */
void resolve_deferred_forget(struct resolve_deferred *d, uint64_t loc);

/* The first chain with this cookie after after_loc, if it is of thread `tid`; else count is 0. It is borrowed
 * as the stream's records are. Any number of threads. */
struct perfdata_u64s resolve_deferred_find(const struct resolve_deferred *d, const struct stream *stream,
                                           const struct perfdata_events *events, uint64_t cookie,
                                           uint32_t tid, uint64_t after_loc);

#endif
