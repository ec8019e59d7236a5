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

/* Those of one sample. Each context's first address is where it was, the others were returned to. */
static void add_chain(struct resolve_returns *r, const struct perfdata_u64s *chain, bool guest) {
    const unsigned wanted = guest ? PERFDATA_MISC_GUEST_KERNEL : PERFDATA_MISC_KERNEL;
    unsigned cpumode = PERFDATA_MISC_CPUMODE_UNKNOWN;
    uint64_t inner = 0;
    for (uint64_t i = 0; i < chain->count && i < FRAMES_MAX; i++) {
        uint64_t address = perfdata_u64_at(chain, i);
        if (address >= PERFDATA_CONTEXT_MAX) {
            cpumode = perfdata_context_cpumode(address);
            inner = 0;
            continue;
        }
        struct symbol_return *slot = cpumode == wanted && inner ? vec_push(&r->found[guest]) : NULL;
        if (slot)
            *slot = (struct symbol_return){address, inner};
        inner = address;
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
    vec_fini(&r->noted);
    vec_fini(&r->found[0]);
    vec_fini(&r->found[1]);
}
