/* SPDX-License-Identifier: Apache-2.0 */
#include "model/pending.h"

#include "base/threads/prefetch.h"
#include "os/heap.h"

void pending_fini(struct pending *p) {
    for (size_t i = 0; i < p->blocks.count; i++)
        free(p->blocks.items[i]);
    vec_fini(&p->blocks);
    *p = (struct pending){.count = 0};
}

static __attribute__((noinline)) bool add_block(struct pending *p) {
    struct model_event **block = p->count < UINT32_MAX - PENDING_BLOCK ? vec_push(&p->blocks) : NULL;
    if (!block)
        return false;
    *block = malloc(PENDING_BLOCK * sizeof **block);
    if (!*block)
        p->blocks.count--;
    return p->blocks.count > p->count >> PENDING_BLOCK_BITS;
}

bool pending_push(struct pending *p, const struct model_event *e) {
    size_t block = p->count >> PENDING_BLOCK_BITS;
    if (block == p->blocks.count && !add_block(p))
        return false;
    p->blocks.items[block][p->count++ & (PENDING_BLOCK - 1)] = *e;
    p->kinds[e->kind]++;
    return true;
}

/* Up to this many blocks, memory is not given back at once: the timelines made from them reuse it. */
enum { MANY_BLOCKS = 64 };

/* ---- time order ---- */

static bool before(const struct pending *p, uint32_t a, uint32_t b) {
    return model_when_before(pending_at(p, a)->when, pending_at(p, b)->when);
}

/* The first of the sorted items [low, high) that comes after `e` or, unless `strictly`, is equal to it. */
static size_t behind(const struct pending *p, const uint32_t *items, size_t low, size_t high, uint32_t e,
                     bool strictly) {
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strictly ? before(p, e, items[middle]) : !before(p, items[middle], e))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Merges two neighbouring sorted runs stably. `room` has space for the first. As per-CPU buffers are read in
 * rounds, only the items around the seam of long runs have to move. */
static void merge(const struct pending *p, uint32_t *items, size_t low, size_t middle, size_t high,
                  uint32_t *room) {
    if (!before(p, items[middle], items[middle - 1]))
        return;
    low = behind(p, items, low, middle, items[middle], true);
    high = behind(p, items, middle, high, items[middle - 1], false);
    size_t n = middle - low, at = 0, to = low;
    memcpy(room, items + low, n * sizeof *room);
    while (at < n && middle < high)
        items[to++] = before(p, items[middle], room[at]) ? items[middle++] : room[at++];
    memcpy(items + to, room + at, (n - at) * sizeof *room);
}

/* Where the runs of events that came in time order begin, and where the last one ends. */
struct runs {
    VEC(uint32_t) begin;
};

static bool find_runs(const struct pending *p, struct runs *runs) {
    struct model_when last = {0, 0};
    for (size_t i = 0; i <= p->count; i++) {
        struct model_when when = i < p->count ? pending_at(p, i)->when : last;
        if (i && i < p->count && !model_when_before(when, last)) {
            last = when;
            continue;
        }
        uint32_t *begin = vec_push(&runs->begin);
        if (!begin)
            return false;
        *begin = (uint32_t)i;
        last = when;
    }
    return true;
}

/* Merges runs in pairs until one is left. */
static void join_runs(const struct pending *p, struct runs *runs, uint32_t *items, uint32_t *room) {
    uint32_t *begin = runs->begin.items;
    for (size_t count = runs->begin.count - 1; count > 1; count = (count + 1) / 2) {
        for (size_t i = 0; i + 1 < count; i += 2)
            merge(p, items, begin[i], begin[i + 1], begin[i + 2], room);
        for (size_t i = 0; i < (count + 1) / 2; i++)
            begin[i] = begin[2 * i];
        begin[(count + 1) / 2] = (uint32_t)p->count;
    }
}

/* The events' indices in time order, for the caller to free; NULL: out of memory. */
static uint32_t *sort_events(const struct pending *p) {
    struct runs runs = {{0}};
    uint32_t *items = malloc((p->count + 1) * sizeof *items), *room = NULL;
    bool ok = items && find_runs(p, &runs);
    for (size_t i = 0; ok && i < p->count; i++)
        items[i] = (uint32_t)i;
    if (ok && runs.begin.count > 2) {
        room = malloc(p->count * sizeof *room);
        ok = room;
        if (ok)
            join_runs(p, &runs, items, room);
    }
    if (room && p->blocks.count > MANY_BLOCKS)
        os_heap_forget(room, p->count * sizeof *room);
    free(room);
    vec_fini(&runs.begin);
    if (!ok)
        free(items);
    return ok ? items : NULL;
}

/* ---- playing ---- */

/* If there are many, memory of played ones is given back after each FORGET_ITEMS. AHEAD: prefetch distance.
 */
enum { FORGET_ITEMS = 1 << 18, AHEAD = 12 };

static void drop_block(struct pending *p, size_t block, bool many) {
    if (many)
        os_heap_forget(p->blocks.items[block], PENDING_BLOCK * sizeof **p->blocks.items);
    free(p->blocks.items[block]);
    p->blocks.items[block] = NULL;
}

bool pending_play(struct pending *p, bool (*play)(void *ctx, const struct model_event *e), void *ctx) {
    uint32_t *items = sort_events(p), *left = malloc((p->blocks.count + 1) * sizeof *left);
    bool ok = items && left, many = p->blocks.count > MANY_BLOCKS;
    for (size_t i = 0; ok && i < p->blocks.count; i++)
        left[i] = PENDING_BLOCK;
    for (size_t i = 0; ok && i < p->count; i++) {
        size_t block = items[i] >> PENDING_BLOCK_BITS;
        if (i + AHEAD < p->count)
            prefetch(pending_at(p, items[i + AHEAD]));
        ok = play(ctx, pending_at(p, items[i]));
        if (ok && --left[block] == 0)
            drop_block(p, block, many);
        if (many && (i + 1) % FORGET_ITEMS == 0)
            os_heap_forget(items + i + 1 - FORGET_ITEMS, FORGET_ITEMS * sizeof *items);
    }
    free(items);
    free(left);
    pending_fini(p);
    return ok;
}

size_t pending_memory_bytes(const struct pending *p) {
    return p->blocks.cap * sizeof *p->blocks.items +
           p->blocks.count * PENDING_BLOCK * sizeof **p->blocks.items;
}
