/* SPDX-License-Identifier: Apache-2.0 */
#include "resolve/returns.h"

#include <stdlib.h>

enum { NOTED_MAX = 1024, FRAMES_MAX = 64 };

void resolve_returns_note_slow(struct resolve_returns *r, uint64_t loc) {
    if (r->noted.count == NOTED_MAX) {
        for (size_t i = 0; i < NOTED_MAX / 2; i++)
            r->noted.items[i] = r->noted.items[2 * i];
        r->noted.count = NOTED_MAX / 2;
        r->mask = 2 * r->mask + 1;
    }
    uint64_t *slot = vec_push(&r->noted);
    if (slot)
        *slot = loc;
}

/* Adds the return addresses of one sample's callchain. */
static void add_chain(struct resolve_returns *r, const struct perfdata_u64s *words, bool guest) {
    const unsigned wanted = guest ? PERFDATA_MISC_GUEST_KERNEL : PERFDATA_MISC_KERNEL;
    if (!resolve_chain_read_words(&r->chain, words))
        return;
    for (size_t i = 0; i < r->chain.segments.count; i++) {
        const struct resolve_segment *s = &r->chain.segments.items[i];
        for (uint64_t k = 1; s->cpumode == wanted && k < s->count; k++) {
            struct symbol_return *slot = vec_push(&r->found[guest]);
            if (slot)
                *slot = (struct symbol_return){resolve_segment_at(s, k), resolve_segment_at(s, k - 1)};
        }
    }
}

static int compare(const void *x, const void *y) {
    const struct symbol_return *a = x, *b = y;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return a->inner < b->inner ? -1 : a->inner > b->inner;
}

struct symbol_returns resolve_returns_find(struct resolve_returns *r, struct stream *stream,
                                           enum symbol_space space) {
    const struct perfdata_events *events = stream_events(stream);
    bool guest = space == SYMBOL_GUEST_KERNEL;
    size_t kept = 0;
    r->chain.o.most = FRAMES_MAX;
    for (size_t i = 0; i < r->noted.count; i++) {
        struct stream_record rec = stream_record_at(stream, r->noted.items[i]);
        struct perfdata_sample sample = {0};
        if (rec.event < events->list.count &&
            perfdata_sample_decode(&events->list.items[rec.event].plan, rec.raw.body,
                                   PERFDATA_SAMPLE_CALLCHAIN, &sample))
            add_chain(r, &sample.callchain, guest);
    }
    struct symbol_return *list = r->found[guest].items;
    size_t count = r->found[guest].count;
    if (count)
        qsort(list, count, sizeof *list, compare);
    for (size_t i = 0; i < count; i++)
        if (!kept || compare(&list[kept - 1], &list[i]))
            list[kept++] = list[i];
    r->found[guest].count = kept;
    return (struct symbol_returns){list, kept};
}

void resolve_returns_fini(struct resolve_returns *r) {
    resolve_chain_fini(&r->chain);
    vec_fini(&r->noted);
    vec_fini(&r->found[0]);
    vec_fini(&r->found[1]);
}
