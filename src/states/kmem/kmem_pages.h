/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel's page allocator allocated and freed: sums by call site and by page. A free belongs to the
 * latest allocation of its page. Memory grows with distinct pages, sites and flags.
 */
#ifndef SONDE_STATES_KMEM_KMEM_PAGES_H
#define SONDE_STATES_KMEM_KMEM_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"

enum { KMEM_ORDER_MAX = 31, KMEM_TYPES = 5 };

/* Migrate types of pages, in the order of the text's columns. */
enum kmem_migrate {
    KMEM_UNMOVABLE,
    KMEM_RECLAIMABLE,
    KMEM_MOVABLE,
    KMEM_RESERVED,
    KMEM_CMA_ISOLATED,
};
/* The type for the kernel's number (include/linux/mmzone.h, enum migratetype, since Linux 4.4). */
enum kmem_migrate kmem_migrate_of(int64_t number);

struct kmem_page_event {
    uint64_t page; /* its number, or its address */
    uint64_t gfp;
    uint32_t order; /* 2^order pages */
    uint32_t site;  /* as the caller numbers them */
    enum kmem_migrate type;
    bool failed; /* the allocation failed */
};

struct kmem_page_row {
    uint64_t page, gfp;
    uint32_t site, order;
    enum kmem_migrate type;
    uint64_t hits, pages;           /* 2^order for each hit */
    uint64_t live_hits, live_pages; /* not seen to be freed */
};

struct kmem_page_live {
    bool live;
    uint32_t by_site, by_page, order; /* rows */
    enum kmem_migrate type;
};

struct kmem_pages_count {
    uint64_t requests, pages;
};

struct kmem_pages {
    VEC(struct kmem_page_row) sites, pages;
    VEC(struct kmem_page_live) live;
    VEC(uint64_t) gfps;                          /* the different flags */
    struct hash_map gfp_ids, page_ids, pair_ids; /* numbers for parts of keys */
    struct hash_map site_rows, page_rows;
    struct kmem_pages_count allocs, frees, freed, before, failed; /* freed: allocations seen to be freed */
    uint64_t missed; /* allocations of pages whose previous free was not seen */
    uint64_t orders[KMEM_ORDER_MAX + 1][KMEM_TYPES], live_orders[KMEM_ORDER_MAX + 1][KMEM_TYPES];
};

/* False: out of memory. No kernel has orders beyond KMEM_ORDER_MAX; such an order counts as KMEM_ORDER_MAX.
 */
bool kmem_pages_alloc(struct kmem_pages *p, const struct kmem_page_event *e);
void kmem_pages_free(struct kmem_pages *p, uint64_t page, uint32_t order);
void kmem_pages_fini(struct kmem_pages *p);

enum kmem_page_key {
    KMEM_PAGE_PAGE,
    KMEM_PAGE_SITE,
    KMEM_PAGE_BYTES,
    KMEM_PAGE_HIT,
    KMEM_PAGE_ORDER,
    KMEM_PAGE_TYPE,
    KMEM_PAGE_GFP,
};
struct kmem_page_order {
    enum kmem_page_key keys[8];
    size_t count;
    bool live; /* sort by the live pages */
};
/* Sorts downwards, then in a total order. */
void kmem_pages_sort(struct kmem_page_row *rows, size_t count, const struct kmem_page_order *order);

#endif
