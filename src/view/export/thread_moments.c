/* SPDX-License-Identifier: Apache-2.0 */
#include "view/export/thread_moments.h"

#include <stdlib.h>

bool thread_moments_make(struct thread_moments *t, const struct stacks *s, uint32_t event, struct err *err) {
    uint32_t *at = calloc(s->threads.count + 2, sizeof *at);
    size_t count = 0;
    t->first = calloc(s->threads.count + 2, sizeof *t->first);
    for (size_t i = 0; at && t->first && i < s->moments.count; i++) {
        const struct stacks_moment *m = &s->moments.items[i];
        if (s->rows.items[m->row].event != event)
            continue;
        if (!count++) /* of one event they are in order of time */
            t->start_ns = m->time_ns;
        t->first[m->thread + 1]++;
    }
    t->order = malloc((count + 1) * sizeof *t->order);
    if (!at || !t->first || !t->order) {
        free(at);
        return err_memory(err, "time axis");
    }
    for (size_t i = 0; i < s->threads.count; i++)
        at[i + 1] = t->first[i + 1] += t->first[i];
    for (uint32_t i = 0; i < s->moments.count; i++) {
        const struct stacks_moment *m = &s->moments.items[i];
        if (s->rows.items[m->row].event == event)
            t->order[at[m->thread]++] = i;
    }
    free(at);
    return count || err_set(err, ERR_ABSENT, stacks_str(s, s->events.items[event].name),
                            "the samples have no times, which this format wants");
}

void thread_moments_fini(struct thread_moments *t) {
    free(t->first);
    free(t->order);
}
