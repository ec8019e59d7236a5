/* SPDX-License-Identifier: Apache-2.0 */
#include "model/timeline.h"

void timeline_fini(struct timeline *t) {
    vec_fini(&t->entries);
    t->frozen = false;
}

bool timeline_push(struct timeline *t, uint32_t *head, struct model_when when, uint32_t value) {
    struct timeline_entry *e = t->entries.count < MODEL_NONE ? vec_push(&t->entries) : NULL;
    if (!e)
        return false;
    *e = (struct timeline_entry){when, value, *head};
    *head = (uint32_t)(t->entries.count - 1);
    return true;
}

bool timeline_freeze(struct timeline *t, uint32_t *heads, size_t count, size_t stride) {
    size_t n = t->entries.count;
    struct timeline_entry *sorted = malloc((n ? n : 1) * sizeof *sorted);
    if (!sorted)
        return false;
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t *head = (uint32_t *)((char *)heads + i * stride);
        uint32_t owned = 0;
        for (uint32_t e = *head; e != MODEL_NONE; e = t->entries.items[e].link)
            owned++;
        uint32_t rank = owned;
        for (uint32_t e = *head; e != MODEL_NONE; e = t->entries.items[e].link) {
            rank--;
            sorted[at + rank] = t->entries.items[e];
            sorted[at + rank].link = rank;
        }
        at += owned;
        if (owned)
            *head = (uint32_t)(at - 1);
    }
    free(t->entries.items);
    t->entries.items = sorted;
    t->entries.count = at;
    t->entries.cap = n;
    t->frozen = true;
    return true;
}

uint32_t timeline_find(const struct timeline *t, uint32_t head, struct model_when when) {
    const struct timeline_entry *entries = t->entries.items;
    if (head == MODEL_NONE || !model_when_before(when, entries[head].when))
        return head;
    if (!t->frozen) {
        do
            head = entries[head].link;
        while (head != MODEL_NONE && model_when_before(when, entries[head].when));
        return head;
    }
    /* The first entry later than `when` lies in [low, high]; the newest one is known to be. */
    uint32_t first = head - entries[head].link, low = first, high = head;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (model_when_before(when, entries[middle].when))
            high = middle;
        else
            low = middle + 1;
    }
    return low == first ? MODEL_NONE : low - 1;
}
