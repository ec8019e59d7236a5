/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/parallelism.h"

#include <stdlib.h>

bool recording_parallelism_note(struct recording_parallelism *p, struct model_when when, bool in) {
    struct recording_switch *s = vec_push(&p->list);
    if (s)
        *s = (struct recording_switch){when, in ? 1 : -1};
    return s != NULL;
}

static int by_when(const void *a, const void *b) {
    const struct recording_switch *x = a, *y = b;
    return model_when_before(x->when, y->when) ? -1 : model_when_before(y->when, x->when);
}

void recording_parallelism_sort(struct recording_parallelism *p) {
    int64_t count = 1;
    if (p->list.count)
        qsort(p->list.items, p->list.count, sizeof *p->list.items, by_when);
    for (size_t i = 0; i < p->list.count; i++)
        count = p->list.items[i].count += count;
}

void recording_parallelism_fini(struct recording_parallelism *p) {
    vec_fini(&p->list);
}

uint32_t recording_parallelism_at(const struct recording_parallelism *p, struct model_when when) {
    size_t low = 0, high = p->list.count; /* how many switches come before */
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (model_when_before(p->list.items[mid].when, when))
            low = mid + 1;
        else
            high = mid;
    }
    int64_t count = low ? p->list.items[low - 1].count : 1;
    return count < 1 ? 1 : count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
}

uint32_t recording_parallelism_most(const struct recording_parallelism *p) {
    int64_t most = 1;
    for (size_t i = 0; i < p->list.count; i++)
        most = p->list.items[i].count > most ? p->list.items[i].count : most;
    return most > UINT32_MAX ? UINT32_MAX : (uint32_t)most;
}
