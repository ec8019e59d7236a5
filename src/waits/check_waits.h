/* SPDX-License-Identifier: Apache-2.0 */
/* Invariants of chains and groups, for tests and fuzzing. Each function returns NULL, or the invariant that
 * is violated. */
#ifndef SONDE_WAITS_CHECK_WAITS_H
#define SONDE_WAITS_CHECK_WAITS_H

#include "waits/chains.h"
#include "waits/groups.h"

/* Each ring closes; each thread that waits for another is waited behind exactly one root or ring. */
static inline const char *check_chains(const struct waits *w, const struct waits_chains *c) {
    size_t waiting = 0, behind = 0;
    for (size_t i = 0; i < w->threads.count; i++)
        waiting += w->threads.items[i].wait.on < w->threads.count;
    for (size_t i = 0; i < c->rings.count; i++) {
        const struct waits_ring *r = &c->rings.items[i];
        behind += r->count + r->behind;
        for (uint32_t k = 0; k < r->count; k++) {
            uint32_t at = c->ring_threads.items[r->first + k];
            uint32_t next = c->ring_threads.items[r->first + (k + 1) % r->count];
            if (w->threads.items[at].wait.on != next)
                return "a ring that does not close";
            if (at < r->lowest)
                return "a ring that does not begin with its lowest thread";
        }
    }
    for (size_t i = 0; i < c->roots.count; i++) {
        if (w->threads.items[c->roots.items[i].thread].wait.on < w->threads.count)
            return "a root that waits";
        if (i && c->roots.items[i - 1].behind < c->roots.items[i].behind)
            return "roots out of order";
        behind += c->roots.items[i].behind;
    }
    return behind == waiting ? NULL : "threads that are counted twice, or not at all";
}

/* Each chosen thread is in exactly one group, with threads that wait for the same. */
static inline const char *check_groups(const struct waits *w, const struct waits_groups *g) {
    uint32_t all = 0;
    for (size_t i = 0; i < g->list.count; i++) {
        const struct waits_group *group = &g->list.items[i];
        const struct waits_thread *t = &w->threads.items[g->order.items[group->first]];
        all += group->count;
        for (uint32_t k = 0; k < group->count; k++) {
            const struct waits_thread *other = &w->threads.items[g->order.items[group->first + k]];
            if (other->wait.kind != t->wait.kind || strcmp(other->wait.what, t->wait.what) != 0 ||
                other->since_ns > group->longest_ns)
                return "a thread in a group of others";
        }
        if (i && w->threads.items[g->order.items[group[-1].first]].wait.kind > t->wait.kind)
            return "groups out of order";
    }
    return all == g->order.count ? NULL : "threads in no group";
}

#endif
