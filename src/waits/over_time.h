/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was waited for over a time, from successive snapshots, as a tree: program, wait, and with stacks the
 * functions from the outermost on. Each thread counts for the time since the previous snapshot.
 *
 *     postgres            12.0 s
 *         a lock ...       9.0 s     of 3 threads in 3 s
 *         one of ...       3.0 s
 */
#ifndef SONDE_WAITS_OVER_TIME_H
#define SONDE_WAITS_OVER_TIME_H

#include "base/strpool.h"
#include "waits/groups.h"

enum { WAITS_NODE_ROOT = 0, WAITS_NODES_MOST = 1 << 22 };

struct waits_node {
    uint32_t name;   /* of the pool */
    uint32_t parent; /* the root's is itself */
    uint64_t ns;     /* with all below it */
    uint32_t depth;  /* of the root: 0 */
    uint8_t kind;    /* enum waits_kind of a wait (depth 2), else 0 */
};

/* Zeroed at first. */
struct waits_over_time {
    struct strpool names;
    VEC(struct waits_node) nodes; /* parents first */
    struct hash_map by_name;      /* parent and name -> node */
    uint64_t elapsed_ns, turns;
    uint64_t left_out_ns; /* of waits that were left out for lack of room */
};

void waits_over_time_fini(struct waits_over_time *t);

/* Adds an explained snapshot, which stands for the `ns` before it; idle kernel threads only with `kernel`.
 * False: out of memory. */
bool waits_over_time_add(struct waits_over_time *t, const struct waits *w, const struct waits_choice *choice,
                         bool kernel, uint64_t ns);

/* Adds the time to the nodes of a path, from below the root on. For trees of another making: `turns` stays 0,
 * and the caller sets elapsed_ns. False: out of memory. */
bool waits_over_time_add_path(struct waits_over_time *t, const char *const *names, size_t count, uint64_t ns);

typedef VEC(uint32_t) waits_node_order;
/* The nodes as they are printed: each before those below it; of one parent those with the longest time first,
 * then by name. Without the root. False: out of memory. */
bool waits_over_time_order(const struct waits_over_time *t, waits_node_order *out);

#endif
