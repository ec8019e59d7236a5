/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "states/call_sites.h"
#include "states/kmem/kmem_pages.h"
#include "states/kmem/kmem_slab.h"
#include "tests/support/fail_alloc.h"

enum { P = 0x1000, Q = 0x2000, S1 = 0x81000010, S2 = 0x81000020 };

static void give(struct kmem_slab *s, uint64_t address, uint64_t site, uint64_t requested, uint64_t allocated,
                 uint32_t cpu) {
    const struct kmem_slab_alloc a = {
        .address = address, .site = site, .requested = requested, .allocated = allocated, .cpu = cpu};
    assert_true(kmem_slab_alloc(s, &a));
}

static void test_slab(void **state) {
    struct kmem_slab s = {0};
    (void)state;
    kmem_slab_free(&s, P, 0); /* was allocated before */
    give(&s, P, S1, 11, 16, 0);
    give(&s, Q, S2, 64, 64, 0);
    kmem_slab_free(&s, P, 1); /* on another CPU */
    kmem_slab_free(&s, P, 1); /* again, without an allocation between */
    give(&s, P, S2, 64, 64, 1);
    give(&s, P, S2, 64, 64, 1); /* its free was not seen */
    kmem_slab_free(&s, 0, 0);   /* kfree(NULL) */
    give(&s, 16, S1, 0, 0, 0);  /* kmalloc(0) */
    assert_int_equal(s.allocs, 4);
    assert_int_equal(s.requested, 203);
    assert_int_equal(s.allocated, 208);
    assert_int_equal(s.freed, 16);
    assert_int_equal(s.frees, 3);
    assert_int_equal(s.before, 2);
    assert_int_equal(s.missed, 1);
    struct kmem_slab_order order = {{KMEM_SLAB_FRAG, KMEM_SLAB_HIT}, 2};
    kmem_slab_sort(s.sites.items, s.sites.count, &order);
    assert_int_equal(s.sites.count, 2);
    assert_int_equal(s.sites.items[0].key, S1);
    assert_int_equal(s.sites.items[0].pingpong, 1);
    assert_int_equal(s.sites.items[1].hits, 3);
    order = (struct kmem_slab_order){{KMEM_SLAB_HIT}, 1};
    kmem_slab_sort(s.addresses.items, s.addresses.count, &order);
    assert_int_equal(s.addresses.items[0].key, P);
    assert_int_equal(s.addresses.items[0].allocated, 144);
    kmem_slab_fini(&s);
}

static void page(struct kmem_pages *p, uint64_t number, uint32_t order, uint32_t site, uint64_t gfp,
                 enum kmem_migrate type) {
    const struct kmem_page_event e = {.page = number, .order = order, .site = site, .gfp = gfp, .type = type};
    assert_true(kmem_pages_alloc(p, &e));
}

static void test_pages(void **state) {
    struct kmem_pages p = {0};
    (void)state;
    kmem_pages_free(&p, 7, 2);
    page(&p, 7, 2, 0, 0xcc0, KMEM_UNMOVABLE);
    page(&p, 9, 0, 1, 0xcc0, KMEM_MOVABLE);
    page(&p, 10, 0, 1, 0xcc0, KMEM_MOVABLE);
    page(&p, 10, 0, 1, 0xdc0, KMEM_MOVABLE); /* its free was not seen */
    kmem_pages_free(&p, 9, 0);
    const struct kmem_page_event none = {.page = UINT64_MAX, .order = 3, .failed = true};
    assert_true(kmem_pages_alloc(&p, &none));
    page(&p, 11, 99, 1, 1, KMEM_CMA_ISOLATED);
    assert_int_equal(p.allocs.requests, 6);
    assert_int_equal(p.failed.pages, 8);
    assert_int_equal(p.before.pages, 4);
    assert_int_equal(p.freed.requests, 1);
    assert_int_equal(p.missed, 1);
    assert_int_equal(p.orders[0][KMEM_MOVABLE], 3);
    assert_int_equal(p.live_orders[0][KMEM_MOVABLE], 1);
    assert_int_equal(p.orders[KMEM_ORDER_MAX][KMEM_CMA_ISOLATED], 1);
    struct kmem_page_order order = {.keys = {KMEM_PAGE_HIT, KMEM_PAGE_BYTES}, .count = 2};
    kmem_pages_sort(p.sites.items, p.sites.count, &order);
    assert_int_equal(p.sites.count, 4);
    assert_int_equal(p.sites.items[0].hits, 2);
    assert_int_equal(p.sites.items[0].live_hits, 0);
    assert_int_equal(p.gfps.count, 3);
    kmem_pages_fini(&p);
}

/* A page that is free cannot be freed again, nor is a free missing when it is given out once more. */
static void test_freed_twice(void **state) {
    struct kmem_pages p = {0};
    (void)state;
    page(&p, 9, 1, 1, 0xcc0, KMEM_MOVABLE);
    kmem_pages_free(&p, 9, 1);
    kmem_pages_free(&p, 9, 1);
    assert_int_equal(p.freed.requests, 1);
    assert_int_equal(p.before.requests, 1);
    assert_int_equal(p.sites.items[0].live_hits, 0);
    page(&p, 9, 1, 1, 0xcc0, KMEM_MOVABLE);
    assert_int_equal(p.missed, 0);
    assert_int_equal(p.sites.items[0].live_hits, 1);
    assert_int_equal(p.sites.items[0].live_pages, 2);
    kmem_pages_fini(&p);
}

static void test_names(void **state) {
    static const char *const OWN[] = {"__alloc_pages",         "__alloc_frozen_pages_noprof",
                                      "alloc_pages_mpol",      "vma_alloc_folio_noprof",
                                      "__folio_alloc_noprof",  "get_zeroed_page",
                                      "get_page_from_freelist"};
    static const char *const OTHERS[] = {"do_anonymous_page", "pte_alloc_one", "allocate_slab",
                                         "filemap_add_folio"};
    (void)state;
    for (size_t i = 0; i < sizeof OWN / sizeof *OWN; i++)
        assert_true(call_site_is_page_allocator(OWN[i]));
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++)
        assert_false(call_site_is_page_allocator(OTHERS[i]));
    assert_int_equal(kmem_migrate_of(1), KMEM_MOVABLE);
    assert_int_equal(kmem_migrate_of(2), KMEM_RECLAIMABLE);
    assert_int_equal(kmem_migrate_of(-5), KMEM_CMA_ISOLATED);
}

/* Sums by site, by address and over all are the same, whatever comes. */
static void test_random(void **state) {
    (void)state;
    srand(26);
    for (int round = 0; round < 100; round++) {
        struct kmem_slab s = {0};
        struct kmem_pages p = {0};
        for (int i = 0; i < 300; i++) {
            uint64_t where = (uint64_t)(rand() % 9) * 16;
            if (rand() % 2)
                give(&s, where, (uint64_t)(rand() % 4), (uint64_t)(rand() % 50), 50, (uint32_t)(rand() % 2));
            else
                kmem_slab_free(&s, where, (uint32_t)(rand() % 2));
            if (rand() % 2)
                page(&p, where, (uint32_t)(rand() % 4), (uint32_t)(rand() % 3), (uint64_t)(rand() % 3),
                     (enum kmem_migrate)(rand() % KMEM_TYPES));
            else
                kmem_pages_free(&p, where, (uint32_t)(rand() % 4));
        }
        uint64_t hits[2] = {0}, bytes[2] = {0}, pages[4] = {0};
        for (size_t i = 0; i < s.sites.count; i++)
            hits[0] += s.sites.items[i].hits, bytes[0] += s.sites.items[i].requested;
        for (size_t i = 0; i < s.addresses.count; i++)
            hits[1] += s.addresses.items[i].hits, bytes[1] += s.addresses.items[i].requested;
        assert_true(hits[0] == s.allocs && hits[1] == s.allocs);
        assert_true(bytes[0] == s.requested && bytes[1] == s.requested && s.freed <= s.allocated);
        for (size_t i = 0; i < p.sites.count; i++)
            pages[0] += p.sites.items[i].pages, pages[1] += p.sites.items[i].live_pages;
        for (size_t i = 0; i < p.pages.count; i++)
            pages[2] += p.pages.items[i].pages, pages[3] += p.pages.items[i].live_pages;
        assert_true(pages[0] == p.allocs.pages && pages[2] == pages[0] && pages[1] == pages[3]);
        assert_true(p.frees.requests == p.freed.requests + p.before.requests);
        kmem_slab_fini(&s);
        kmem_pages_fini(&p);
    }
}

static void one_of_each(void) {
    struct kmem_slab s = {0};
    struct kmem_pages p = {0};
    const struct kmem_slab_alloc a = {.address = P, .site = S1, .requested = 1, .allocated = 8};
    const struct kmem_page_event e = {.page = 3, .gfp = 4};
    if (kmem_slab_alloc(&s, &a))
        kmem_slab_free(&s, P, 1);
    if (kmem_pages_alloc(&p, &e))
        kmem_pages_free(&p, 3, 0);
    kmem_slab_fini(&s);
    kmem_pages_fini(&p);
}

static void test_memory(void **state) {
    (void)state;
    FAIL_EACH_ALLOC(one_of_each());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slab),   cmocka_unit_test(test_pages),  cmocka_unit_test(test_names),
        cmocka_unit_test(test_random), cmocka_unit_test(test_memory), cmocka_unit_test(test_freed_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
