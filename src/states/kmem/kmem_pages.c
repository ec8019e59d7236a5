/* SPDX-License-Identifier: Apache-2.0 */
#include "states/kmem/kmem_pages.h"

#include <stdlib.h>

enum kmem_migrate kmem_migrate_of(int64_t number) {
    static const enum kmem_migrate TYPES[] = {KMEM_UNMOVABLE, KMEM_MOVABLE, KMEM_RECLAIMABLE, KMEM_RESERVED};
    return number >= 0 && number < 4 ? TYPES[number] : KMEM_CMA_ISOLATED;
}

/* A small number for a key; HASH_ABSENT: out of memory. */
static uint32_t number_of(struct hash_map *m, uint64_t key) {
    uint32_t id = hash_map_get(m, key);
    if (id != HASH_ABSENT)
        return id;
    id = (uint32_t)m->count;
    return hash_map_set(m, key, id) ? id : HASH_ABSENT;
}

static uint32_t gfp_number(struct kmem_pages *p, uint64_t gfp) {
    size_t before = p->gfp_ids.count;
    uint32_t id = number_of(&p->gfp_ids, gfp);
    if (id == HASH_ABSENT || p->gfp_ids.count == before)
        return id;
    uint64_t *to = vec_push(&p->gfps);
    if (!to)
        return HASH_ABSENT;
    *to = gfp;
    return id;
}

/* The row of (what, flags, order, type); HASH_ABSENT: out of memory. A bit of the key says whether `what` is
 * a site or a page, as both are 32-bit numbers. */
static uint32_t find_row(struct kmem_pages *p, bool of_page, uint32_t what, uint32_t gfp,
                         const struct kmem_page_event *e) {
    struct hash_map *index = of_page ? &p->page_rows : &p->site_rows;
    uint32_t pair = number_of(&p->pair_ids, (uint64_t)what << 32 | gfp << 1 | of_page);
    if (pair == HASH_ABSENT)
        return HASH_ABSENT;
    uint64_t key = (uint64_t)pair << 16 | e->order << 8 | (unsigned)e->type;
    uint32_t i = hash_map_get(index, key);
    if (i != HASH_ABSENT)
        return i;
    i = (uint32_t)(of_page ? p->pages.count : p->sites.count);
    struct kmem_page_row *r = of_page ? vec_push(&p->pages) : vec_push(&p->sites);
    if (!r || !hash_map_set(index, key, i))
        return HASH_ABSENT;
    *r = (struct kmem_page_row){
        .page = e->page, .gfp = e->gfp, .site = e->site, .order = e->order, .type = e->type};
    return i;
}

static void add(struct kmem_page_row *r, int64_t sign) {
    uint64_t pages = UINT64_C(1) << r->order;
    if (sign > 0) {
        r->hits++;
        r->pages += pages;
    }
    r->live_hits += (uint64_t)sign;
    r->live_pages += sign > 0 ? pages : -pages;
}

static void count(struct kmem_pages_count *c, uint32_t order) {
    c->requests++;
    c->pages += UINT64_C(1) << order;
}

static void end_life(struct kmem_pages *p, struct kmem_page_live *l) {
    l->live = false;
    add(&p->sites.items[l->by_site], -1);
    add(&p->pages.items[l->by_page], -1);
    p->live_orders[l->order][l->type]--;
}

bool kmem_pages_alloc(struct kmem_pages *p, const struct kmem_page_event *event) {
    struct kmem_page_event e = *event;
    if (e.order > KMEM_ORDER_MAX)
        e.order = KMEM_ORDER_MAX;
    count(&p->allocs, e.order);
    if (e.failed) {
        count(&p->failed, e.order);
        return true;
    }
    uint32_t gfp = gfp_number(p, e.gfp), page = number_of(&p->page_ids, e.page);
    if (gfp == HASH_ABSENT || page == HASH_ABSENT)
        return false;
    uint32_t by_site = find_row(p, false, e.site, gfp, &e), by_page = find_row(p, true, page, gfp, &e);
    if (by_site == HASH_ABSENT || by_page == HASH_ABSENT)
        return false;
    while (p->live.count <= page)
        if (!vec_push(&p->live))
            return false;
    struct kmem_page_live *l = &p->live.items[page];
    if (l->live) {
        p->missed++;
        end_life(p, l);
    }
    *l = (struct kmem_page_live){
        .live = true, .by_site = by_site, .by_page = by_page, .order = e.order, .type = e.type};
    add(&p->sites.items[by_site], 1);
    add(&p->pages.items[by_page], 1);
    p->orders[e.order][e.type]++;
    p->live_orders[e.order][e.type]++;
    return true;
}

void kmem_pages_free(struct kmem_pages *p, uint64_t page, uint32_t order) {
    if (order > KMEM_ORDER_MAX)
        order = KMEM_ORDER_MAX;
    uint32_t id = hash_map_get(&p->page_ids, page);
    struct kmem_page_live *l = id != HASH_ABSENT && id < p->live.count ? &p->live.items[id] : NULL;
    count(&p->frees, order);
    if (!l || !l->live) {
        count(&p->before, order);
        return;
    }
    count(&p->freed, l->order);
    end_life(p, l);
}

void kmem_pages_fini(struct kmem_pages *p) {
    vec_fini(&p->sites);
    vec_fini(&p->pages);
    vec_fini(&p->live);
    vec_fini(&p->gfps);
    hash_map_fini(&p->gfp_ids);
    hash_map_fini(&p->page_ids);
    hash_map_fini(&p->pair_ids);
    hash_map_fini(&p->site_rows);
    hash_map_fini(&p->page_rows);
}

static int down(uint64_t a, uint64_t b) {
    return a < b ? 1 : a > b ? -1 : 0;
}

static int compare_by(enum kmem_page_key key, bool live, const struct kmem_page_row *x,
                      const struct kmem_page_row *y) {
    switch (key) {
    case KMEM_PAGE_PAGE:
        return down(x->page, y->page);
    case KMEM_PAGE_SITE:
        return down(x->site, y->site);
    case KMEM_PAGE_BYTES:
        return live ? down(x->live_pages, y->live_pages) : down(x->pages, y->pages);
    case KMEM_PAGE_HIT:
        return live ? down(x->live_hits, y->live_hits) : down(x->hits, y->hits);
    case KMEM_PAGE_ORDER:
        return down(x->order, y->order);
    case KMEM_PAGE_TYPE:
        return down(x->type, y->type);
    default:
        return down(x->gfp, y->gfp);
    }
}

static int compare(const void *a, const void *b, void *ctx) {
    static const enum kmem_page_key THEN[] = {KMEM_PAGE_ORDER, KMEM_PAGE_TYPE, KMEM_PAGE_GFP, KMEM_PAGE_SITE,
                                              KMEM_PAGE_PAGE};
    const struct kmem_page_order *order = ctx;
    int d = 0;
    for (size_t i = 0; i < order->count && !d; i++)
        d = compare_by(order->keys[i], order->live, a, b);
    for (size_t i = 0; i < sizeof THEN / sizeof *THEN && !d; i++)
        d = -compare_by(THEN[i], order->live, a, b);
    return d;
}

void kmem_pages_sort(struct kmem_page_row *rows, size_t n, const struct kmem_page_order *order) {
    if (n)
        qsort_r(rows, n, sizeof *rows, compare, (void *)order);
}
