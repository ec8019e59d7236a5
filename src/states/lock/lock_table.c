/* SPDX-License-Identifier: Apache-2.0 */
#include "states/lock/lock_table.h"

#include <stdlib.h>

static uint64_t key_of(const struct lock_table *t, const struct lock_row *w) {
    switch (t->by) {
    case LOCK_BY_SITE:
        return (uint64_t)w->site << 32 | w->type;
    case LOCK_BY_THREAD:
        return w->tid;
    case LOCK_BY_ADDRESS:
        return w->address;
    case LOCK_BY_GROUP:
        return w->group;
    default:
        return w->name;
    }
}

/* The row of the same key, made as a copy without figures if need be. NULL: out of memory. */
static struct lock_row *find_row(struct lock_table *t, const struct lock_row *like) {
    uint64_t key = key_of(t, like);
    uint32_t i = hash_map_get(&t->index, key);
    if (i != HASH_ABSENT)
        return &t->rows.items[i];
    i = (uint32_t)t->rows.count;
    struct lock_row *fresh = vec_push(&t->rows);
    if (!fresh || !hash_map_set(&t->index, key, i))
        return NULL;
    *fresh = (struct lock_row){.address = like->address,
                               .group = like->group,
                               .tid = like->tid,
                               .pid = like->pid,
                               .site = like->site,
                               .name = like->name,
                               .type = like->type};
    return fresh;
}

bool lock_table_merge(struct lock_table *t, const struct lock_row *more) {
    struct lock_row *r = find_row(t, more);
    if (!r)
        return false;
    r->acquired += more->acquired;
    if (!more->contended)
        return true;
    r->total_ns = r->total_ns > UINT64_MAX - more->total_ns ? UINT64_MAX : r->total_ns + more->total_ns;
    if (more->max_ns > r->max_ns)
        r->max_ns = more->max_ns;
    if (!r->contended || more->min_ns < r->min_ns)
        r->min_ns = more->min_ns;
    r->contended += more->contended;
    return true;
}

bool lock_table_add(void *ctx, const struct lock_wait *w) {
    struct lock_table *t = ctx;
    uint64_t ns = w->until_ns - w->since_ns;
    /* If only contention is recorded, each wait ends with an acquisition, and acquisitions without a wait are
     * not recorded. */
    const struct lock_row one = {.address = w->address,
                                 .group = w->group,
                                 .tid = w->tid,
                                 .pid = w->pid,
                                 .site = w->site,
                                 .name = w->name,
                                 .type = w->type,
                                 .acquired = 1,
                                 .contended = w->contended,
                                 .total_ns = w->contended ? ns : 0,
                                 .max_ns = w->contended ? ns : 0,
                                 .min_ns = w->contended ? ns : 0};
    return (t->waits_only && !w->contended) || lock_table_merge(t, &one);
}

uint64_t lock_row_value(const struct lock_row *r, enum lock_field f) {
    switch (f) {
    case LOCK_ACQUIRED:
        return r->acquired;
    case LOCK_CONTENDED:
        return r->contended;
    case LOCK_TOTAL:
        return r->total_ns;
    case LOCK_MAX:
        return r->max_ns;
    case LOCK_MIN:
        return r->min_ns;
    default:
        return r->contended ? r->total_ns / r->contended : 0;
    }
}

static int down(uint64_t a, uint64_t b) {
    return a < b ? 1 : a > b ? -1 : 0;
}

static int compare(const void *a, const void *b, void *ctx) {
    static const enum lock_field THEN[] = {LOCK_TOTAL, LOCK_CONTENDED, LOCK_ACQUIRED, LOCK_MAX, LOCK_MIN};
    const struct lock_row *x = a, *y = b;
    enum lock_field f = *(const enum lock_field *)ctx;
    int d = down(lock_row_value(x, f), lock_row_value(y, f));
    for (size_t i = 0; !d && i < sizeof THEN / sizeof *THEN; i++)
        d = down(lock_row_value(x, THEN[i]), lock_row_value(y, THEN[i]));
    if (!d)
        d = down(y->address, x->address);
    if (!d)
        d = down(y->tid, x->tid);
    if (!d)
        d = down(y->site, x->site);
    if (!d)
        d = down(y->group, x->group);
    return d ? d : down(y->type, x->type);
}

void lock_table_sort(struct lock_table *t, enum lock_field f) {
    if (t->rows.count)
        qsort_r(t->rows.items, t->rows.count, sizeof *t->rows.items, compare, &f);
}

void lock_table_fini(struct lock_table *t) {
    vec_fini(&t->rows);
    hash_map_fini(&t->index);
}
