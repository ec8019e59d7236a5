/* SPDX-License-Identifier: Apache-2.0 */
#include "resolve/deferred.h"

#include <stdlib.h>

#include "format/perfdata/record.h"

void resolve_deferred_fini(struct resolve_deferred *d) {
    vec_fini(&d->list);
}

bool resolve_deferred_note(struct resolve_deferred *d, uint64_t cookie, uint64_t loc) {
    struct resolve_deferred_entry *e = vec_push(&d->list);
    if (!e)
        return false;
    *e = (struct resolve_deferred_entry){cookie, loc};
    d->sorted = false;
    return true;
}

static int by_cookie(const void *a, const void *b) {
    const struct resolve_deferred_entry *x = a, *y = b;
    if (x->cookie != y->cookie)
        return x->cookie < y->cookie ? -1 : 1;
    return x->loc < y->loc ? -1 : x->loc > y->loc;
}

void resolve_deferred_sort(struct resolve_deferred *d) {
    if (!d->sorted && d->list.count)
        qsort(d->list.items, d->list.count, sizeof *d->list.items, by_cookie);
    d->sorted = true;
}

void resolve_deferred_forget(struct resolve_deferred *d, uint64_t loc) {
    size_t kept = 0;
    for (size_t i = 0; i < d->list.count; i++)
        if (d->list.items[i].loc >= loc)
            d->list.items[kept++] = d->list.items[i];
    d->list.count = kept;
}

struct perfdata_u64s resolve_deferred_find(const struct resolve_deferred *d, const struct stream *stream,
                                           const struct perfdata_events *events, uint64_t cookie,
                                           uint32_t tid, uint64_t after_loc) {
    const struct perfdata_u64s none = {0};
    size_t low = 0, high = d->list.count;
    struct resolve_deferred_entry key = {cookie, after_loc};
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (by_cookie(&d->list.items[mid], &key) <= 0)
            low = mid + 1;
        else
            high = mid;
    }
    if (low == d->list.count || d->list.items[low].cookie != cookie)
        return none;
    struct stream_record r = stream_record_at(stream, d->list.items[low].loc);
    const struct perfdata_plan *plan =
        r.event < events->list.count ? &events->list.items[r.event].plan : NULL;
    struct perfdata_record rec;
    const char *reason = NULL;
    if (!perfdata_record_decode(&r.raw, plan, events->swap, &rec, &reason) || rec.id.tid != tid)
        return none;
    return rec.callchain_deferred.ips;
}
