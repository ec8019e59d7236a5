/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who waits for whom. Each thread waits for at most one other thread that is proved (waits_wait.on), so
 * threads form trees, whose roots wait for nobody, and rings:
 *
 *     a -> b -> c      tree with root c          d -> e -> d      ring, and whatever waits for it
 *              ^ f
 */
#ifndef SONDE_WAITS_CHAINS_H
#define SONDE_WAITS_CHAINS_H

#include "waits/waits.h"

enum { WAITS_CHAIN_DEPTH = 5 }; /* how many levels of a tree are shown */

/* A ring: threads[first .. first + count), each waiting for the next one, the last one for the first. */
struct waits_ring {
    uint32_t first, count, lowest; /* lowest: the lowest index of its threads, which comes first */
    uint32_t behind;               /* further threads that wait for these, directly or indirectly */
    bool certain; /* a deadlock: each waits for a lock or the end of a thread, without a timeout */
};

struct waits_root {
    uint32_t thread;
    uint32_t behind; /* threads that wait for it, directly or indirectly */
    uint32_t depth;  /* of the longest chain: 1: all wait for it itself */
    bool locks;      /* one of them waits for a lock or the end of a thread */
};

struct waits_chains {
    VEC(uint32_t) ring_threads;
    VEC(struct waits_ring) rings; /* deadlocks first, then by size with all that wait, then by thread */
    VEC(struct waits_root) roots; /* most threads behind first, then by thread */
    uint32_t *waiters; /* indices of threads, sorted by the thread that they wait for, then by index */
    uint32_t *first;   /* the waiters of thread i are waiters[first[i] .. first[i + 1]) */
};

/* False: out of memory. */
bool waits_chains_find(struct waits_chains *c, const struct waits *w);
void waits_chains_fini(struct waits_chains *c);

#endif
