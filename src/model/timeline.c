/* SPDX-License-Identifier: Apache-2.0 */
#include "model/timeline.h"

#include <stdlib.h>

#include "base/threads/prefetch.h"
#include "os/heap.h"

void timeline_fini(struct timeline *t) {
    vec_fini(&t->entries);
    vec_fini(&t->links);
    vec_fini(&t->heads);
    vec_fini(&t->orders.far);
    t->frozen = false;
}

/* Reserves memory for the owner's head and `count` more entries. */
static __attribute__((noinline)) bool make_room(struct timeline *t, uint32_t owner, size_t count) {
    if (t->entries.count + count >= MODEL_NONE || !vec_reserve(&t->entries, t->entries.count + count) ||
        !vec_reserve(&t->links, t->links.count + count) || !vec_reserve(&t->heads, (size_t)owner + 1))
        return false;
    while (t->heads.count <= owner)
        t->heads.items[t->heads.count++] = MODEL_NONE;
    return true;
}

void timeline_room(struct timeline *t, size_t entries, size_t owners) {
    os_heap_room(&t->entries, entries);
    os_heap_room(&t->links, entries);
    os_heap_room(&t->heads, owners);
}

bool timeline_push(struct timeline *t, uint32_t owner, struct model_when when, uint32_t value) {
    bool room = owner < t->heads.count && t->entries.count < t->entries.cap &&
                t->entries.count < MODEL_NONE - 1 && t->links.count < t->links.cap;
    if (__builtin_expect(!room, 0) && !make_room(t, owner, 1))
        return false;
    struct timeline_entry entry = {.time_ns = when.time_ns, .value = value};
    if (!order_put(&t->orders, when.order, &entry.order))
        return false;
    t->entries.items[t->entries.count++] = entry;
    t->links.items[t->links.count++] = t->heads.items[owner];
    t->heads.items[owner] = (uint32_t)(t->entries.count - 1);
    return true;
}

/* Turns links into the places where entries belong, and heads into the places of owners' first entries. */
static void find_places(struct timeline *t) {
    uint32_t *links = t->links.items, at = 0;
    for (size_t owner = 0; owner < t->heads.count; owner++) {
        uint32_t newest = t->heads.items[owner];
        t->heads.items[owner] = at;
        for (uint32_t e = newest; e != MODEL_NONE; e = links[e])
            at++;
        for (uint32_t e = newest, place = at, older; e != MODEL_NONE; e = older) {
            older = links[e];
            links[e] = --place;
        }
    }
}

/* With fewer entries the memory is better reused than given back. */
enum { MANY_ENTRIES = 1 << 20 };

/* Moves each entry to its place, in new memory: in place, each move would have to follow the one before and
 * wait for a cache miss. If there are many, memory that was read is given back on the way. */
static bool put_in_places(struct timeline *t) {
    enum { AHEAD = 16, FORGET = 1 << 16 };
    uint32_t *places = t->links.items;
    size_t n = t->entries.count;
    struct timeline_entry *entries = malloc((n + 1) * sizeof *entries);
    if (!entries)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (i + AHEAD < n)
            prefetch_to_write(&entries[places[i + AHEAD]]);
        entries[places[i]] = t->entries.items[i];
        if (n >= MANY_ENTRIES && (i + 1) % FORGET == 0) {
            os_heap_forget(t->entries.items + i + 1 - FORGET, FORGET * sizeof *entries);
            os_heap_forget(places + i + 1 - FORGET, FORGET * sizeof *places);
        }
    }
    vec_fini(&t->entries);
    t->entries.items = entries;
    t->entries.count = n;
    t->entries.cap = n + 1;
    return true;
}

bool timeline_freeze(struct timeline *t) {
    if (!vec_reserve(&t->heads, t->heads.count + 1))
        return false;
    find_places(t);
    if (!put_in_places(t))
        return false;
    t->heads.items[t->heads.count++] = (uint32_t)t->entries.count;
    vec_fini(&t->links);
    vec_trim(&t->entries);
    t->frozen = true;
    return true;
}

static inline bool is_later(const struct timeline *t, uint32_t entry, struct model_when when) {
    const struct timeline_entry *e = &t->entries.items[entry];
    return e->time_ns != when.time_ns ? e->time_ns > when.time_ns
                                      : order_get(&t->orders, e->order) > when.order;
}

uint32_t timeline_find(const struct timeline *t, uint32_t owner, struct model_when when) {
    if (!t->frozen) {
        uint32_t e = timeline_head(t, owner);
        while (e != MODEL_NONE && is_later(t, e, when))
            e = t->links.items[e];
        return e;
    }
    if ((size_t)owner + 1 >= t->heads.count)
        return MODEL_NONE;
    /* The first entry later than `when` is in [low, high]. */
    uint32_t first = t->heads.items[owner], low = first, high = t->heads.items[owner + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (is_later(t, middle, when))
            high = middle;
        else
            low = middle + 1;
    }
    return low == first ? MODEL_NONE : low - 1;
}

uint32_t timeline_after(const struct timeline *t, uint32_t owner, uint32_t entry) {
    uint32_t later = MODEL_NONE;
    for (uint32_t e = timeline_head(t, owner); e != entry; e = t->links.items[e])
        later = e;
    return later;
}

uint32_t timeline_find_near(const struct timeline *t, uint32_t owner, uint32_t near, struct model_when when) {
    enum { STEPS = 4 };
    if (!t->frozen || near == MODEL_NONE || is_later(t, near, when))
        return timeline_find(t, owner, when);
    uint32_t end = t->heads.items[owner + 1];
    for (uint32_t next = near + 1; next - near <= STEPS; next++)
        if (next == end || is_later(t, next, when))
            return next - 1;
    return timeline_find(t, owner, when);
}

bool timeline_copy(const struct timeline *t, uint32_t owner, uint32_t first, const uint32_t *ids,
                   struct timeline *to, uint32_t new_owner) {
    size_t count = 0;
    uint32_t head = timeline_head(t, owner);
    for (uint32_t e = head; e != MODEL_NONE; e = e == first ? MODEL_NONE : t->links.items[e])
        count += !ids || ids[timeline_value(t, e)] != MODEL_NONE;
    if (!count)
        return true;
    if (!make_room(to, new_owner, count))
        return false;
    uint32_t at = (uint32_t)to->entries.count, place = at + (uint32_t)count;
    for (uint32_t e = head; e != MODEL_NONE; e = e == first ? MODEL_NONE : t->links.items[e]) {
        uint32_t value = ids ? ids[timeline_value(t, e)] : timeline_value(t, e);
        if (ids && value == MODEL_NONE)
            continue;
        place--;
        struct timeline_entry entry = {.time_ns = t->entries.items[e].time_ns, .value = value};
        if (!order_put(&to->orders, timeline_when(t, e).order, &entry.order))
            return false;
        to->entries.items[place] = entry;
        to->links.items[place] = place > at ? place - 1 : MODEL_NONE;
    }
    to->entries.count = to->links.count = at + count;
    to->heads.items[new_owner] = (uint32_t)(at + count - 1);
    return true;
}
