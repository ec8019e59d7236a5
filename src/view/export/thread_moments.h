/* SPDX-License-Identifier: Apache-2.0 */
/* The samples of one event on the time axis, by thread. */
#ifndef SONDE_VIEW_EXPORT_THREAD_MOMENTS_H
#define SONDE_VIEW_EXPORT_THREAD_MOMENTS_H

#include "stacks/stacks.h"

/* Zeroed at first. */
struct thread_moments {
    uint32_t *first;   /* by thread, and one more: where its moments begin in `order` */
    uint32_t *order;   /* numbers of moments, by thread, then time */
    uint64_t start_ns; /* of the first one of all */
};

/* False with *err: out of memory, or no sample of the event has a time. Freed with thread_moments_fini in any
 * case.
 */
bool thread_moments_make(struct thread_moments *t, const struct stacks *s, uint32_t event, struct err *err);
void thread_moments_fini(struct thread_moments *t);

static inline const struct stacks_moment *thread_moment(const struct thread_moments *t,
                                                        const struct stacks *s, size_t i) {
    return &s->moments.items[t->order[i]];
}

#endif
