/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/collect/segments.h"

#include "base/hash.h"
#include "base/radix.h"
#include "base/threads/prefetch.h"

/* Takes two ids a step: most segments have no more. */
static inline uint64_t hash_ids(const uint32_t *ids, size_t n) {
    uint64_t h = n << 32;
    for (; n > 1; n -= 2, ids += 2)
        h = hash_fold(h ^ ((uint64_t)ids[1] << 32 | ids[0]), HASH_ODD);
    return n ? hash_fold(h ^ ids[0], HASH_ODD) : h;
}

static bool start(struct profile_segments *p) {
    if (p->at.count)
        return true;
    return vec_push(&p->at) && vec_push(&p->at); /* the empty segment */
}

static bool is_segment(const struct profile_segments *p, uint32_t id, const uint32_t *ids, size_t n) {
    uint32_t have;
    const uint32_t *known = profile_segments_ids(p, id, &have);
    if (have != n)
        return false;
    for (size_t i = 0; i < n; i++) /* mostly one or two */
        if (known[i] != ids[i])
            return false;
    return true;
}

static uint32_t add_hashed(struct profile_segments *p, const uint32_t *ids, size_t n, uint64_t hash) {
    struct idtable_at at = idtable_first(&p->index, hash);
    for (uint32_t id; (id = idtable_next(&p->index, &at)) != IDTABLE_NONE;)
        if (is_segment(p, id, ids, n))
            return id;
    if (!start(p))
        return PROFILE_NO_SEGMENT;
    uint32_t id = profile_segments_count(p);
    size_t end = p->ids.count + n;
    if (end > UINT32_MAX || id + 1 >= PROFILE_NO_SEGMENT || !vec_reserve(&p->ids, end) ||
        !vec_reserve(&p->at, p->at.count + 1) || !idtable_add_at(&p->index, &at, hash, id))
        return PROFILE_NO_SEGMENT;
    for (size_t i = 0; i < n; i++)
        p->ids.items[p->ids.count + i] = ids[i];
    p->ids.count = end;
    p->at.items[p->at.count++] = (uint32_t)end;
    return id;
}

uint32_t profile_segments_add(struct profile_segments *p, const uint32_t *ids, size_t n) {
    if (n)
        return add_hashed(p, ids, n, hash_ids(ids, n));
    return start(p) ? PROFILE_EMPTY_SEGMENT : PROFILE_NO_SEGMENT;
}

void profile_segments_trim(struct profile_segments *p) {
    idtable_fini(&p->index);
}

void profile_segments_fini(struct profile_segments *p) {
    profile_segments_trim(p);
    vec_fini(&p->ids);
    vec_fini(&p->at);
}

/* ---- order ---- */

/* Returns the two ids from `depth` on as one number, each plus one: 0 is the end, which comes first. */
static uint64_t key_at(const struct profile_segments *p, uint32_t segment, uint32_t depth) {
    uint32_t n;
    const uint32_t *ids = profile_segments_ids(p, segment, &n);
    uint64_t key = depth < n ? (uint64_t)(ids[depth] + 1) << 32 : 0;
    return depth + 1 < n ? key | (ids[depth + 1] + 1) : key;
}

enum { AHEAD = 12 };

/* Segments that are equal up to `depth`: items[from .. end). */
struct run {
    uint32_t from, end, depth;
};

bool profile_segments_rank(const struct profile_segments *p, uint32_t *ranks) {
    uint32_t count = profile_segments_count(p);
    struct radix_item *items = malloc(((size_t)count + 1) * sizeof *items),
                      *room = malloc(((size_t)count + 1) * sizeof *room);
    VEC(struct run) runs = {0};
    struct run *run = vec_push(&runs);
    bool ok = items && room && run;
    for (uint32_t i = 0; ok && i < count; i++)
        items[i].value = i;
    if (ok)
        *run = (struct run){0, count, 0};
    while (ok && runs.count) {
        struct run r = runs.items[--runs.count];
        for (uint32_t i = r.from; i < r.end; i++) {
            if (i + AHEAD < r.end)
                prefetch(p->ids.items + p->at.items[items[i + AHEAD].value] + r.depth);
            items[i].key = key_at(p, items[i].value, r.depth);
        }
        radix_sort(items + r.from, room, r.end - r.from);
        for (uint32_t from = r.from, i = from + 1; ok && i <= r.end; i++) {
            if (i < r.end && items[i].key == items[from].key)
                continue;
            if (i - from > 1) { /* no two sequences are equal: these continue */
                run = vec_push(&runs);
                ok = run != NULL;
                if (ok)
                    *run = (struct run){from, i, r.depth + 2};
            }
            from = i;
        }
    }
    ranks[PROFILE_EMPTY_SEGMENT] = 0;
    for (uint32_t i = 0; ok && i < count; i++)
        ranks[items[i].value] = i;
    vec_fini(&runs);
    free(items);
    free(room);
    return ok;
}
