/* SPDX-License-Identifier: Apache-2.0 */
#include "states/kmem/kmem_slab.h"

#include <stdlib.h>

enum { ZERO_SIZE = 16 /* what kmalloc(0) returns (linux/slab.h, ZERO_SIZE_PTR) */ };

/* The index of a key's row, made if need be; HASH_ABSENT: out of memory. */
static uint32_t find_row(struct kmem_slab_rows *rows, struct hash_map *index, uint64_t key) {
    uint32_t i = hash_map_get(index, key);
    if (i != HASH_ABSENT)
        return i;
    i = (uint32_t)rows->count;
    struct kmem_slab_row *r = vec_push(rows);
    if (!r || !hash_map_set(index, key, i))
        return HASH_ABSENT;
    r->key = key;
    return i;
}

static void add(struct kmem_slab_row *r, const struct kmem_slab_alloc *a) {
    r->hits++;
    r->requested += a->requested;
    r->allocated += a->allocated;
}

bool kmem_slab_alloc(struct kmem_slab *s, const struct kmem_slab_alloc *a) {
    if (a->address <= ZERO_SIZE)
        return true; /* it failed, or nothing was asked for */
    uint32_t site = find_row(&s->sites, &s->by_site, a->site);
    uint32_t address = find_row(&s->addresses, &s->by_address, a->address);
    if (site == HASH_ABSENT || address == HASH_ABSENT)
        return false;
    while (s->live.count <= address)
        if (!vec_push(&s->live))
            return false;
    struct kmem_slab_live *l = &s->live.items[address];
    s->missed += l->live;
    *l = (struct kmem_slab_live){.live = true, .site = site, .cpu = a->cpu, .bytes = a->allocated};
    add(&s->sites.items[site], a);
    add(&s->addresses.items[address], a);
    s->allocs++;
    s->requested += a->requested;
    s->allocated += a->allocated;
    s->cross_node += a->other_node;
    return true;
}

void kmem_slab_free(struct kmem_slab *s, uint64_t address, uint32_t cpu) {
    if (address <= ZERO_SIZE)
        return;
    uint32_t i = hash_map_get(&s->by_address, address);
    struct kmem_slab_live *l = i != HASH_ABSENT && i < s->live.count ? &s->live.items[i] : NULL;
    s->frees++;
    if (!l || !l->live) {
        s->before++;
        return;
    }
    l->live = false;
    s->freed += l->bytes;
    if (l->cpu == cpu)
        return;
    s->addresses.items[i].pingpong++;
    s->sites.items[l->site].pingpong++;
}

void kmem_slab_fini(struct kmem_slab *s) {
    vec_fini(&s->sites);
    vec_fini(&s->addresses);
    vec_fini(&s->live);
    hash_map_fini(&s->by_site);
    hash_map_fini(&s->by_address);
}

double kmem_slab_fragmentation(uint64_t requested, uint64_t allocated) {
    return allocated ? 100.0 - 100.0 * (double)requested / (double)allocated : 0.0;
}

static int down(double a, double b) {
    return a < b ? 1 : a > b ? -1 : 0;
}

static int down_u64(uint64_t a, uint64_t b) {
    return a < b ? 1 : a > b ? -1 : 0;
}

static int compare_by(enum kmem_slab_key key, const struct kmem_slab_row *x, const struct kmem_slab_row *y) {
    switch (key) {
    case KMEM_SLAB_KEY:
        return down_u64(x->key, y->key);
    case KMEM_SLAB_BYTES:
        return down_u64(x->allocated, y->allocated);
    case KMEM_SLAB_HIT:
        return down_u64(x->hits, y->hits);
    case KMEM_SLAB_PINGPONG:
        return down_u64(x->pingpong, y->pingpong);
    default:
        return down(kmem_slab_fragmentation(x->requested, x->allocated),
                    kmem_slab_fragmentation(y->requested, y->allocated));
    }
}

static int compare(const void *a, const void *b, void *ctx) {
    const struct kmem_slab_order *order = ctx;
    const struct kmem_slab_row *x = a, *y = b;
    int d = 0;
    for (size_t i = 0; i < order->count && !d; i++)
        d = compare_by(order->keys[i], x, y);
    return d ? d : down_u64(y->key, x->key);
}

void kmem_slab_sort(struct kmem_slab_row *rows, size_t count, const struct kmem_slab_order *order) {
    if (count)
        qsort_r(rows, count, sizeof *rows, compare, (void *)order);
}
